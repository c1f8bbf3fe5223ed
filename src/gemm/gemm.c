/* xlm-mpi: general matrix product, by BLIS. SPDX-License-Identifier: GPL-3.0-or-later */
#include "gemm/gemm.h"

#include <blis.h>
#include <glib.h>
#include <omp.h>
#include <stdatomic.h>

/* C is divided into one block per thread, and each thread calls BLIS for its own block. BLIS has threads too, but they spin at
 * barriers within a product: when one of them has no core for a moment, the others burn theirs, and two threads on two busy cores
 * were seven times slower than one. Here the threads meet once, at OpenMP's barrier, which sleeps when the wait is long. Each
 * thread packs what it multiplies, so some of it is packed twice.
 *
 * k is never divided, so the sum of each element is the same however C is divided, but only with BLIS's ordinary algorithm. Its
 * algorithm for small matrices uses kernels that add up in another order at the edges of a block, and only some processors have
 * it. So products of up to SMALL multiply-adds always run on one thread and may use the small algorithm; all others never use
 * it. */
static const int64_t SMALL = 1 << 18;

static atomic_uint_fast64_t operations;

/* Elements are floats where `single`, else doubles. */
typedef struct product {
    trans_t a_form, b_form;
    int64_t m, n, k, lda, ldb, ldc;
    const void *a, *b;
    void *c;
    double alpha, beta;
    bool single, small;
    bool rows_alone; /* the bits of a row must not depend on m, so `small` is false */
} product;

/* Compute C[row … row + rows, col … col + cols] on the calling thread. */
static void multiply_block(const product *p, int64_t row, int64_t rows, int64_t col, int64_t cols)
{
    rntm_t one_thread = BLIS_RNTM_INITIALIZER;
    if (!p->small)
        bli_rntm_disable_l3_sup(&one_thread);
    bli_rntm_set_num_threads(1, &one_thread);
    const int64_t a_at = row * (p->a_form == BLIS_TRANSPOSE ? 1 : p->lda);
    const int64_t b_at = col * (p->b_form == BLIS_TRANSPOSE ? p->ldb : 1);
    const int64_t c_at = row * p->ldc + col;
    if (p->single) {
        float alpha = (float)p->alpha, beta = (float)p->beta;
        bli_sgemm_ex(p->a_form, p->b_form, rows, cols, p->k, &alpha, (float *)p->a + a_at, p->lda, 1, (float *)p->b + b_at,
                     p->ldb, 1, &beta, (float *)p->c + c_at, p->ldc, 1, NULL, &one_thread);
    } else {
        double alpha = p->alpha, beta = p->beta;
        bli_dgemm_ex(p->a_form, p->b_form, rows, cols, p->k, &alpha, (double *)p->a + a_at, p->lda, 1, (double *)p->b + b_at,
                     p->ldb, 1, &beta, (double *)p->c + c_at, p->ldc, 1, NULL, &one_thread);
    }
}

/* The extent of each of `parts` parts but the last: a multiple of UNIT, as the tiles of BLIS's kernels are. */
static int64_t extent_of_part(int64_t extent, int64_t parts)
{
    enum { UNIT = 16 };
    return ((extent + parts - 1) / parts + UNIT - 1) / UNIT * UNIT;
}

/* Choose the blocks, at most one per thread. What a thread packs grows with the rows plus the columns of its block, so their sum
 * is minimised. */
static void choose_blocks(const product *p, int threads, int64_t *rows, int64_t *cols)
{
    int64_t min_sum = INT64_MAX;
    for (int down = 1; down <= threads; down++) {
        if (threads % down != 0)
            continue;
        const int64_t r = extent_of_part(p->m, down), c = extent_of_part(p->n, threads / down);
        if (r + c < min_sum) {
            min_sum = r + c;
            *rows = r;
            *cols = c;
        }
    }
}

static void multiply_by_threads(const product *p, int threads)
{
    int64_t rows = p->m, cols = p->n;
    choose_blocks(p, threads, &rows, &cols);
    const int64_t across = (p->n + cols - 1) / cols, blocks = (p->m + rows - 1) / rows * across;
#pragma omp parallel for schedule(static, 1)
    for (int64_t i = 0; i < blocks; i++) {
        const int64_t row = i / across * rows, col = i % across * cols;
        multiply_block(p, row, MIN(rows, p->m - row), col, MIN(cols, p->n - col));
    }
}

static void multiply(product *p)
{
    if (p->m == 0 || p->n == 0)
        return;
    const bool tiny = p->m * p->n * p->k <= SMALL;
    p->small = tiny && !p->rows_alone;
    const int threads = tiny || omp_in_parallel() ? 1 : omp_get_max_threads();
    if (threads == 1)
        multiply_block(p, 0, p->m, 0, p->n);
    else
        multiply_by_threads(p, threads);
    atomic_fetch_add_explicit(&operations, 2 * (uint64_t)p->m * (uint64_t)p->n * (uint64_t)p->k, memory_order_relaxed);
}

static trans_t form(bool transpose) { return transpose ? BLIS_TRANSPOSE : BLIS_NO_TRANSPOSE; }

void xlm_gemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, double alpha, const xlm_real *a,
              int64_t lda, const xlm_real *b, int64_t ldb, double beta, xlm_real *c, int64_t ldc)
{
    multiply(&(product){.a_form = form(transpose_a), .b_form = form(transpose_b), .m = m, .n = n, .k = k, .lda = lda,
                        .ldb = ldb, .ldc = ldc, .a = a, .b = b, .c = c, .alpha = alpha, .beta = beta,
                        .single = sizeof(xlm_real) == sizeof(float)});
}

void xlm_gemm_rows_alone(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, double alpha, const xlm_real *a,
                         int64_t lda, const xlm_real *b, int64_t ldb, double beta, xlm_real *c, int64_t ldc)
{
    multiply(&(product){.a_form = form(transpose_a), .b_form = form(transpose_b), .m = m, .n = n, .k = k, .lda = lda,
                        .ldb = ldb, .ldc = ldc, .a = a, .b = b, .c = c, .alpha = alpha, .beta = beta,
                        .single = sizeof(xlm_real) == sizeof(float), .rows_alone = true});
}

void xlm_gemm_double(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, double alpha, const double *a,
                     int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc)
{
    multiply(&(product){.a_form = form(transpose_a), .b_form = form(transpose_b), .m = m, .n = n, .k = k, .lda = lda,
                        .ldb = ldb, .ldc = ldc, .a = a, .b = b, .c = c, .alpha = alpha, .beta = beta});
}

const char *xlm_gemm_library(void)
{
    static char text[64];
    g_snprintf(text, sizeof text, "BLIS %s, %s kernels", bli_info_get_version_str(), bli_arch_string(bli_arch_query_id()));
    return text;
}

double xlm_gemm_flops(void) { return (double)atomic_load_explicit(&operations, memory_order_relaxed); }

void xlm_gemm_count(double flops) { atomic_fetch_add_explicit(&operations, (uint64_t)flops, memory_order_relaxed); }
