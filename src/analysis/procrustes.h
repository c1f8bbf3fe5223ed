/* xlm-mpi: a rotation that brings the vectors of one language onto those of another. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Of pairs (x_i, y_i) the orthogonal W that makes Σ |W x_i − y_i|² least is W = U Vᵀ, where Σ y_i x_iᵀ = U S Vᵀ
 * (Schönemann 1966; Xing et al. 2015). It is refined as in MUSE (Conneau et al. 2018, §2.2): of the most frequent words of
 * both languages those that are each other's nearest by CSLS are the pairs of the next W. */
#ifndef XLM_ANALYSIS_PROCRUSTES_H
#define XLM_ANALYSIS_PROCRUSTES_H

#include "matrix/grid.h"

/* Vectors of two languages, the same on every rank, and pairs of them. */
typedef struct xlm_procrustes {
    const xlm_grid *grid;
    int64_t width;
    int64_t n[2];                  /* words of the source, of the target; most frequent first */
    const float *vectors[2];       /* [n x width] */
    int neighbours;                /* k of CSLS */
} xlm_procrustes;

/* [out] map: W [width x width], row-major, the same on every rank. pairs: [2 count] rows of source and target. *rank: how many
 * dimensions the pairs determine, fewer than the width where there are fewer pairs; W is some rotation in the others. Collective.
 * EX_DATAERR: all vectors of the pairs are 0; EX_SOFTWARE. */
bool xlm_procrustes_fit(const xlm_procrustes *procrustes, int64_t count, const int32_t *pairs, double *map, int64_t *rank,
                        GError **error);
/* [out] mapped: [n x width] W x of the source's words, on every rank. Collective: ranks share the words. */
void xlm_procrustes_map(const xlm_procrustes *procrustes, const double *map, float *mapped);
/* New pairs among the first `most` words of both sides, which CSLS makes nearest of each other; int32_t source, target, ... .
 * mapped: as above. *cosine: their mean cosine. Collective, the same on every rank; g_array_unref. */
GArray *xlm_procrustes_mutual(const xlm_procrustes *procrustes, const float *mapped, int64_t most, double *cosine);

#endif
