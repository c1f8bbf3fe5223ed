/* xlm-mpi: products with packed matrices, in floats and in bfloat16. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>

#include "base/bfloat16.h"
#include "base/rng.h"
#include "gemm/gemm.h"
#include "gemm/packed.h"

/* Numbers from -0.5 to 0.5; with 8 bits of mantissa where `half`. */
static float *draw(int64_t n, uint64_t seed, bool half)
{
    float *x = g_new(float, n);
    const xlm_rng_key key = xlm_rng_make_key(seed, XLM_RNG_INITIALISE, 0);
    xlm_rng_block block = {{0}};
    for (int64_t i = 0; i < n; i++) {
        if (i % 4 == 0)
            block = xlm_rng_draw(key, (uint32_t)i, 0, 0, 0);
        x[i] = (float)block.v[i % 4] / 4294967296.0f - 0.5f;
        if (half)
            x[i] = (float)(int)(x[i] * 256) / 256;
    }
    return x;
}

typedef struct form {
    int64_t m, n, k;
    bool transpose_a, transpose_b, bias, add;
} form;

/* What products of a form are computed from, and what they are but for bias and earlier elements, which several forms share. */
typedef struct factors {
    float *a, *b, *bias, *before;
    double *sums, *sizes; /* m x n: op(A) op(B) in doubles, and sums of absolute values */
} factors;

/* Row i of op(A) op(B). rows: of op(B), k x n. */
static void multiply_row(const form *f, const float *a, const double *rows, int64_t i, double *sum, double *size)
{
    for (int64_t l = 0; l < f->k; l++) {
        const double factor = (double)a[f->transpose_a ? l * f->m + i : i * f->k + l];
#pragma omp simd
        for (int64_t j = 0; j < f->n; j++) {
            const double term = factor * rows[l * f->n + j];
            sum[j] += term;
            size[j] += fabs(term);
        }
    }
}

static factors make_factors(const form *f, bool half)
{
    const factors x = {draw(f->m * f->k, 1, half), draw(f->n * f->k, 2, half), draw(f->n, 3, false), draw(f->m * f->n, 4, false),
                       g_new0(double, f->m * f->n), g_new0(double, f->m * f->n)};
    double *rows = g_new(double, f->k * f->n);
    for (int64_t l = 0; l < f->k; l++)
        for (int64_t j = 0; j < f->n; j++)
            rows[l * f->n + j] = (double)x.b[f->transpose_b ? j * f->k + l : l * f->n + j];
    for (int64_t i = 0; i < f->m; i++)
        multiply_row(f, x.a, rows, i, x.sums + i * f->n, x.sizes + i * f->n);
    g_free(rows);
    return x;
}

static void free_factors(factors *x)
{
    float *const floats[] = {x->a, x->b, x->bias, x->before};
    for (size_t i = 0; i < G_N_ELEMENTS(floats); i++)
        g_free(floats[i]);
    g_free(x->sums);
    g_free(x->sizes);
}

/* C = op(A) op(B) + bias or + before. */
static void expect(const form *f, const factors *x, const float *c)
{
    for (int64_t e = 0; e < f->m * f->n; e++) {
        const double other = f->bias ? (double)x->bias[e % f->n] : f->add ? (double)x->before[e] : 0, wanted = x->sums[e] + other;
        if (!(fabs((double)c[e] - wanted) <= 1e-6 * (x->sizes[e] + fabs(other) + 1)))
            fail_msg("element %d, %d of %d x %d x %d%s%s: %g instead of %g", (int)(e / f->n), (int)(e % f->n), (int)f->m,
                     (int)f->n, (int)f->k, f->transpose_a ? ", A transposed" : "", f->transpose_b ? ", B transposed" : "",
                     (double)c[e], wanted);
    }
}

static void check_product(xlm_precision precision, const form *f, const factors *x, xlm_packed *packed)
{
    float *c = g_memdup2(x->before, sizeof *c * (size_t)(f->m * f->n));
    for (int64_t i = 0; !f->add && i < f->m * f->n; i++)
        c[i] = NAN; /* which is not read */
    const double flops = xlm_gemm_flops();
    xlm_packed_set(packed, precision, f->transpose_b, f->k, f->n, x->b);
    xlm_packed_multiply(packed, f->m, f->transpose_a, xlm_floats(x->a), f->bias ? x->bias : NULL, f->add, c);
    assert_true(xlm_gemm_flops() == flops + 2 * (double)(f->m * f->n * f->k));
    expect(f, x, c);
    g_free(c);
}

static uint16_t *halves_of(const float *x, int64_t n)
{
    uint16_t *halves = g_new(uint16_t, n);
    for (int64_t i = 0; i < n; i++)
        halves[i] = xlm_bfloat16_of(x[i]);
    return halves;
}

/* As halves, with zeros after k of them up to `depth`; transposed without. */
static uint16_t *padded_halves(const form *f, const float *a, int64_t depth)
{
    uint16_t *halves = g_new0(uint16_t, f->m * (f->transpose_a ? f->k : depth));
    for (int64_t i = 0; i < f->m; i++)
        for (int64_t l = 0; l < f->k; l++)
            halves[f->transpose_a ? l * f->m + i : i * depth + l] = xlm_bfloat16_of(a[f->transpose_a ? l * f->m + i : i * f->k + l]);
    return halves;
}

/* Sums of 16 rows of A, m x k, each. */
static void check_sums(int64_t m, int64_t k, const float *a, const float *sums)
{
    for (int64_t first = 0; first < m; first += XLM_PACKED_ROWS, sums += k)
        for (int64_t j = 0; j < k; j++) {
            double sum = 0, size = 0;
            for (int64_t i = first; i < MIN(m, first + XLM_PACKED_ROWS); i++) {
                sum += (double)a[i * k + j];
                size += fabs((double)a[i * k + j]);
            }
            if (fabs((double)sums[j] - sum) > 1e-6 * size)
                fail_msg("%d x %d: column %d of rows %d ...: %g, not %g", (int)m, (int)k, (int)j, (int)first, (double)sums[j],
                         sum);
        }
}

/* Factors that were rounded before, and filled up with zeros, give the bits of those that are rounded meanwhile, and Aᵀ as it
 * was rounded is handed out. */
static void check_rounded(const form *f, xlm_packed *packed)
{
    const int64_t m = f->m, n = f->n, k = f->k, depth = xlm_packed_depth(k), apart = m + 3;
    float *a = draw(m * k, 1, false), *b = draw(n * k, 2, false), *before = draw(m * n, 4, false);
    uint16_t *a_halves = halves_of(a, m * k), *b_halves = halves_of(b, n * k), *padded = padded_halves(f, a, depth);
    uint16_t *out = g_new0(uint16_t, k * apart);
    float *sums = g_new(float, (m + XLM_PACKED_ROWS - 1) / XLM_PACKED_ROWS * k);
    const size_t bytes = sizeof(float) * (size_t)(m * n);
    float *wanted = g_memdup2(before, bytes);
    xlm_packed_set(packed, XLM_BFLOAT16, false, k, n, b);
    xlm_packed_multiply(packed, m, f->transpose_a, xlm_floats(a), NULL, f->add, wanted);
    for (int way = 0; way < (f->transpose_a ? 3 : 5); way++) {
        float *c = g_memdup2(before, bytes);
        if (way == 1 || way == 2)
            xlm_packed_set_rows(packed, XLM_BFLOAT16, k, n, way == 1 ? xlm_floats(b) : xlm_rounded(b_halves));
        if (way >= 3) {
            xlm_packed_set(packed, XLM_BFLOAT16, false, k, n, b);
            memset(out, 0, sizeof *out * (size_t)(k * apart));
            xlm_packed_multiply_and_transpose(packed, m, way == 3 ? xlm_floats(a) : xlm_rounded(a_halves), f->add, c, out, apart,
                                              way == 3 ? sums : NULL);
            for (int64_t i = 0; i < k * apart; i++)
                assert_int_equal(out[i], i % apart < m ? a_halves[i % apart * k + i / apart] : 0);
        } else {
            xlm_packed_multiply(packed, m, f->transpose_a, xlm_rounded(way == 0 ? a_halves : padded), NULL, f->add, c);
        }
        if (memcmp(c, wanted, bytes) != 0)
            fail_msg("%d x %d x %d%s: other bits with rounded factors, %d", (int)m, (int)n, (int)k,
                     f->transpose_a ? ", A transposed" : "", way);
        g_free(c);
    }
    if (!f->transpose_a)
        check_sums(m, k, a, sums);
    g_free(sums);
    g_free(a);
    g_free(b);
    g_free(before);
    g_free(a_halves);
    g_free(b_halves);
    g_free(padded);
    g_free(out);
    g_free(wanted);
}

/* Rows of zeros below B, in float32: A with zeros in its last columns, or without where it is transposed. */
static void check_depth(const form *f, const factors *x, xlm_packed *packed)
{
    const int64_t m = f->m, n = f->n, k = f->k, depth = xlm_packed_depth(k);
    float *padded = g_new0(float, m * depth), *c = g_memdup2(x->before, sizeof *c * (size_t)(m * n));
    for (int64_t i = 0; i < m * k; i++)
        padded[f->transpose_a ? i : i / k * depth + i % k] = x->a[i];
    if (f->transpose_a)
        padded = g_renew(float, padded, m * k); /* a sanitizer finds reads beyond the end */
    xlm_packed_set_rows(packed, XLM_FLOAT32, k, n, xlm_floats(x->b));
    xlm_packed_multiply(packed, m, f->transpose_a, xlm_floats(padded), NULL, f->add, c);
    expect(f, x, c);
    g_free(padded);
    g_free(c);
}

/* In float32 the sums of columns alone are had besides. */
static void check_sums_of_floats(const form *f, xlm_packed *packed)
{
    const int64_t m = f->m, n = f->n, k = f->k;
    float *a = draw(m * k, 1, false), *b = draw(n * k, 2, false), *wanted = draw(m * n, 4, false);
    float *c = g_memdup2(wanted, sizeof *c * (size_t)(m * n));
    float *sums = g_new(float, (m + XLM_PACKED_ROWS - 1) / XLM_PACKED_ROWS * k);
    xlm_packed_set(packed, XLM_FLOAT32, false, k, n, b);
    xlm_packed_multiply(packed, m, false, xlm_floats(a), NULL, f->add, wanted);
    xlm_packed_multiply_and_transpose(packed, m, xlm_floats(a), f->add, c, NULL, 0, sums);
    assert_memory_equal(c, wanted, sizeof *c * (size_t)(m * n));
    check_sums(m, k, a, sums);
    g_free(a);
    g_free(b);
    g_free(wanted);
    g_free(c);
    g_free(sums);
}

static void check_products(xlm_precision precision)
{
    static const int64_t sizes[][3] = {{1, 1, 1}, {3, 5, 2}, {1, 800, 700}, {100, 70, 90}, {257, 129, 65}, {130, 4500, 24},
                                       {40, 8, 17000}, {150, 70, 16400}};
    xlm_packed *packed = xlm_packed_new(); /* for all, as its memory is used again */
    for (size_t s = 0; s < G_N_ELEMENTS(sizes); s++)
        for (int transposed = 0; transposed < 4; transposed++) {
            form f = {.m = sizes[s][0], .n = sizes[s][1], .k = sizes[s][2], .transpose_a = transposed & 1,
                      .transpose_b = transposed & 2};
            factors x = make_factors(&f, precision == XLM_BFLOAT16);
            for (int way = 0; way < 3; way++) {
                f.bias = way == 1, f.add = way == 2;
                check_product(precision, &f, &x, packed);
                if (precision == XLM_BFLOAT16 && !f.bias && !f.transpose_b)
                    check_rounded(&f, packed);
                if (precision == XLM_FLOAT32 && !f.bias && !f.transpose_b)
                    check_depth(&f, &x, packed);
                if (precision == XLM_FLOAT32 && !f.bias && !f.transpose_a && !f.transpose_b)
                    check_sums_of_floats(&f, packed);
            }
            free_factors(&x);
        }
    xlm_packed_free(packed);
}

static void products(void **state)
{
    (void)state;
    g_unsetenv("XLM_BF16_EMULATE");
    for (int precision = 0; precision < XLM_PRECISIONS; precision++)
        if (xlm_packed_lacks((xlm_precision)precision) == NULL)
            check_products((xlm_precision)precision);
}

static void emulated(void **state)
{
    (void)state;
    g_setenv("XLM_BF16_EMULATE", "1", TRUE);
    assert_null(xlm_packed_lacks(XLM_BFLOAT16));
    check_products(XLM_BFLOAT16);
    g_unsetenv("XLM_BF16_EMULATE");
}

static void check_rounding(void)
{
    static const struct { float from, to; } cases[] = {
        {1, 1}, {1 + 1.0f / 256, 1}, {1 + 3.0f / 256, 1 + 4.0f / 256}, {1 + 1.01f / 256, 1 + 2.0f / 256},
        {-3.14159265f, -3.140625f},
        {3.4e38f, INFINITY}, {INFINITY, INFINITY}, {-INFINITY, -INFINITY}, {0, 0}};
    xlm_packed *packed = xlm_packed_new();
    const float one = 1;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        for (int side = 0; side < 2; side++) {
            float c = 0;
            xlm_packed_set(packed, XLM_BFLOAT16, false, 1, 1, side == 0 ? &cases[i].from : &one);
            xlm_packed_multiply(packed, 1, false, xlm_floats(side == 0 ? &one : &cases[i].from), NULL, false, &c);
            if (c != cases[i].to)
                fail_msg("%.9g becomes %.9g instead of %.9g", (double)cases[i].from, (double)c, (double)cases[i].to);
        }
    float nothing = NAN, c = 0;
    xlm_packed_set(packed, XLM_BFLOAT16, false, 1, 1, &one);
    xlm_packed_multiply(packed, 1, false, xlm_floats(&nothing), NULL, false, &c);
    assert_true(isnan(c));
    xlm_packed_free(packed);
}

/* To nearest, and to even in the middle. */
static void rounding(void **state)
{
    (void)state;
    if (xlm_packed_lacks(XLM_BFLOAT16) == NULL)
        check_rounding();
    g_setenv("XLM_BF16_EMULATE", "1", TRUE);
    check_rounding();
    g_unsetenv("XLM_BF16_EMULATE");
}

/* A row of C, with its bits, depends neither on how many rows there are, nor on the number of threads. n x k: of parameters. */
static void rows_alone(void **state)
{
    (void)state;
    enum { MAX_ROWS = 700 };
    static const int64_t shapes[][2] = {{768, 768}, {3072, 768}, {768, 3072}, {128, 128}, {1000, 72}, {5000, 64}, {16, 20000}};
    static const int64_t rows[] = {MAX_ROWS, 300, 257, 256, 255, 130, 64, 65, 17, 16, 1};
    for (int precision = 0; precision < XLM_PRECISIONS; precision++)
        for (size_t s = 0; s < G_N_ELEMENTS(shapes); s++) {
            if (xlm_packed_lacks((xlm_precision)precision) != NULL)
                continue;
            const int64_t n = shapes[s][0], k = shapes[s][1];
            float *a = draw(MAX_ROWS * k, 5, false), *b = draw(n * k, 6, false);
            float *whole = g_new(float, MAX_ROWS * n), *c = g_new(float, MAX_ROWS * n);
            xlm_packed *packed = xlm_packed_new();
            xlm_packed_set(packed, (xlm_precision)precision, true, k, n, b);
            for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                omp_set_num_threads(1 + (int)i % 3);
                float *out = i == 0 ? whole : c;
                xlm_packed_multiply(packed, rows[i], false, xlm_floats(a), NULL, false, out);
                if (memcmp(out, whole, sizeof *c * (size_t)(rows[i] * n)) != 0)
                    fail_msg("%s, n %d, k %d: %d rows differ from the first of %d", xlm_precision_names[precision], (int)n,
                             (int)k, (int)rows[i], MAX_ROWS);
            }
            omp_set_num_threads(1);
            xlm_packed_free(packed);
            g_free(a);
            g_free(b);
            g_free(whole);
            g_free(c);
        }
}

/* Blocks hold every row once, and where there are enough for all, no thread has above a unit more than another. */
static void check_blocks(const xlm_packed *packed, int64_t m, int threads)
{
    const xlm_packed_blocks blocks = xlm_packed_divide(packed, m);
    assert_int_equal(xlm_packed_block_start(&blocks, 0), 0);
    assert_int_equal(xlm_packed_block_start(&blocks, blocks.count), m);
    int64_t max = 0, min = m;
    for (int64_t k = 0; k < blocks.count; k++) {
        const int64_t rows = xlm_packed_block_start(&blocks, k + 1) - xlm_packed_block_start(&blocks, k);
        assert_true(rows > 0 && rows <= XLM_PACKED_MAX_ROWS && xlm_packed_block_start(&blocks, k) % XLM_PACKED_ROWS == 0);
    }
    for (int t = 0; t < threads; t++) { /* as schedule(static) shares them out */
        const int64_t each = blocks.count / threads, more = blocks.count % threads, first = t * each + MIN(t, more);
        const int64_t end = first + each + (t < more);
        const int64_t rows = xlm_packed_block_start(&blocks, end) - xlm_packed_block_start(&blocks, first);
        max = MAX(max, rows);
        min = MIN(min, rows);
    }
    if (m >= threads * XLM_PACKED_ROWS && max - min > XLM_PACKED_ROWS)
        fail_msg("%d rows, %d threads: one has %d of them, another %d", (int)m, threads, (int)max, (int)min);
}

static void blocks_of_rows(void **state)
{
    (void)state;
    if (xlm_packed_lacks(XLM_FLOAT32) != NULL)
        return;
    const float one = 1;
    xlm_packed *packed = xlm_packed_new();
    xlm_packed_set(packed, XLM_FLOAT32, false, 1, 1, &one);
    for (int threads = 1; threads <= 5; threads++) {
        omp_set_num_threads(threads);
        for (int64_t m = 1; m < 2100; m += m < 200 ? 1 : 37)
            check_blocks(packed, m, threads);
    }
    omp_set_num_threads(1);
    xlm_packed_free(packed);
}

typedef struct collected {
    float *c;
    int64_t m, n;
    int wrong; /* blocks at other places than promised */
} collected;

static void collect(void *data, int64_t row, int64_t rows, int64_t column, int64_t cols, float *c)
{
    collected *all = data;
    const int64_t whole = xlm_packed_block_columns(all->n);
    if (column % whole != 0 || cols != MIN(whole, all->n - column) || row < 0 || row + rows > all->m) {
#pragma omp atomic
        all->wrong++;
        return;
    }
    for (int64_t i = 0; i < rows * cols; i++)
        all->c[(row + i / cols) * all->n + column + i % cols] += c[i]; /* from zero: each element comes once */
}

/* Blocks that are handed on hold the elements that are written otherwise. */
static void handed_on(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 1, 1}, {133, 5000, 64}, {20, 4096, 33}, {300, 70, 130}, {17, 4097, 16},
                                        {5, 40, 17000}};
    for (int round = 0; round < 3; round++) {
        const xlm_precision precision = round == 0 ? XLM_FLOAT32 : XLM_BFLOAT16;
        if (round == 2)
            g_setenv("XLM_BF16_EMULATE", "1", TRUE);
        for (size_t s = 0; s < G_N_ELEMENTS(shapes) && xlm_packed_lacks(precision) == NULL; s++) {
            const int64_t m = shapes[s][0], n = shapes[s][1], k = shapes[s][2];
            float *a = draw(m * k, 21, false), *b = draw(k * n, 22, false), *bias = draw(n, 23, false);
            float *wanted = g_new(float, m * n);
            xlm_packed *packed = xlm_packed_new();
            xlm_packed_set(packed, precision, true, k, n, b);
            xlm_packed_multiply(packed, m, false, xlm_floats(a), bias, false, wanted);
            for (int threads = 1; threads <= 3; threads++) {
                omp_set_num_threads(threads);
                collected all = {.c = g_new0(float, m * n), .m = m, .n = n};
                xlm_packed_multiply_blocks(packed, m, xlm_floats(a), bias, collect, &all);
                assert_int_equal(all.wrong, 0);
                for (int64_t i = 0; i < m * n; i++)
                    if (all.c[i] != wanted[i])
                        fail_msg("%d x %d x %d, %d threads: element %d is %g, not %g", (int)m, (int)n, (int)k, threads, (int)i,
                                 (double)all.c[i], (double)wanted[i]);
                g_free(all.c);
            }
            omp_set_num_threads(1);
            xlm_packed_free(packed);
            g_free(a);
            g_free(b);
            g_free(bias);
            g_free(wanted);
        }
    }
    g_unsetenv("XLM_BF16_EMULATE");
}

/* Memory of p that no number of a smaller matrix may come from: of one that is at least as large, and is no number throughout. */
static void spoil(xlm_packed *p, xlm_precision precision, int64_t k, int64_t n)
{
    float *nothing = g_new(float, k * n);
    for (int64_t i = 0; i < k * n; i++)
        nothing[i] = NAN;
    xlm_packed_set(p, precision, false, k, n, nothing);
    g_free(nothing);
}

/* k x n, on one to three threads. */
static void check_both(xlm_precision precision, int64_t k, int64_t n)
{
    enum { M = 20 };
    float *a = draw(M * MAX(k, n), 11, false), *b = draw(k * n, 12, false);
    float *wanted = g_new(float, M * MAX(k, n)), *c = g_new(float, M * MAX(k, n));
    for (int threads = 1; threads <= 3; threads++) {
        omp_set_num_threads(threads);
        xlm_packed *both[] = {xlm_packed_new(), xlm_packed_new()}, *one = xlm_packed_new();
        spoil(both[0], precision, k + 64, n + 64);
        spoil(both[1], precision, n + 64, k + 64);
        xlm_packed_set_both(both[1], both[0], precision, k, n, b);
        for (int transpose = 0; transpose < 2; transpose++) {
            const int64_t depth = transpose ? n : k, cols = transpose ? k : n;
            xlm_packed_set(one, precision, transpose, depth, cols, b);
            xlm_packed_multiply(one, M, false, xlm_floats(a), NULL, false, wanted);
            xlm_packed_multiply(both[transpose], M, false, xlm_floats(a), NULL, false, c);
            if (memcmp(c, wanted, sizeof *c * (size_t)(M * cols)) != 0)
                fail_msg("%s, %d x %d, %s, %d threads: others than when packed alone", xlm_precision_names[precision], (int)k,
                         (int)n, transpose ? "transposed" : "straight", threads);
        }
        xlm_packed_free(one);
        xlm_packed_free(both[0]);
        xlm_packed_free(both[1]);
    }
    omp_set_num_threads(1);
    g_free(a);
    g_free(b);
    g_free(wanted);
    g_free(c);
}

/* A matrix that is packed in both directions at once multiplies as one that is packed in each. */
/* Parts that are packed when they are multiplied give the bits of a matrix that is packed as a whole, also after another one. */
static void by_parts(void **state)
{
    (void)state;
    enum { ROWS = 19 };
    static const int64_t shapes[][2] = {{17001, 48}, {300, 70}, {40000, 33}, {16384, 5}, {16385, 5}};
    xlm_packed *parts = xlm_packed_new(), *whole = xlm_packed_new();
    for (int precision = 0; precision < XLM_PRECISIONS; precision++)
        for (size_t s = 0; s < G_N_ELEMENTS(shapes) && xlm_packed_lacks((xlm_precision)precision) == NULL; s++) {
            const int64_t k = shapes[s][0], n = shapes[s][1];
            float *a = draw(ROWS * k, 1, false), *b = draw(k * n, 2, false);
            float *c[2] = {g_new(float, ROWS * n), g_new(float, ROWS * n)};
            xlm_packed_set(whole, (xlm_precision)precision, false, k, n, b);
            xlm_packed_set_by_parts(parts, (xlm_precision)precision, k, n, b);
            for (int add = 0; add < 2; add++) {
                xlm_packed_multiply(whole, ROWS, false, xlm_floats(a), NULL, add, c[0]);
                xlm_packed_multiply(parts, ROWS, false, xlm_floats(a), NULL, add, c[1]);
                assert_memory_equal(c[1], c[0], sizeof(float) * (size_t)(ROWS * n));
            }
            g_free(a), g_free(b), g_free(c[0]), g_free(c[1]);
        }
    xlm_packed_free(parts);
    xlm_packed_free(whole);
}

static void both_directions(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{768, 256}, {64, 64}, {130, 70}, {71, 129}, {1, 1}, {33, 5000}, {5000, 33},
                                        {17001, 48}, {48, 17001}};
    for (int precision = 0; precision < XLM_PRECISIONS; precision++)
        for (size_t s = 0; s < G_N_ELEMENTS(shapes) && xlm_packed_lacks((xlm_precision)precision) == NULL; s++)
            check_both((xlm_precision)precision, shapes[s][0], shapes[s][1]);
}

/* Packing too: the same bits with any number of threads, also from inside of a parallel region. */
static void threads(void **state)
{
    (void)state;
    enum { M = 520, N = 900, K = 333 };
    float *a = draw(K * M, 7, false), *b = draw(K * N, 8, false), *before = draw(M * N, 9, false), *first = g_new(float, M * N);
    for (int precision = 0; precision < XLM_PRECISIONS; precision++) {
        if (xlm_packed_lacks((xlm_precision)precision) != NULL)
            continue;
        for (int n = 1; n <= 4; n++) {
            omp_set_num_threads(n);
            float *c = g_memdup2(before, sizeof *c * M * N);
            xlm_packed *packed = xlm_packed_new();
            xlm_packed_set(packed, (xlm_precision)precision, false, K, N, b);
            xlm_packed_multiply(packed, M, true, xlm_floats(a), NULL, true, c);
            if (n == 1)
                memcpy(first, c, sizeof *c * M * N);
            assert_memory_equal(c, first, sizeof *c * M * N);
            int different = 0;
#pragma omp parallel for reduction(+ : different)
            for (int i = 0; i < 3; i++) {
                float *own = g_memdup2(before, sizeof *c * M * N);
                xlm_packed_multiply(packed, M, true, xlm_floats(a), NULL, true, own);
                different += memcmp(own, first, sizeof *c * M * N) != 0;
                g_free(own);
            }
            assert_int_equal(different, 0);
            xlm_packed_free(packed);
            g_free(c);
        }
    }
    omp_set_num_threads(1);
    g_free(a);
    g_free(b);
    g_free(before);
    g_free(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(emulated), cmocka_unit_test(rounding),
                                       cmocka_unit_test(rows_alone), cmocka_unit_test(both_directions),
                                       cmocka_unit_test(blocks_of_rows), cmocka_unit_test(by_parts), cmocka_unit_test(handed_on),
                                       cmocka_unit_test(threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
