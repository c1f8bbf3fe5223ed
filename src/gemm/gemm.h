/* xlm-mpi: general matrix product, by BLIS. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_GEMM_GEMM_H
#define XLM_GEMM_GEMM_H

#include <xlm/tape.h>

/* C = alpha op(A) op(B) + beta C, row-major; op(A): m x k, op(B): k x n. lda, ldb, ldc: row strides as stored. Uses all
 * threads of the rank, or one when called inside a parallel region. beta = 0 never reads C. */
void xlm_gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, double alpha, const xlm_real *a,
              int64_t lda, const xlm_real *b, int64_t ldb, double beta, xlm_real *c, int64_t ldc);

/* The same, slower for small products: the bits of a row of C do not depend on the number of rows. */
void xlm_gemm_rows_alone(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, double alpha, const xlm_real *a,
                         int64_t lda, const xlm_real *b, int64_t ldb, double beta, xlm_real *c, int64_t ldc);

/* As xlm_gemm, for doubles. */
void xlm_gemm_double(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, double alpha, const double *a,
                     int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc);

/* Floating-point operations of all products so far in this process (2 m n k each). */
double xlm_gemm_flops(void);
/* Add operations of products that are computed elsewhere (in attention) to this number. */
void xlm_gemm_count(double flops);

/* "BLIS 0.9.0, skx kernels" */
const char *xlm_gemm_library(void);

#endif
