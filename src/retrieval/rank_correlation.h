/* xlm-mpi: Spearman's rank correlation, and Pearson's. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_RETRIEVAL_RANK_CORRELATION_H
#define XLM_RETRIEVAL_RANK_CORRELATION_H

#include <stdbool.h>
#include <stdint.h>

typedef struct xlm_rank_correlation {
    double rho; /* −1 … 1; NaN when all values of a side are equal */
    double p;   /* two-tailed: probability of a ρ at least as far from 0 if the sides were independent */
} xlm_rank_correlation;

/* The correlation of x[n] and y[n], n >= 3; equal values have the mean of their ranks. p by Student's t with n − 2 degrees of
 * freedom, t = ρ √((n − 2) / (1 − ρ²)): a good approximation for n of 10 or more; it is given for fewer too, as is usual. */
xlm_rank_correlation xlm_rank_correlate(int64_t n, const double *x, const double *y);

/* Pearson's r of x[n] and y[n], n >= 2; NaN when all values of a side are equal. */
double xlm_linear_correlate(int64_t n, const double *x, const double *y);

#endif
