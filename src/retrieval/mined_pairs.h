/* xlm-mpi: translations found among the sentences of two texts. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The candidates of every sentence x are the k nearest of the other side by cosine, N_k(x); a candidate y has the score cos(x,
 * y), or the ratio margin (Artetxe & Schwenk 2019, "Margin-based parallel corpus mining", eq. 2-4)
 *   cos(x, y) / ((r(x) + r(y)) / 2),  r(x) the mean cosine of x with N_k(x); 0 where the denominator is not above 0.
 * The best candidate of every sentence of either side, taken from the highest score down and only while neither of the two is
 * in a pair yet, are the pairs ("max" retrieval there, and in XTREME's scorer of BUCC). Those with a score of at least a
 * threshold are taken for translations.
 *
 * The threshold is looked for on other text: the pairs in the order of their scores, the first so many of them taken, F1
 * against the gold pairs; it is in the middle between the last score that is in and the first that is out, where F1 is highest,
 * of several places the first. */
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

/* Collective. All pairs, from the highest score down, of equal ones the first source first; g_array_unref. The same on any number
 * of ranks, which share the work. Memory beside the arguments: blocks of vectors and of products of some MB, and 6 k numbers a
 * sentence. */
GArray *xlm_mine_pairs(const xlm_comm *comm, const xlm_mining *mining);

typedef struct xlm_mining_score {
    double threshold;
    int64_t mined, right, gold; /* pairs at or above the threshold; gold pairs among them; all gold pairs */
    double precision, recall, f1; /* 0 for 0 / 0 */
} xlm_mining_score;

/* is_gold: [pairs], in their order; gold: how many gold pairs there are, also such as are not among these. */
xlm_mining_score xlm_mining_score_at(const GArray *pairs, const bool *is_gold, int64_t gold, double threshold);
/* At the best threshold; where no pair is gold, above all scores. */
xlm_mining_score xlm_mining_best_score(const GArray *pairs, const bool *is_gold, int64_t gold);

#endif
