/* xlm-mpi: points of a plane in a quadtree, for sums over all of them. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The square around all points is cut into four, and these again, until a cell has a few points or has been cut 16 times. In a
 * sum over all points of a function that decreases with distance, a cell counts as one point at its centre of mass if its side is
 * smaller than θ times the distance to it and if it does not contain the point that the sum is for (Barnes and Hut 1986);
 * otherwise its parts are visited, and the points of a cell without parts are taken one by one. With θ = 0 the sum is exact. */
#ifndef XLM_MAPS_QUADTREE_H
#define XLM_MAPS_QUADTREE_H

#include <stdint.h>

typedef struct xlm_quadtree xlm_quadtree;

/* For trees of n points, which are built one after another in the same memory. */
xlm_quadtree *xlm_quadtree_new(int64_t n);
/* NULL is allowed. */
void xlm_quadtree_free(xlm_quadtree *tree);
/* The tree of points y, [n x 2], copied. */
void xlm_quadtree_build(xlm_quadtree *tree, const double *y);
/* [n] the points in the order of their cells, so that points that are close in this order are close in the plane. */
const int32_t *xlm_quadtree_order(const xlm_quadtree *tree);

/* For the point number `place` of that order, i, with w_ij = 1 / (1 + |y_i − y_j|²): [out] force[2] =
 * Σ_j w_ij² (y_i − y_j).
 * Returns Σ_j≠i w_ij. */
double xlm_quadtree_repulsion(const xlm_quadtree *tree, int64_t place, double theta, double force[2]);

#endif
