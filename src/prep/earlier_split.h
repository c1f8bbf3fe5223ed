/* xlm-mpi: which sentences a corpus that is there holds out, for text like its own.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Drawn sentences (prep/split.h) follow from the seed and the share alone. Which others are held out, or in neither split, because
 * of their translations cannot be seen from the sentences that a corpus has, so the corpus file lists their digests:
 *
 *   /assigned/held_out   [n] u64, ascending: digests of sentences that are held out although they are not drawn
 *   /assigned/left_out   [n] u64, ascending: digests of sentences in neither split */
#ifndef XLM_PREP_EARLIER_SPLIT_H
#define XLM_PREP_EARLIER_SPLIT_H

#include "prep/split.h"

typedef struct xlm_earlier_split {
    int64_t seed;          /* of the draws of held-out sentences */
    double held_out;       /* share of sentences */
    uint64_t *assigned[2]; /* digests, held out and left out; NULL: the corpus does not list them */
    uint64_t counts[2];    /* how many */
} xlm_earlier_split;

/* Not collective. EX_DATAERR when the file is not what a corpus has; that nothing is listed is no error. */
bool xlm_earlier_split_read(xlm_earlier_split *split, const xlm_store *store, GError **error);
void xlm_earlier_split_clear(xlm_earlier_split *split);

/* What it lists is assigned alike in text with the same seed and share; in other text nothing of it is. Call it before
 * xlm_assignments_finish. */
void xlm_earlier_split_recall(const xlm_earlier_split *split, int64_t seed, double held_out, xlm_assignments *assignments);

#endif
