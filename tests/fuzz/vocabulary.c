/* xlm-mpi: fuzz target: the vocabulary in corpora and checkpoints, with synthetic languages, changed by hdf5_change.h.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "hdf5_change.h"
#include "subwords/bpe_class.h"
#include "subwords/tokenizer.h"

static const char line[] = "low lower house . Haus";

static fuzz_original *make_original(void)
{
    static const char words[] = "low 9\nlo@@ 5\nw 5\nhouse 3\n. 2\n", codes[] = "l o 9\nlo w</w> 7\n";
    static const char *const languages[] = {"en", "xx", "yy"};
    static const int32_t originals[] = {XLM_SPECIALS, XLM_SPECIALS + 1, XLM_SPECIALS + 3};
    static const xlm_vocabulary_made made[] = {
        {.language = 1, .base = 0, .steps = "invert,transliterate", .shared = 0.25, .seed = 3, .weights = "",
         .twins = G_N_ELEMENTS(originals), .originals = originals},
        {.language = 2, .base = 0, .steps = "syntax=n+v", .weights = "n: 0; v: 1"}};
    const xlm_vocabulary_settings settings = {.words = XLM_WORDS_ICU, .lowercase = true, .languages = 3,
                                              .language_names = languages, .made_languages = G_N_ELEMENTS(made), .made = made};
    xlm_word_counts *counts = xlm_word_counts_parse("words", words, strlen(words), NULL);
    xlm_segmenter *segmenter = xlm_segmenter_parse(&xlm_segmenter_bpe, "codes", codes, strlen(codes), NULL);
    xlm_vocabulary *vocabulary = xlm_vocabulary_new(counts, segmenter, &settings, NULL);
    const char *path = fuzz_write("vocabulary.h5", "", 0);
    xlm_store *store = xlm_store_create(NULL, path, NULL);
    fuzz_require(vocabulary != NULL && store != NULL && xlm_vocabulary_save(vocabulary, store, "/vocabulary", 0, NULL) &&
                 xlm_store_commit(store, NULL), "a vocabulary can be written");
    xlm_vocabulary_free(vocabulary);
    xlm_word_counts_free(counts);
    return fuzz_original_read(path);
}

static void encode(const xlm_vocabulary *vocabulary)
{
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    GString *text = g_string_new(NULL);
    xlm_tokenizer *tokenizer = xlm_tokenizer_new(vocabulary, NULL);
    for (int language = -1; language < MIN(xlm_vocabulary_languages(vocabulary), 8); language++)
        fuzz_require(xlm_tokenizer_encode(tokenizer, language, line, strlen(line), ids, NULL, NULL), "a line can be encoded");
    for (guint i = 0; i < ids->len; i++)
        fuzz_require(g_array_index(ids, int32_t, i) >= 0 && g_array_index(ids, int32_t, i) < xlm_vocabulary_size(vocabulary),
                     "ids are in the vocabulary");
    xlm_vocabulary_decode(vocabulary, (const int32_t *)(const void *)ids->data, ids->len, text);
    xlm_tokenizer_free(tokenizer);
    g_string_free(text, TRUE);
    g_array_unref(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    static fuzz_original *original;
    if (original == NULL)
        original = make_original();
    GError *error = NULL;
    xlm_store *store = xlm_store_open(fuzz_original_change(original, data, size), &error);
    fuzz_check(store != NULL, error);
    if (store == NULL)
        return 0;
    error = NULL;
    xlm_vocabulary *vocabulary = xlm_vocabulary_load(store, "/vocabulary", &error);
    fuzz_check(vocabulary != NULL, error);
    if (vocabulary != NULL)
        encode(vocabulary);
    xlm_vocabulary_free(vocabulary);
    xlm_store_close(store);
    return 0;
}
