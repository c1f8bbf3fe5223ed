/* xlm-mpi: the largest singular values of a matrix of which only products are known. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A ≈ U_k diag(s) V_kᵀ of an A, n x n, by randomised subspace iteration in its Krylov form (Halko, Martinsson & Tropp 2011,
 * §4.5; Musco & Musco 2015), which keeps all iterates, and so needs several times fewer products than with the last one alone:
 * from b random columns Q_0, the columns of AᵀA Q_j are made orthogonal to all before them and orthonormal among themselves (QR),
 * Q_{j+1}. When the basis Q is full, H = QᵀAᵀA Q = Y diag(θ) Yᵀ, s_i = √θ_i, and the residual of a vector Q y_i is |R y_i'|, R of
 * the last QR and y_i' the last b elements of y_i: θ_i is an eigenvalue of AᵀA to within that. Until the first k are small
 * enough, the basis is cut down to its best vectors and grows again (thick restart: Wu & Simon 2000). */
#ifndef XLM_MAPS_TRUNCATED_SVD_H
#define XLM_MAPS_TRUNCATED_SVD_H

#include "matrix/matrix.h"

/* A square matrix over ranks, each of which has `rows` rows of A, of Aᵀ and of vectors. */
typedef struct xlm_linear_map {
    int64_t n;       /* A is n x n; n is at most the number of rows of all ranks, and the other rows are 0 */
    int64_t rows;    /* the same on every rank */
    const int64_t *numbers; /* [rows] number of each row among the n, on which its random start depends; −1: none of them */
    /* y = A x or Aᵀ x; x: [columns / 16] panels of 16 columns of all ranks' rows one after another, [ranks rows x 16]; y:
     * [rows x columns]; columns: a multiple of 16. Not collective. */
    void (*multiply)(const void *data, bool transpose, int64_t columns, const double *x, double *y);
    const void *data;
} xlm_linear_map;

typedef struct xlm_truncated_svd {
    int64_t rank;     /* k, 1 … n */
    uint64_t seed;
    double tolerance; /* residual of each θ_i, as a share of it */
    /* [out] */
    double *values;   /* [k] s, falling, on every rank; g_free */
    double *left, *right; /* [rows x k] of U diag(s) and V, row-major; g_free. In each column of U the element of largest
                             magnitude is positive */
    int64_t products; /* number of columns that A and Aᵀ were multiplied by */
    double residual;  /* the largest of these residuals */
} xlm_truncated_svd;

/* Collective. Results on different numbers of ranks are the same except for rounding, which the tolerance bounds. EX_SOFTWARE
 * when residuals are not within the tolerance after many restarts. */
bool xlm_truncated_svd_find(const xlm_grid *grid, const xlm_linear_map *map, xlm_truncated_svd *svd, GError **error);
/* Maximum number of bytes that this takes on a rank, including the results. */
int64_t xlm_truncated_svd_bytes(const xlm_comm *comm, int64_t n, int64_t rank);
/* A struct of zeros is allowed. */
void xlm_truncated_svd_free(xlm_truncated_svd *svd);

#endif
