/* xlm-mpi: a vocabulary of few subwords, for tests of examples. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TESTS_VOCABULARY_FIXTURE_H
#define XLM_TESTS_VOCABULARY_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "subwords/bpe_class.h"
#include "subwords/vocabulary.h"

/* A lowercased vocabulary of the languages en and de: the special subwords 0 to 4, then the n given ones in their order, and BPE
 * codes (text of a file). xlm_vocabulary_free. */
static inline xlm_vocabulary *vocabulary_of(xlm_word_mode rule, int n, const char *const *subwords, const char *codes)
{
    static const char *const names[] = {"en", "de"};
    const xlm_vocabulary_settings settings = {.words = rule, .lowercase = true, .languages = 2, .language_names = names};
    xlm_word_counts *words = xlm_word_counts_new();
    for (int i = 0; i < n; i++)
        xlm_word_counts_add(words, subwords[i], strlen(subwords[i]), 2 * n - i); /* the more frequent, the lower the id */
    xlm_segmenter *segmenter = xlm_segmenter_parse(&xlm_segmenter_bpe, "codes", codes, strlen(codes), NULL);
    xlm_vocabulary *v = xlm_vocabulary_new(words, segmenter, &settings, NULL);
    assert_non_null(v);
    xlm_word_counts_free(words);
    return v;
}

/* "a", "b@@", "b", "c": ids 5 to 8, of words between spaces. */
static inline xlm_vocabulary *vocabulary_of_letters(void)
{
    static const char *const subwords[] = {"a", "b@@", "b", "c"};
    return vocabulary_of(XLM_WORDS_SPACE, 4, subwords, "x y 1\n");
}

#endif
