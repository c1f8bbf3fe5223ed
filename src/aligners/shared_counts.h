/* xlm-mpi: counts that are summed over ranks, each of which has its own text's. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Counts are of words, or of pairs of words, by their numbers (aligners/word_numbers.h). The rank that owns the (first) word owns
 * the count. So the counts of a large text are divided among the ranks, and apart from its share a rank has only the counts for
 * its own part of the text. Counts are integers, so their sums do not depend on the order of additions. */
#ifndef XLM_ALIGNERS_SHARED_COUNTS_H
#define XLM_ALIGNERS_SHARED_COUNTS_H

#include "aligners/word_numbers.h"

typedef struct xlm_shared_counts xlm_shared_counts;

/* A pair of words, or a word with `second` 0. */
typedef struct xlm_count_key {
    uint32_t first, second;
} xlm_count_key;

/* Collective. keys[n]: may repeat. owned[ranks + 1]: the ranks that own the first words, as in xlm_word_numbers. comm: borrowed.
 * [out] first[n]: of all occurrences of a key, on all ranks, true for one, so that a sum over these counts each key once; NULL,
 * on all ranks, if it is not wanted. */
xlm_shared_counts *xlm_shared_counts_new(const xlm_comm *comm, const int64_t *owned, const xlm_count_key *keys, int64_t n,
                                         bool *first);
void xlm_shared_counts_free(xlm_shared_counts *shared); /* NULL is allowed */

/* Collective. values[n x width], of the keys in their order: each becomes its sum over all places where the key is. sums[keys
 * that this rank owns x width]: the same of these; may be NULL. */
void xlm_shared_counts_sum(const xlm_shared_counts *shared, int64_t *values, int width, int64_t *sums);

/* The different keys that this rank owns, by first word, then second; *n of them. Borrowed. */
const xlm_count_key *xlm_shared_counts_owned(const xlm_shared_counts *shared, int64_t *n);

#endif
