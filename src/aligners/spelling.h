/* xlm-mpi: how similar the spelling of words is. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names, numbers, punctuation marks and words of common origin look alike in both languages. */
#ifndef XLM_ALIGNERS_SPELLING_H
#define XLM_ALIGNERS_SPELLING_H

#include <glib.h>

/* The characters of a word. */
typedef struct xlm_spelling {
    gunichar *characters; /* g_free */
    int length;
} xlm_spelling;

xlm_spelling xlm_spelling_of(const char *word);

/* 1 for equal words; for others 1 - edit distance / length of the longer (Levenshtein 1966), but 0 if this is below 0.5 or a word
 * has fewer than 4 characters, because many unrelated words resemble such a word, or more than 64. */
double xlm_spelling_similarity(const xlm_spelling *a, const xlm_spelling *b);

#endif
