/* xlm-mpi: probabilities that say how near points are to one another, for t-SNE. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For point i and its k nearest neighbours,
 *   p(j|i) = exp(−β_i d_ij²) / Σ_l exp(−β_i d_il²),   0 for all others,
 * with the β_i = 1 / 2σ_i² at which exp(−Σ_j p(j|i) ln p(j|i)) is the perplexity, and
 *   P_ij = (p(j|i) + p(i|j)) / 2n
 * (van der Maaten and Hinton 2008, "Visualizing Data using t-SNE", §2; van der Maaten 2014 for the neighbours). */
#ifndef XLM_MAPS_AFFINITIES_H
#define XLM_MAPS_AFFINITIES_H

#include <stdint.h>

/* A symmetric matrix, by rows: those of i are first[i] … first[i + 1]. */
typedef struct xlm_affinities {
    int64_t n;
    int64_t *first;  /* [n + 1] */
    int32_t *column; /* rising in each row */
    double *p;       /* their sum is 1 */
} xlm_affinities;

/* [out] p: [k] p(j|i) of one point, from its squared distances [k]; returns β. perplexity: above 1, at most k. If all distances
 * are equal, p is uniform. */
double xlm_affinities_of_point(int k, const double *squared, double perplexity, double *p);

/* For points and their k nearest (maps/near_points.h). xlm_affinities_free. */
xlm_affinities *xlm_affinities_make(int64_t n, int k, const int32_t *nearest, const double *squared, double perplexity);
void xlm_affinities_free(xlm_affinities *affinities);

#endif
