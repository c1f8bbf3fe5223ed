/* xlm-mpi: cosines of vectors, in double precision. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_VECTORS_COSINES_H
#define XLM_VECTORS_COSINES_H

#include <stdint.h>

/* |x|. */
double xlm_vector_length(int64_t width, const float *x);
/* cos(x, y); 0 where a vector is zeros. */
double xlm_vector_cosine(int64_t width, const float *x, const float *y);
/* Pairs of vectors: the mean of cos(x_i, y_i), and beside it what it would be if the pairs were shuffled, the mean over all i
 * and j of cos(x_i, y_j). The words are the same in both, and one that is in many pairs counts as often: only what the mean
 * is higher than the second says that pairs belong together. */
typedef struct xlm_pair_cosines {
    int64_t width, pairs;
    double sum;      /* of cos(x_i, y_i) */
    double *side[2]; /* [width] sums of x_i/|x_i| and of y_i/|y_i|, zeros adding nothing */
} xlm_pair_cosines;

void xlm_pair_cosines_open(xlm_pair_cosines *cosines, int64_t width);
/* Returns cos(x, y). */
double xlm_pair_cosines_add(xlm_pair_cosines *cosines, const float *x, const float *y);
/* NaN without pairs. */
double xlm_pair_cosines_mean(const xlm_pair_cosines *cosines);
double xlm_pair_cosines_shuffled(const xlm_pair_cosines *cosines);
void xlm_pair_cosines_close(xlm_pair_cosines *cosines);

#endif
