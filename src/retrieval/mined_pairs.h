/* xlm-mpi: translations found among the sentences of two texts. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The candidates of every sentence x are the k nearest of the other side by cosine, N_k(x); a candidate y has the score cos(x,
 * y), or the ratio margin (Artetxe & Schwenk 2019, "Margin-based parallel corpus mining", eq. 2-4)
 *   cos(x, y) / ((r(x) + r(y)) / 2),  r(x) the mean cosine of x with N_k(x); 0 where the denominator is not above 0.
 * The best candidate of every sentence of either side, taken from the highest score down and only while neither of the two is
 * in a pair yet, are the pairs ("max" retrieval there, and in XTREME's scorer of BUCC). Those with a score of at least a
 * threshold are taken for translations.
 *
 * The threshold is chosen on other text: pairs are taken in the order of their scores until F1 against the gold pairs is highest,
 * of several such places at the first; the threshold is halfway between the last score that is taken and the next one. */
#ifndef XLM_RETRIEVAL_MINED_PAIRS_H
#define XLM_RETRIEVAL_MINED_PAIRS_H

#include <glib.h>

#include "comm/comm.h"

typedef struct xlm_mined_pair {
    int64_t source, target; /* rows */
    double score;
} xlm_mined_pair;

typedef struct xlm_mining {
    int64_t width, n[2];
    const float *vectors[2]; /* [n x width] of either side, of any length; those of zeros are in no pair */
    int neighbours;          /* k, at least 1 */
    bool margin;             /* else the cosine is the score */
} xlm_mining;

/* Collective. Returns all pairs by falling score, those of equal scores by source; g_array_unref. The result is the same on any
 * number of ranks, which share the work. Memory beside the arguments: blocks of vectors and of products of some MB, and 6 k
 * numbers a sentence. */
GArray *xlm_mine_pairs(const xlm_comm *comm, const xlm_mining *mining);

typedef struct xlm_mining_score {
    double threshold;
    int64_t mined, right, gold; /* pairs at or above the threshold; gold pairs among them; all gold pairs */
    double precision, recall, f1; /* 0 for 0 / 0 */
} xlm_mining_score;

/* is_gold: [pairs], in their order; gold: number of all gold pairs, including those that are not among these pairs. */
xlm_mining_score xlm_mining_score_at(const GArray *pairs, const bool *is_gold, int64_t gold, double threshold);
/* The score at the best threshold, which is above all scores if no pair is gold. */
xlm_mining_score xlm_mining_best_score(const GArray *pairs, const bool *is_gold, int64_t gold);

#endif
