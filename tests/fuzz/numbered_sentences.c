/* xlm-mpi: fuzz target: sentences with ids and pairs of ids, as BUCC has them. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Source sentences; after a byte 0, target sentences; after another, the pairs. */
#include <string.h>

#include "fuzz.h"

#include "subwords/bpe_class.h"
#include "vectors/numbered_sentences.h"

static xlm_tokenizer *make_tokenizer(void)
{
    static const char words[] = "low 9\nlo@@ 5\nw 5\nhouse 3\n. 2\n", codes[] = "l o 9\nlo w</w> 7\n";
    static const char *const languages[] = {"en", "de"};
    const xlm_vocabulary_settings settings = {.words = XLM_WORDS_ICU, .languages = 2, .language_names = languages};
    xlm_word_counts *counts = xlm_word_counts_parse("words", words, strlen(words), NULL);
    xlm_segmenter *segmenter = xlm_segmenter_parse(&xlm_segmenter_bpe, "codes", codes, strlen(codes), NULL);
    xlm_tokenizer *tokenizer = xlm_tokenizer_new(xlm_vocabulary_new(counts, segmenter, &settings, NULL), NULL);
    fuzz_require(tokenizer != NULL, "there is a tokenizer");
    xlm_word_counts_free(counts);
    return tokenizer;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    static xlm_tokenizer *tokenizer;
    static const char *const names[] = {"source", "target"};
    if (tokenizer == NULL)
        tokenizer = make_tokenizer();
    xlm_numbered_sentences *sides[2] = {NULL, NULL};
    for (int side = 0; side < 2; side++) {
        GError *error = NULL;
        size_t length;
        const char *text = fuzz_cut(&data, &size, &length);
        sides[side] = xlm_numbered_sentences_read(fuzz_write(names[side], text, length), tokenizer, side, &error);
        fuzz_check(sides[side] != NULL, error);
    }
    if (sides[0] != NULL && sides[1] != NULL) {
        GError *error = NULL;
        GHashTable *pairs = xlm_numbered_pairs_read(fuzz_write("pairs", data, size), sides, &error);
        fuzz_check(pairs != NULL, error);
        const int64_t sources = xlm_numbered_sentences_count(sides[0]), targets = xlm_numbered_sentences_count(sides[1]);
        int64_t found = 0;
        for (int64_t i = 0; pairs != NULL && i < sources * targets; i++)
            found += xlm_numbered_pairs_have(pairs, i / targets, i % targets, targets);
        fuzz_require(pairs == NULL || found == (int64_t)g_hash_table_size(pairs), "pairs are of the sentences");
        if (pairs != NULL)
            g_hash_table_unref(pairs);
    }
    for (int side = 0; side < 2; side++) {
        guint64 ends = 0;
        for (guint i = 0; sides[side] != NULL && i < sides[side]->ends->len; i++) {
            const int64_t end = g_array_index(sides[side]->ends, int64_t, i);
            fuzz_require((guint64)end >= ends && end <= sides[side]->subwords->len, "subwords are of the sentences");
            ends = (guint64)end;
        }
        xlm_numbered_sentences_free(sides[side]);
    }
    return 0;
}
