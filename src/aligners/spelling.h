/* xlm-mpi: how alike words are spelled. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names, numbers, punctuation marks and words of common origin look alike in both languages. */
#ifndef XLM_ALIGNERS_SPELLING_H
#define XLM_ALIGNERS_SPELLING_H

#include <glib.h>

/* A word by characters, made of UTF-8. */
typedef struct xlm_spelling {
    gunichar *characters; /* g_free */
    int length;
} xlm_spelling;

xlm_spelling xlm_spelling_of(const char *word);

/* 1 for words that are equal; for others 1 - edit distance / length of the longer (Levenshtein 1966), and 0 where one is shorter
 * than 4 characters, which many unrelated words resemble, longer than 64, or that would be below 0.5. */
double xlm_spelling_similarity(const xlm_spelling *a, const xlm_spelling *b);

#endif
