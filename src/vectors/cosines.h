/* xlm-mpi: cosines of vectors, in double precision. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_VECTORS_COSINES_H
#define XLM_VECTORS_COSINES_H

#include <stdint.h>

/* |x|. */
double xlm_vector_length(int64_t width, const float *x);
/* cos(x, y); 0 if a vector is zero. */
double xlm_vector_cosine(int64_t width, const float *x, const float *y);
/* Pairs of vectors: the mean of cos(x_i, y_i), and what it would be if the pairs were shuffled, which is the mean of cos(x_i,
 * y_j) over all i and j. The words, and how often each occurs, are the same in both, so only the difference shows that pairs
 * belong together. */
typedef struct xlm_pair_cosines {
    int64_t width, pairs;
    double sum;      /* of cos(x_i, y_i) */
    double *side[2]; /* [width] sums of x_i/|x_i| and of y_i/|y_i|; zero vectors add nothing */
} xlm_pair_cosines;

void xlm_pair_cosines_open(xlm_pair_cosines *cosines, int64_t width);
/* Returns cos(x, y). */
double xlm_pair_cosines_add(xlm_pair_cosines *cosines, const float *x, const float *y);
/* NaN without pairs. */
double xlm_pair_cosines_mean(const xlm_pair_cosines *cosines);
double xlm_pair_cosines_shuffled(const xlm_pair_cosines *cosines);
void xlm_pair_cosines_close(xlm_pair_cosines *cosines);

#endif
