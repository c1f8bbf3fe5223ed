/* xlm-mpi: counts that ranks add up, each having those that its own text needs. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Counts are of words, or of pairs of words, by their numbers (aligners/word_numbers.h). The rank that owns the (first) word owns
 * the count: so the counts of a large text are divided among the ranks, and a rank has besides its share only those that occur
 * in its own part of the text. Counts are integers, and their sums the same in whatever order ranks are added. */
#ifndef XLM_ALIGNERS_SHARED_COUNTS_H
#define XLM_ALIGNERS_SHARED_COUNTS_H

#include "aligners/word_numbers.h"

typedef struct xlm_shared_counts xlm_shared_counts;

/* A pair of words, or a word with `second` 0. */
typedef struct xlm_count_key {
    uint32_t first, second;
} xlm_count_key;

/* Collective. keys[n]: the same one may be there more than once. owned[ranks + 1]: whose a first word is, as in
 * xlm_word_numbers; borrowed, as is comm. first[n]: true for one of all the places where a key is, on all ranks, so that a
 * sum over these has each key once; NULL, on all ranks, when it is not asked for. */
xlm_shared_counts *xlm_shared_counts_new(const xlm_comm *comm, const int64_t *owned, const xlm_count_key *keys, int64_t n,
                                         bool *first);
void xlm_shared_counts_free(xlm_shared_counts *shared); /* NULL is allowed */

/* Collective. values[n x width], of the keys in their order: each becomes its sum over all places where the key is. sums[keys
 * that this rank owns x width]: the same of these; may be NULL. */
void xlm_shared_counts_sum(const xlm_shared_counts *shared, int64_t *values, int width, int64_t *sums);

/* The different keys that this rank owns, by first word, then second; *n of them. Borrowed. */
const xlm_count_key *xlm_shared_counts_owned(const xlm_shared_counts *shared, int64_t *n);

#endif
