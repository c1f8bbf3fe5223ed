/* xlm-mpi: cosines of vectors, in double precision. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_ANALYSIS_COSINES_H
#define XLM_ANALYSIS_COSINES_H

#include <stdint.h>

/* |x|. */
double xlm_vector_length(int64_t width, const float *x);
/* cos(x, y); 0 where a vector is zeros. */
double xlm_vector_cosine(int64_t width, const float *x, const float *y);
/* The mean over all rows x of one matrix, [n x width], and all rows y of another, [m x width], of cos(x, y), rows of zeros having
 * 0: it is the product of the mean of x/|x| and that of y/|y|, so no product of all with all is made. */
double xlm_mean_cosine(int64_t width, int64_t n, const float *x, int64_t m, const float *y);

#endif
