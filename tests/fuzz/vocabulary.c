/* xlm-mpi: fuzz target: the vocabulary in corpora and checkpoints, with synthetic languages, changed by hdf5_change.h.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "vocabulary_target.h"

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
    xlm_word_counts_free(counts);
    return write_original(vocabulary);
}
