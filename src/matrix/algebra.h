/* xlm-mpi: products and decompositions of matrices over ranks, by ScaLAPACK. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All functions are collective. Operands of one call have one layout, and are different matrices. Results of different numbers of
 * ranks differ by rounding alone: the signs of vectors, which a decomposition leaves open, are chosen by xlm_matrix_fix_signs.
 * ScaLAPACK and LAPACK call BLIS, which libxlm is linked with before them, on one thread per rank; docs/analysis.md. */
#ifndef XLM_MATRIX_ALGEBRA_H
#define XLM_MATRIX_ALGEBRA_H

#include "matrix/matrix.h"

/* C = alpha op(A) op(B) + beta C; op is the transpose where its flag says so. */
void xlm_matrix_multiply(bool transpose_a, bool transpose_b, double alpha, const xlm_matrix *a, const xlm_matrix *b,
                         double beta, xlm_matrix *c);

/* A = Q R by Householder reflections, rows >= columns. A becomes Q, with QᵀQ = I. r: [columns x columns] of R on every rank,
 * upper triangular with a diagonal >= 0, which makes both unique if A has full rank; NULL: not wanted. */
bool xlm_matrix_qr(xlm_matrix *a, double *r, GError **error);

/* A = U diag(s) Vᵀ, by blocks. s: [k] on every rank, descending, k = min(rows, columns); u: rows x k; vt: k x columns; both or
 * neither may be NULL. A is overwritten. EX_SOFTWARE if it does not converge. */
bool xlm_matrix_svd(xlm_matrix *a, double *s, xlm_matrix *u, xlm_matrix *vt, GError **error);

/* A = V diag(values) Vᵀ of a symmetric A, of which the lower triangle is read, by blocks. values: [n] on every rank, descending;
 * vectors: n x n, a column each. A is overwritten. EX_SOFTWARE if it does not converge. */
bool xlm_matrix_eigen(xlm_matrix *a, double *values, xlm_matrix *vectors, GError **error);

/* The same of a symmetric matrix [n x n] that all ranks have. vectors: [n x n] on every rank, a column each. Collective. */
bool xlm_symmetric_eigen(const xlm_grid *grid, int64_t n, const double *matrix, double *values, double *vectors, GError **error);

/* Columns of a times ±1 so that the element of largest magnitude of each is positive; if several have that magnitude, to 1e-6
 * of it, the first counts. other: its columns (rows, with other_by_row) get the same signs; may be NULL. */
void xlm_matrix_fix_signs(xlm_matrix *a, xlm_matrix *other, bool other_by_row);

#endif
