/* xlm-mpi: the nearest points of each point, exactly. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_MAPS_NEAR_POINTS_H
#define XLM_MAPS_NEAR_POINTS_H

#include "comm/comm.h"

/* [out] nearest: [n x k] of each row of x, [n x width], the k < n other rows that are nearest by Euclid, the nearest first, of
 * equal ones the smaller number; squared: [n x k] their distances, squared. By products of blocks, which ranks share; distances
 * of what is found are computed again in double precision. The same bits on any number of ranks. Collective. */
void xlm_near_points(const xlm_comm *comm, int64_t n, int64_t width, const float *x, int k, int32_t *nearest, double *squared);

#endif
