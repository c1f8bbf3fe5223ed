/* xlm-mpi: sentences that equal an earlier one, found by all ranks together. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sentence is known by a digest of 64 bits. Among n different sentences, n^2 / 2^65 are expected to be taken for another one:
 * 0.03 of 10^9, 2.7 of 10^10. Each rank owns an equal part of all digests, and decides for the sentences of all ranks that have
 * them; the one whose place is first stays, whatever the number of ranks.
 *
 * Memory of a rank: 24 bytes for each sentence of its part while the search lasts (16 bytes before it); no more than 48 bytes for
 * each different one, however often it comes; then one bit for each sentence that it has added.
 *
 *   xlm_duplicates_new -> xlm_duplicates_add ... -> xlm_duplicates_find (collective) -> xlm_duplicates_is ... */
#ifndef XLM_PREP_DUPLICATES_H
#define XLM_PREP_DUPLICATES_H

#include "comm/comm.h"

typedef struct xlm_duplicates xlm_duplicates;

xlm_duplicates *xlm_duplicates_new(int sources);
/* NULL is allowed. */
void xlm_duplicates_free(xlm_duplicates *duplicates);

/* Add this rank's next sentence, in the order of the sources and of their places. source: less than 2^20. place: where the
 * sentence is in its source, less than 2^44; several of a rank may have the same place. */
void xlm_duplicates_add(xlm_duplicates *duplicates, int source, uint64_t digest, int64_t place);
/* Find the duplicates of all ranks; collective. To be called once, after all were added. */
void xlm_duplicates_find(xlm_duplicates *duplicates, const xlm_comm *comm);
/* Does the i-th sentence, from 0, that this rank has added for the source equal an earlier one? [out] duplicate. False when no so
 * many were added. */
bool xlm_duplicates_is(const xlm_duplicates *duplicates, int source, int64_t i, bool *duplicate);

#endif
