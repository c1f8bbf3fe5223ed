/* xlm-mpi: the valid word that a mistyped one was probably meant to be. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OPTIONS_NEAREST_H
#define XLM_OPTIONS_NEAREST_H

#include <glib.h>

/* Number of single-character insertions, deletions, replacements and swaps of neighbours that turn a into b (optimal
 * string alignment). Case and the difference between '-' and '_' do not count. */
int xlm_edit_distance(const char *a, const char *b);

/* The candidate nearest to `word`, the first of several; NULL if there is none within half of the word's length. */
const char *xlm_nearest(const char *word, const char *const *candidates, guint n);

/* Advice about a wrong word, for the end of a message: `did you mean "steps"?` or, if nothing is near, `it is one of "a", "b",
 * "c"`. g_free. */
char *xlm_nearest_advice(const char *word, const char *const *candidates, guint n);

#endif
