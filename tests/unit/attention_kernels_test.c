/* xlm-mpi: attention's kernels of every instruction set against plain loops in double precision.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bfloat16.h"
#include "kernels/kernels.h"

static const char *const names[] = {"portable", "neon", "avx2", "avx512"};
enum { MAX_WIDTH = 70 }; /* weights of a row */
static const float UNTOUCHED = 12345.0f;

static float number(uint32_t which, int64_t i)
{
    return (float)(4 * xlm_rng_unit(xlm_rng_draw((xlm_rng_key){{1, 2}}, (uint32_t)i, which, 0, 0).v[0]) - 2);
}

/* rows x cols with rows ld apart; what is between them is UNTOUCHED, and nothing is there after the last row. */
static float *matrix(uint32_t which, int64_t rows, int64_t cols, int64_t ld)
{
    const int64_t n = rows > 0 ? (rows - 1) * ld + cols : 0;
    float *x = g_new(float, MAX(n, 1)); /* never NULL */
    for (int64_t i = 0; i < n; i++)
        x[i] = i % ld < cols ? number(which, i) : UNTOUCHED;
    return x;
}

static void expect(const xlm_kernels *kernel, const char *what, int64_t i, double got, double wanted, double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance * fmax(1, fabs(wanted))))
        fail_msg("%s %s, element %d: %.9g, not %.9g", kernel->name, what, (int)i, got, wanted);
}

static void each_table(void (*check)(const xlm_kernels *))
{
    int tables = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        const xlm_kernels *kernel = xlm_kernels_find(names[i]);
        tables += kernel != NULL;
        if (kernel != NULL)
            check(kernel);
    }
    assert_true(tables > 0);
}

/* ---- transpose ---- */

static void check_transpose(const xlm_kernels *kernel)
{
    static const int64_t sizes[] = {1, 2, 7, 8, 9, 15, 16, 17, 33, 48};
    for (size_t a = 0; a < G_N_ELEMENTS(sizes); a++)
        for (size_t b = 0; b < G_N_ELEMENTS(sizes); b++) {
            const int64_t rows = sizes[a], cols = sizes[b], ldx = cols + 3, ldy = rows + 5;
            float *x = matrix(1, rows, cols, ldx), *y = matrix(2, cols, rows, ldy);
            kernel->transpose(rows, cols, x, ldx, y, ldy);
            for (int64_t i = 0; i < (cols - 1) * ldy + rows; i++)
                expect(kernel, "transpose", i, y[i], i % ldy < rows ? x[i % ldy * ldx + i / ldy] : UNTOUCHED, 0);
            g_free(x);
            g_free(y);
        }
}

static void check_transpose_halves(const xlm_kernels *kernel)
{
    static const int64_t sizes[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 66};
    for (size_t a = 0; a < G_N_ELEMENTS(sizes); a++)
        for (size_t b = 0; b < G_N_ELEMENTS(sizes); b++) {
            const int64_t rows = sizes[a], cols = sizes[b], ldx = cols + 3, ldy = rows + 5;
            uint16_t *x = g_new(uint16_t, rows * ldx), *y = g_new0(uint16_t, cols * ldy);
            for (int64_t i = 0; i < rows * ldx; i++)
                x[i] = (uint16_t)(i + 1);
            kernel->transpose_bfloat16(rows, cols, x, ldx, y, ldy);
            for (int64_t i = 0; i < cols * ldy; i++)
                expect(kernel, "transpose_bfloat16", i, y[i], i % ldy < rows ? x[i % ldy * ldx + i / ldy] : 0, 0);
            g_free(x);
            g_free(y);
        }
}

static void test_transpose(void **state)
{
    (void)state;
    each_table(check_transpose);
    each_table(check_transpose_halves);
}

/* ---- product ---- */

static void check_one_product(const xlm_kernels *kernel, int64_t m, int64_t n, int64_t depth, bool transposed, bool add)
{
    const int64_t lda = (transposed ? m : depth) + 1, ldb = n + 2, ldc = n + 3;
    float *a = transposed ? matrix(1, depth, m, lda) : matrix(1, m, depth, lda), *b = matrix(2, depth, n, ldb),
        *c = matrix(3, m, n, ldc);
    const int64_t a_row = transposed ? 1 : lda, a_col = transposed ? lda : 1;
    kernel->product(m, n, depth, a, a_row, a_col, b, ldb, c, ldc, add);
    for (int64_t i = 0; i < (m - 1) * ldc + n; i++) {
        const int64_t row = i / ldc, col = i % ldc;
        double wanted = add || col >= n ? (col < n ? number(3, i) : UNTOUCHED) : 0;
        for (int64_t l = 0; l < depth && col < n; l++)
            wanted += (double)a[row * a_row + l * a_col] * b[l * ldb + col];
        expect(kernel, "product", i, c[i], wanted, col < n ? 1e-5 : 0);
    }
    g_free(a);
    g_free(b);
    g_free(c);
}

static void check_product(const xlm_kernels *kernel)
{
    static const int64_t widths[] = {1, 7, 8, 15, 16, 17, 31, 32, 33, 48, 64, 80, 127}, depths[] = {1, 7, 33};
    for (int64_t m = 1; m <= 13; m++)
        for (size_t w = 0; w < G_N_ELEMENTS(widths); w++)
            for (size_t l = 0; l < G_N_ELEMENTS(depths); l++)
                for (int form = 0; form < 4; form++)
                    check_one_product(kernel, m, widths[w], depths[l], form & 1, form & 2);
    check_one_product(kernel, 5, 5, 0, false, false);
}

static void test_product(void **state)
{
    (void)state;
    each_table(check_product);
}

/* a, m x 2 depth, or its transpose by pairs, and b, 2 depth x n, in pairs; of small whole numbers, whose sums are exact. */
static void check_pairs(const xlm_kernels *kernel, int64_t m, int64_t n, int64_t depth, bool transposed, bool add)
{
    const int64_t lda = (transposed ? m : depth) + 1, ldb = n + 2, ldc = n + 3;
    uint16_t *a = g_new0(uint16_t, 2 * lda * MAX(m, depth)), *b = g_new0(uint16_t, 2 * ldb * depth + 1);
    float *c = g_new0(float, m * ldc), *wanted = g_new0(float, m * ldc);
    for (int64_t i = 0; i < m * ldc; i++)
        c[i] = wanted[i] = i % ldc >= n ? UNTOUCHED : add ? 7 : 0;
    for (int64_t l = 0; l < 2 * depth; l++) {
        for (int64_t i = 0; i < m; i++)
            a[2 * (transposed ? l / 2 * lda + i : i * lda + l / 2) + l % 2] = xlm_bfloat16_of((float)((i * 3 + l) % 7 - 3));
        for (int64_t j = 0; j < n; j++)
            b[2 * (l / 2 * ldb + j) + l % 2] = xlm_bfloat16_of((float)((j * 5 + l) % 9 - 4));
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t l = 0; l < 2 * depth; l++)
                wanted[i * ldc + j] += (float)((i * 3 + l) % 7 - 3) * (float)((j * 5 + l) % 9 - 4);
    kernel->product_bfloat16(m, n, depth, a, transposed ? 1 : lda, transposed ? lda : 1, b, ldb, c, ldc, add);
    for (int64_t i = 0; i < m * ldc; i++)
        expect(kernel, "product_bfloat16", i, c[i], wanted[i], 0);
    if (depth > 0 && m > 0) {
        double sum = 0;
        for (int64_t i = 0; i < MIN(n, 2 * depth); i++)
            sum += (double)xlm_bfloat16_value(b[i]) * (double)wanted[i % n];
        expect(kernel, "dot_bfloat16", n, kernel->dot_bfloat16(MIN(n, 2 * depth), b, wanted), sum, 1e-6);
    }
    g_free(a);
    g_free(b);
    g_free(c);
    g_free(wanted);
}

static void check_products_of_pairs(const xlm_kernels *kernel)
{
    static const int64_t widths[] = {1, 7, 16, 33, 64, 97}, depths[] = {1, 3, 16, 33};
    for (int64_t m = 1; m <= 14; m++)
        for (size_t w = 0; w < G_N_ELEMENTS(widths); w++)
            for (size_t l = 0; l < G_N_ELEMENTS(depths); l++)
                for (int form = 0; form < 4; form++)
                    check_pairs(kernel, m, widths[w], depths[l], form & 1, form & 2);
}

static void test_product_of_pairs(void **state)
{
    (void)state;
    each_table(check_products_of_pairs);
}

/* ---- softmax ---- */

/* Every third weight is dropped. */
static bool is_kept(int64_t j) { return j % 3 != 1; }

static uint8_t *make_bits(int64_t n)
{
    uint8_t *bits = g_new0(uint8_t, (n + 7) / 8);
    for (int64_t j = 0; j < n; j++)
        bits[j / 8] |= (uint8_t)(is_kept(j) << j % 8);
    return bits;
}

static void check_one_softmax(const xlm_kernels *kernel, int64_t n, bool drops, double shift)
{
    const float factor = 0.35f, keep_scale = drops ? 1.5f : 1, mean = 0.3f;
    uint8_t *bits = make_bits(n), *given = drops ? bits : NULL;
    float *x = matrix(1, 1, n, n), *dy = matrix(2, 1, n, n), back[MAX_WIDTH];
    for (int64_t j = 0; j < n; j++)
        back[j] = x[j] += (float)shift;
    double sum = 0, p[MAX_WIDTH];
    for (int64_t j = 0; j < n; j++)
        sum += p[j] = exp((double)factor * (x[j] - shift));
    const double log_sum = log(sum) + (double)factor * shift;
    /* Far from 0 the rounding of factor x shows. */
    const double tolerance = shift == 0 ? 2e-6 : 2e-4;
    const float got = kernel->softmax(n, factor, x, given, keep_scale);
    expect(kernel, "softmax's log of sum", n, got, log_sum, 1e-6);
    for (int64_t j = 0; j < n; j++)
        expect(kernel, "softmax", j, x[j], !drops || is_kept(j) ? keep_scale * p[j] / sum : 0, tolerance);

    const float *d = dy;
    float *ds = g_memdup2(dy, sizeof *dy * (size_t)n);
    kernel->softmax_back(n, factor, got, mean, back, ds, given, keep_scale);
    for (int64_t j = 0; j < n; j++) {
        const bool stays = !drops || is_kept(j);
        expect(kernel, "softmax made again", j, back[j], stays ? keep_scale * p[j] / sum : 0, tolerance);
        expect(kernel, "softmax, backward", j, ds[j], factor * p[j] / sum * ((stays ? keep_scale * d[j] : 0) - mean), tolerance);
    }
    g_free(bits);
    g_free(x);
    g_free(dy);
    g_free(ds);
}

static void check_softmax(const xlm_kernels *kernel)
{
    for (int64_t n = 1; n <= MAX_WIDTH; n++)
        for (int drops = 0; drops < 2; drops++) {
            check_one_softmax(kernel, n, drops, 0);
            check_one_softmax(kernel, n, drops, 1000); /* exp(350) is beyond single precision */
            check_one_softmax(kernel, n, drops, -1000);
        }
}

static void test_softmax(void **state)
{
    (void)state;
    each_table(check_softmax);
}

/* A NaN must reach the result, wherever it is. */
static void check_nan(const xlm_kernels *kernel)
{
    for (int64_t n = 1; n <= 40; n++)
        for (int64_t at = 0; at < n; at++) {
            float x[40];
            for (int64_t j = 0; j < n; j++)
                x[j] = j == at ? NAN : number(1, j);
            assert_true(isnan(kernel->softmax(n, 1, x, NULL, 1)));
            assert_true(isnan(x[0]) && isnan(x[n - 1]));
        }
}

static void test_softmax_of_no_number(void **state)
{
    (void)state;
    each_table(check_nan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_product),
        cmocka_unit_test(test_product_of_pairs),
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_softmax_of_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
