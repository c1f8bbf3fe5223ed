/* xlm-mpi: one numbering of the words of all ranks. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ranks read different parts of a text, so each has different words. Here they get numbers that all ranks use, in the order of a
 * digest of their bytes, which spreads frequent and rare words evenly and does not depend on the number of ranks. A rank owns a
 * contiguous range of numbers and the counts of these words (aligners/shared_counts.h). */
#ifndef XLM_ALIGNERS_WORD_NUMBERS_H
#define XLM_ALIGNERS_WORD_NUMBERS_H

#include "comm/comm.h"

typedef struct xlm_word_numbers {
    int64_t *numbers; /* [n] of this rank's words, in their order */
    int64_t all;      /* different words of all ranks */
    int64_t *owned;   /* [ranks + 1] rank r owns numbers owned[r] … owned[r + 1] */
    GPtrArray *texts; /* of the words that this rank owns, in order of their numbers */
} xlm_word_numbers;

/* Collective. texts: n words, UTF-8; they may repeat. */
xlm_word_numbers *xlm_word_numbers_new(const xlm_comm *comm, char *const *texts, int64_t n);
/* Compares the numbers of two words like strcmp(). */
int xlm_word_numbers_compare(const char *a, const char *b);
void xlm_word_numbers_free(xlm_word_numbers *numbers); /* NULL is allowed */

#endif
