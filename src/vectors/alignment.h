/* xlm-mpi: how well embeddings of two languages are aligned. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A source token is aligned when, among all candidate tokens of the other language, the one whose embedding is nearest by cosine
 * is a translation of it (Tang et al. 2022, §3; "alignment"). More finely, the rank of token i with translations G_i is
 *     r_i = 1 + |{ j not in G_i, j != s_i : cos(x_i, y_j) >= max_{g in G_i} cos(x_i, y_g) − 1e-6 }|,
 * where s_i is the candidate that is token i itself, if there is one: a subword of both languages would be its own nearest
 * neighbour, and its translation never first. It does count as a translation when it is in G_i. The inequality is such
 * that ties, as between vectors that have collapsed into one, count against it whatever the order of summation; the score at k
 * is the share of tokens with r_i <= k, and the mean reciprocal rank the mean of 1 / r_i (as in MUSE's and SimAlign's word
 * retrieval).
 *
 * In place of the cosine there may be CSLS (Conneau et al. 2018, "Word Translation Without Parallel Data", §2.3): the score of
 * candidate y for x is 2 cos(x, y) − r(y), r(y) the mean cosine of y with its k nearest neighbours among the source language's
 * vectors (xlm_alignment_neighbours); their r(x) is the same for all candidates and changes no rank. The margin is doubled.
 *
 * With pools, the rows 0 … pool − 1 of the source have only those of the candidates as their candidates, and so on. */
#ifndef XLM_VECTORS_ALIGNMENT_H
#define XLM_VECTORS_ALIGNMENT_H

#include "comm/comm.h"

/* Rows of embeddings by number; both sides' vectors are `width` reals a row. */
typedef struct xlm_alignment {
    int64_t width;
    const float *source_vectors, *candidate_vectors; /* [n x width], [candidates x width], of any length */
    int64_t n, candidates;
    const int64_t *first;        /* [n + 1] into translations; every token has at least one */
    const int64_t *end;          /* [n] where they end, so that tokens may share some, and first is [n]; NULL: first + 1 */
    const int32_t *translations; /* rows of candidate_vectors */
    const int32_t *self;         /* [n] row of candidate_vectors that is the same token, -1: none; NULL: none for all */
    const float *hubness;        /* [candidates] r(y), to rank by CSLS; NULL: by the cosine */
    int64_t pool;                /* > 0: number of rows of a pool, n = candidates; 0: no pools */
} xlm_alignment;

/* Of two sides' vectors, [n[s] x width], those of side `from` are the sources and those of the other the candidates. */
xlm_alignment xlm_alignment_between(int64_t width, const float *const vectors[2], const int64_t n[2], int from);
/* [out] rank: [n]. Collective: ranks share the source tokens, all have the result. Memory beside the arguments: blocks of
 * vectors and of products of some MB; never n x candidates. */
void xlm_alignment_ranks(const xlm_comm *comm, const xlm_alignment *alignment, int64_t *rank);

/* [out] mean: [n] the mean cosine of each source vector with its k nearest candidates except self, or with all if there are
 * fewer; 0 if there is none. first, translations and hubness are not read. Collective, same bits on any number of ranks. */
void xlm_alignment_neighbours(const xlm_comm *comm, const xlm_alignment *alignment, int k, float *mean);

/* [out] nearest, score: [n x k], for each source vector the rows of the k candidates with the largest scores (cosine; with
 * hubness 2 cos(x, y) − r(y)), largest first, of equal scores the smaller row first; −1 and −infinity after the last. A
 * source's translations, and its self, are left out; first and self may be NULL. Collective, same bits on any number of
 * ranks. Memory as for xlm_alignment_ranks. */
void xlm_alignment_nearest(const xlm_comm *comm, const xlm_alignment *alignment, int k, int32_t *nearest, float *score);

/* Summary of the ranks of some tokens. */
typedef struct xlm_alignment_score {
    int64_t tokens;
    double top1, top5, top10; /* shares, 0 … 1 */
    double reciprocal;        /* mean of 1 / rank */
} xlm_alignment_score;

/* Over those of rank[n] with include[i], or all when include is NULL; all 0 when there is none. */
xlm_alignment_score xlm_alignment_summary(int64_t n, const int64_t *rank, const bool *include);

#endif
