/* xlm-mpi: the nearest points of each point, exactly. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_MAPS_NEAR_POINTS_H
#define XLM_MAPS_NEAR_POINTS_H

#include "comm/comm.h"

/* [out] nearest: [n x k] of each row of x, [n x width], the k < n other rows at the smallest Euclidean distances, nearest first;
 * of equally near rows, the smaller number first. squared: [n x k] their squared distances. Candidates are found by products of
 * blocks, which ranks share, and their distances are then computed in double precision. The same bits on any number of ranks.
 * Collective. */
void xlm_near_points(const xlm_comm *comm, int64_t n, int64_t width, const float *x, int k, int32_t *nearest, double *squared);

#endif
