/* xlm-mpi: how well embeddings of two languages are aligned. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A source token is aligned when, among all candidate tokens of the other language, the one whose embedding is nearest by cosine
 * is a translation of it (Tang et al. 2022, §3; "alignment"). More finely, the rank of token i with translations G_i is
 *     r_i = 1 + |{ j not in G_i, j != s_i : cos(x_i, y_j) >= max_{g in G_i} cos(x_i, y_g) − 1e-6 }|,
 * where s_i is the candidate that is token i itself, if there is one: a subword of both languages would be its own nearest
 * neighbour, and its translation never first. It does count as a translation when it is in G_i. The inequality is such
 * that ties, as between vectors that have collapsed into one, count against it whatever the order of summation; the score at k
 * is the share of tokens with r_i <= k, and the mean reciprocal rank the mean of 1 / r_i (as in MUSE's and SimAlign's word
 * retrieval). */
#ifndef XLM_ANALYSIS_ALIGNMENT_H
#define XLM_ANALYSIS_ALIGNMENT_H

#include "comm/comm.h"

/* Rows of embeddings by number; both sides' vectors are `width` reals a row. */
typedef struct xlm_alignment {
    int64_t width;
    const float *source_vectors, *candidate_vectors; /* [n x width], [candidates x width], of any length */
    int64_t n, candidates;
    const int64_t *first;        /* [n + 1] into translations; every token has at least one */
    const int32_t *translations; /* rows of candidate_vectors */
    const int32_t *self;         /* [n] row of candidate_vectors that is the same token, -1: none is; NULL: none of all */
} xlm_alignment;

/* [out] rank: [n]. Collective: ranks share the source tokens, all have the result. Memory beside the arguments: a copy of the
 * candidates' vectors, and a block of products of some MB; never n x candidates. */
void xlm_alignment_ranks(const xlm_comm *comm, const xlm_alignment *alignment, int64_t *rank);

/* What the ranks of a group of tokens come to. */
typedef struct xlm_alignment_score {
    int64_t tokens;
    double top1, top5, top10; /* shares, 0 … 1 */
    double reciprocal;        /* mean of 1 / rank */
} xlm_alignment_score;

/* Over those of rank[n] with include[i], or all when include is NULL; all 0 when there is none. */
xlm_alignment_score xlm_alignment_summary(int64_t n, const int64_t *rank, const bool *include);

#endif
