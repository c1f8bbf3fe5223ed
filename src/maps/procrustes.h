/* xlm-mpi: a rotation that brings the vectors of one language onto those of another. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For pairs (x_i, y_i), the orthogonal W that minimises Σ |W x_i − y_i|² is W = U Vᵀ, where Σ y_i x_iᵀ = U S Vᵀ
 * (Schönemann 1966; Xing et al. 2015). It is refined as in MUSE (Conneau et al. 2018, §2.2): the pairs of the next W are those of
 * the most frequent words of both languages that are each other's nearest neighbours by CSLS.
 *
 * Pairs determine as many directions of W as S has values above XLM_ROTATION_THRESHOLD of the largest; U_r and V_r are their
 * vectors. U_0 and V_0 span the directions that are left. All W = U_r V_rᵀ + U_0 Q V_0ᵀ with an orthogonal Q fit equally well; W
 * is the one nearest to the identity in Frobenius norm: Q is the orthogonal polar factor of U_0ᵀ V_0. If that is singular too
 * (values up to XLM_ROTATION_THRESHOLD), W is the one nearest to a fixed matrix of random numbers in the directions that are
 * still left. So W depends only on the pairs. */
#ifndef XLM_MAPS_PROCRUSTES_H
#define XLM_MAPS_PROCRUSTES_H

#include "matrix/matrix.h"

/* Vectors of two languages, the same on every rank, and pairs of them. */
typedef struct xlm_procrustes {
    const xlm_grid *grid;
    int64_t width;
    int64_t n[2];                  /* words of the source, of the target; most frequent first */
    const float *vectors[2];       /* [n x width] */
    const int32_t *self[2];        /* [n] of each word, its number on the other side, where it is no candidate for itself; −1: it
                                    * is not there; NULL: none is */
    int neighbours;                /* k of CSLS */
} xlm_procrustes;

#define XLM_ROTATION_THRESHOLD 1e-6 /* above what the rounding of vectors in float leaves */

/* W, and how well the pairs determine it. */
typedef struct xlm_word_rotation {
    int64_t width;
    double *map;    /* W [width x width], row-major */
    double *values; /* [width] singular values of Σ y xᵀ, falling */
    int64_t pairs;  /* that it was learned from */
    int64_t rank;   /* directions that they determine: values above XLM_ROTATION_THRESHOLD of the largest */
} xlm_word_rotation;

xlm_word_rotation *xlm_word_rotation_new(int64_t width);
void xlm_word_rotation_free(xlm_word_rotation *rotation);

/* [out] rotation: the same on every rank. pairs: [2 count] rows of source and target. Collective. EX_DATAERR: all vectors of the
 * pairs are 0; EX_SOFTWARE. */
bool xlm_procrustes_fit(const xlm_procrustes *procrustes, int64_t count, const int32_t *pairs, xlm_word_rotation *rotation,
                        GError **error);
/* [out] mapped: [n x width] W x of n vectors x. Not collective. */
void xlm_procrustes_map(int64_t width, const double *map, int64_t n, const float *x, float *mapped);
/* The same for vectors that every rank has. Every rank gets all of the result, [n x width], g_free. Collective: ranks share the
 * work. */
float *xlm_procrustes_map_all(const xlm_comm *comm, int64_t width, const double *map, int64_t n, const float *x);
/* Learn the map again `times` times, each time from those of the first max_words words of both sides that are each other's
 * nearest neighbours by CSLS. rotation: [in, out] the map whose pairs have the largest mean cosine. Collective. EX_SOFTWARE. */
bool xlm_procrustes_refine(const xlm_procrustes *procrustes, int64_t times, int64_t max_words, xlm_word_rotation *rotation,
                           GError **error);

#endif
