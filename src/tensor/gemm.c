/* xlm-mpi: general matrix product, by BLIS. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/gemm.h"

#include <blis.h>
#include <glib.h>
#include <omp.h>
#include <stdatomic.h>

/* BLIS divides m and n among threads, never k, so each element's sum is the same for any number of threads; but only in
 * its ordinary way. Its way for small matrices takes kernels that add up in another order at the edges of what a thread
 * got, and only some processors have it. So products of up to SMALL multiply-adds are made by one thread in any case and
 * may go the small way, the others never do. */
static const int64_t SMALL = 1 << 18;

static atomic_uint_fast64_t operations;

#ifdef XLM_DOUBLE
#define BLIS_GEMM bli_dgemm_ex
#else
#define BLIS_GEMM bli_sgemm_ex
#endif

void xlm_gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, double alpha, const xlm_real *a,
              int64_t lda, const xlm_real *b, int64_t ldb, double beta, xlm_real *c, int64_t ldc)
{
    if (m == 0 || n == 0)
        return;
    rntm_t threads = BLIS_RNTM_INITIALIZER;
    const bool small = m * n * k <= SMALL;
    if (!small)
        bli_rntm_disable_l3_sup(&threads);
    bli_rntm_set_num_threads(small || omp_in_parallel() ? 1 : omp_get_max_threads(), &threads);
    xlm_real alpha_real = (xlm_real)alpha, beta_real = (xlm_real)beta;
    BLIS_GEMM(transpose_a ? BLIS_TRANSPOSE : BLIS_NO_TRANSPOSE, transpose_b ? BLIS_TRANSPOSE : BLIS_NO_TRANSPOSE, m, n, k,
              &alpha_real, (xlm_real *)a, lda, 1, (xlm_real *)b, ldb, 1, &beta_real, c, ldc, 1, NULL, &threads);
    atomic_fetch_add_explicit(&operations, 2 * (uint64_t)m * (uint64_t)n * (uint64_t)k, memory_order_relaxed);
}

const char *xlm_gemm_library(void)
{
    static char text[64];
    g_snprintf(text, sizeof text, "BLIS %s, %s kernels", bli_info_get_version_str(), bli_arch_string(bli_arch_query_id()));
    return text;
}

double xlm_gemm_flops(void) { return (double)atomic_load_explicit(&operations, memory_order_relaxed); }

void xlm_gemm_count(double flops) { atomic_fetch_add_explicit(&operations, (uint64_t)flops, memory_order_relaxed); }
