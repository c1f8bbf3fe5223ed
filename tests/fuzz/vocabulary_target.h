/* xlm-mpi: fuzz targets: vocabularies in files, changed by hdf5_change.h, then a line. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TESTS_FUZZ_VOCABULARY_TARGET_H
#define XLM_TESTS_FUZZ_VOCABULARY_TARGET_H

#include <string.h>

#include "hdf5_change.h"
#include "subwords/bpe_class.h"
#include "subwords/tokenizer.h"

static const char line[] = "low lower house . Haus";

/* The file before it is changed, of a target that includes this. */
static fuzz_original *make_original(void);

/* The file of a vocabulary, which is taken. */
static inline fuzz_original *write_original(xlm_vocabulary *vocabulary)
{
    const char *path = fuzz_write("vocabulary.h5", "", 0);
    xlm_store *store = xlm_store_create(NULL, path, NULL);
    fuzz_require(vocabulary != NULL && store != NULL && xlm_vocabulary_save(vocabulary, store, "/vocabulary", 0, NULL) &&
                 xlm_store_commit(store, NULL), "a vocabulary can be written");
    xlm_vocabulary_free(vocabulary);
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

#endif
