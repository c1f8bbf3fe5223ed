/* xlm-mpi: fuzz target: the vocabulary in corpora and checkpoints, whose languages have tokens, and one of them a segmenter of its
 * own, changed by hdf5_change.h. SPDX-License-Identifier: GPL-3.0-or-later */
#include "vocabulary_target.h"

static fuzz_original *make_original(void)
{
    static const char words[] = "low 9\nlo@@ 5\nw 5\nhouse 3\n. 2\n__en__ 1\n__xx__ 1\n";
    static const char codes[] = "l o 9\nlo w</w> 7\n", other[] = "h o 9\n";
    static const char *const languages[] = {"en", "xx"};
    xlm_word_counts *counts = xlm_word_counts_parse("words", words, strlen(words), NULL);
    xlm_segmenter *segmenter = xlm_segmenter_parse(&xlm_segmenter_bpe, "codes", codes, strlen(codes), NULL);
    xlm_segmenter *second = xlm_segmenter_parse(&xlm_segmenter_bpe, "codes", other, strlen(other), NULL);
    const xlm_vocabulary_settings settings = {.words = XLM_WORDS_SPACE, .languages = 2, .language_names = languages,
                                              .second = second, .second_language = 1, .language_form = "__*__"};
    xlm_vocabulary *vocabulary = xlm_vocabulary_new(counts, segmenter, &settings, NULL);
    xlm_word_counts_free(counts);
    xlm_segmenter_unref(second);
    return write_original(vocabulary);
}
