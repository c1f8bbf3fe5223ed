/* xlm-mpi: t-SNE: points of many dimensions in a plane. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Minimises  KL(P || Q) = Σ P_ij ln(P_ij / Q_ij)  over points y_i of the plane, P of maps/affinities.h and
 * Q_ij = w_ij / Z,  w_ij = 1 / (1 + |y_i − y_j|²),  Z = Σ_{k ≠ l} w_kl  (van der Maaten and Hinton 2008). Its gradient is
 *   ∂KL/∂y_i = 4 Σ_j (P_ij − Q_ij) w_ij (y_i − y_j),
 * whose first part is a sum over neighbours, and whose second part is summed by a quadtree (van der Maaten 2014, "Accelerating
 * t-SNE using Tree-Based Algorithms"). Descent with momentum and a step for each coordinate that grows while gradient and
 * movement have different signs; at first P is exaggerated. */
#ifndef XLM_MAPS_TSNE_H
#define XLM_MAPS_TSNE_H

#include "comm/comm.h"
#include "maps/affinities.h"

typedef struct xlm_tsne_options {
    double perplexity;    /* 3 · perplexity + 1 neighbours count; at most (n − 1) / 3 */
    double theta;         /* 0 … 1: 0 sums over all points */
    double exaggeration;  /* of P in the first `exaggerated` iterations */
    double learning_rate; /* 0: max(n / exaggeration / 4, 50) (Belkina et al. 2019) */
    int64_t iterations, exaggerated;
    int64_t seed;
} xlm_tsne_options;

/* Perplexity 30, θ 0.5, 1000 iterations, the first 250 exaggerated 12 times, seed 1. */
xlm_tsne_options xlm_tsne_defaults(void);
/* The largest perplexity that n points can have. */
double xlm_tsne_max_perplexity(int64_t n);

/* [out] y: [n x 2], with mean 0. x: [n x width], by falling variance of the columns, as principal components are: the first
 * two, scaled to a deviation of 1e-4, with a hundredth of that drawn from the seed added, are where the points begin. Returns
 * KL(P || Q). Ranks and threads share points; the result is the same to the bit on any number of either. Collective. Memory of
 * a rank: x, and about 100 (3 · perplexity) n bytes. */
double xlm_tsne(const xlm_comm *comm, int64_t n, int64_t width, const float *x, const xlm_tsne_options *options, double *y);

/* The gradient at y: [n x 2]; *divergence: KL(P || Q) of P without exaggeration, or NULL. Collective. */
void xlm_tsne_gradient(const xlm_comm *comm, const xlm_affinities *affinities, double theta, double exaggeration, const double *y,
                       double *gradient, double *divergence);

#endif
