/* xlm-mpi: kernels of every instruction set against plain loops in double precision. SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel_rows_fixture.h"

static void check_elementwise(const xlm_kernels *kernel, int64_t n)
{
    float *a = numbers(1, n), *b = numbers(2, n), y[MAX_SIZE + GUARD];
    for (int sum = 0; sum < 2; sum++) {
        const double before = sum ? 0.5 : 0;
        start_output(y, 0.5f);
        kernel->scale(n, 1.25f, a, y, sum);
        for (int64_t i = 0; i < n; i++)
            expect(kernel, "scale", n, y[i], before + 1.25 * a[i]);
        expect_untouched(kernel, "scale", n, y, 0.5f);
        start_output(y, 0.5f);
        kernel->fill(n, 1.25f, y, sum);
        for (int64_t i = 0; i < n; i++)
            expect(kernel, "fill", n, y[i], before + 1.25);
        expect_untouched(kernel, "fill", n, y, 0.5f);
        start_output(y, 0.5f);
        kernel->multiply(n, a, b, y, sum);
        for (int64_t i = 0; i < n; i++)
            expect(kernel, "multiply", n, y[i], before + (double)a[i] * b[i]);
        expect_untouched(kernel, "multiply", n, y, 0.5f);
    }
    start_output(y, 0.5f);
    kernel->add(n, a, b, y);
    for (int64_t i = 0; i < n; i++)
        expect(kernel, "add", n, y[i], (double)a[i] + b[i]);
    expect_untouched(kernel, "add", n, y, 0.5f);
    g_free(a);
    g_free(b);
}

static void check_reductions(const xlm_kernels *kernel, int64_t n)
{
    float *a = numbers(3, n), *b = numbers(4, n), y[MAX_SIZE + GUARD];
    double sum = 0, dot = 0, largest = a[0], exponentials = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += a[i];
        dot += (double)a[i] * b[i];
        largest = fmax(largest, a[i]);
    }
    expect(kernel, "sum", n, kernel->sum(n, a), sum);
    double squares = 0;
    for (int64_t i = 0; i < n; i++)
        squares += (double)a[i] * (double)a[i];
    const double found = kernel->sum_of_squares(n, a), portable = xlm_kernels_find("portable")->sum_of_squares(n, a);
    if (fabs(found - squares) > 1e-14 * squares || found != portable)
        fail_msg("%s sum_of_squares, n = %d: %.17g, %.17g in the portable table, wanted %.17g", kernel->name, (int)n, found,
                 portable, squares);
    expect(kernel, "dot", n, kernel->dot(n, a, b), dot);
    assert_true(kernel->maximum(n, a) == (float)largest);
    start_output(y, 0.5f);
    const double total = kernel->exp_sum(n, a, (float)largest, y);
    for (int64_t i = 0; i < n; i++) {
        expect(kernel, "exp_sum", n, y[i], exp((double)a[i] - (float)largest));
        exponentials += exp((double)a[i] - (float)largest);
    }
    expect(kernel, "exp_sum", n, total, exponentials);
    assert_true(kernel->exp_sum(n, a, (float)largest, NULL) == total);
    expect_untouched(kernel, "exp_sum", n, y, 0.5f);
    /* All below zero: lanes past the end must not count as zeros. */
    for (int64_t i = 0; i < n; i++)
        a[i] = -3 - (float)i;
    assert_true(kernel->maximum(n, a) == -3);
    g_free(a);
    g_free(b);
}

/* Two heads of w numbers; three rows of four, not in order; floats, and the same numbers as bfloat16. */
static void check_cached_rows(const xlm_kernels *kernel, int64_t w)
{
    enum { HEADS = 2, N = 3, ROWS = 4 };
    static const int32_t rows[N] = {2, 0, 3};
    const int64_t d = HEADS * w;
    float *q = numbers(30, d), *x = numbers(31, ROWS * d), *weights = numbers(32, HEADS * N), p[HEADS * N], y[MAX_SIZE + GUARD];
    uint16_t *rounded = g_new(uint16_t, ROWS * d);
    kernel->to_bfloat16(ROWS * d, x, rounded);
    kernel->scale_bfloat16(ROWS * d, 1, rounded, x);
    for (int from_rounded = 0; from_rounded < 2; from_rounded++) {
        if (from_rounded)
            kernel->dot_rows_bfloat16(N, rows, HEADS, w, q, rounded, p);
        else
            kernel->dot_rows(N, rows, HEADS, w, q, x, p);
        for (int h = 0; h < HEADS; h++)
            for (int j = 0; j < N; j++) {
                double dot = 0;
                for (int64_t i = h * w; i < h * w + w; i++)
                    dot += (double)q[i] * x[rows[j] * d + i];
                expect(kernel, "dot_rows", w, p[h * N + j], dot);
            }
        start_output(y, 0.5f);
        if (from_rounded)
            kernel->sum_rows_bfloat16(N, rows, HEADS, w, weights, rounded, y);
        else
            kernel->sum_rows(N, rows, HEADS, w, weights, x, y);
        for (int64_t i = 0; i < d; i++) {
            double sum = 0;
            for (int j = 0; j < N; j++)
                sum += (double)weights[i / w * N + j] * x[rows[j] * d + i];
            expect(kernel, "sum_rows", w, y[i], sum);
        }
        expect_untouched(kernel, "sum_rows", d, y, 0.5f);
    }
    g_free(q);
    g_free(x);
    g_free(weights);
    g_free(rounded);
}

static void check_column_sums(const xlm_kernels *kernel, int64_t cols)
{
    enum { ROWS = 5 };
    const int64_t stride = cols + 3;
    float *x = numbers(5, ROWS * stride), y[MAX_SIZE + GUARD];
    start_output(y, 0.5f);
    kernel->column_sums(ROWS, cols, x, stride, y);
    for (int64_t c = 0; c < cols; c++) {
        double sum = 0.5;
        for (int r = 0; r < ROWS; r++)
            sum += x[r * stride + c];
        expect(kernel, "column_sums", cols, y[c], sum);
    }
    expect_untouched(kernel, "column_sums", cols, y, 0.5f);
    g_free(x);
}

static void check_copy_past(const xlm_kernels *kernel, int64_t n)
{
    float *x = numbers(14, n + 1);
    _Alignas(64) float y[MAX_SIZE + GUARD];
    start_output(y, 0.5f);
    kernel->copy_past(n, x + 1, y); /* x at any place */
    for (int64_t i = 0; i < n; i++)
        assert_true(y[i] == x[i + 1]);
    expect_untouched(kernel, "copy_past", n, y, 0.5f);
    g_free(x);
}

static void check_layer_norm(const xlm_kernels *kernel, int64_t n)
{
    float *x = numbers(8, n), *gamma = numbers(9, n), *beta = numbers(10, n), *dy = numbers(11, n), y[MAX_SIZE + GUARD], stats[2];
    double mean = 0, variance = 0, sum_g = 0, sum_gs = 0, s[MAX_SIZE];
    for (int64_t i = 0; i < n; i++)
        mean += (x[i] += 3) / (double)n;
    for (int64_t i = 0; i < n; i++)
        variance += (x[i] - mean) * (x[i] - mean) / (double)n;
    const double inverse = 1 / sqrt(variance + 0.01);
    start_output(y, 0.5f);
    kernel->layer_norm(n, x, gamma, beta, 0.01f, y, stats);
    expect(kernel, "layer_norm mean", n, stats[0], mean);
    expect(kernel, "layer_norm deviation", n, stats[1], inverse);
    for (int64_t i = 0; i < n; i++) {
        s[i] = (x[i] - mean) * inverse;
        expect(kernel, "layer_norm", n, y[i], s[i] * gamma[i] + beta[i]);
        sum_g += gamma[i] * dy[i];
        sum_gs += gamma[i] * dy[i] * s[i];
    }
    expect_untouched(kernel, "layer_norm", n, y, 0.5f);
    for (int sum = 0; sum < 2; sum++) {
        float dgamma[MAX_SIZE + GUARD], dbeta[MAX_SIZE + GUARD];
        start_output(y, 0.5f);
        start_output(dgamma, 0.25f);
        start_output(dbeta, 0.125f);
        kernel->layer_norm_back(n, x, gamma, stats, dy, y, sum, dgamma, dbeta);
        for (int64_t i = 0; i < n; i++) {
            const double dx = inverse * (gamma[i] * dy[i] - sum_g / (double)n - s[i] * sum_gs / (double)n);
            expect(kernel, "layer_norm_back", n, y[i], (sum ? 0.5 : 0) + dx);
            expect(kernel, "layer_norm_back gamma", n, dgamma[i], 0.25 + dy[i] * s[i]);
            expect(kernel, "layer_norm_back beta", n, dbeta[i], 0.125 + dy[i]);
        }
        expect_untouched(kernel, "layer_norm_back", n, y, 0.5f);
        expect_untouched(kernel, "layer_norm_back gamma", n, dgamma, 0.25f);
        expect_untouched(kernel, "layer_norm_back beta", n, dbeta, 0.125f);
    }
    g_free(x);
    g_free(gamma);
    g_free(beta);
    g_free(dy);
}

static void check_keep(const xlm_kernels *kernel, int64_t n)
{
    float *x = numbers(12, n), y[MAX_SIZE + GUARD];
    uint8_t *bits = g_new(uint8_t, (n + 7) / 8);
    for (int64_t i = 0; i < (n + 7) / 8; i++)
        bits[i] = (uint8_t)(i * 37 + 0x59);
    for (int sum = 0; sum < 2; sum++) {
        start_output(y, 0.5f);
        kernel->keep(n, x, bits, 1.5f, y, sum);
        for (int64_t i = 0; i < n; i++)
            expect(kernel, "keep", n, y[i], (sum ? 0.5 : 0) + (bits[i / 8] >> i % 8 & 1 ? 1.5 * x[i] : 0));
        expect_untouched(kernel, "keep", n, y, 0.5f);
    }
    g_free(x);
    g_free(bits);
}

/* One row: with or without bias, with or without bits, in place or not. */
static void check_residual(const xlm_kernels *kernel, int64_t n, bool with_bias, const uint8_t *bits)
{
    float *x = numbers(14, n), *z = numbers(15, n), *b = numbers(16, n), y[MAX_SIZE + GUARD];
    for (int in_place = 0; in_place <= 1; in_place++) {
        start_output(y, 0.5f);
        if (in_place)
            memcpy(y, z, sizeof(float) * (size_t)n);
        kernel->residual(n, x, in_place ? y : z, with_bias ? b : NULL, bits, 1.5f, y);
        for (int64_t i = 0; i < n; i++) {
            const double sum = (double)z[i] + (with_bias ? b[i] : 0);
            expect(kernel, "residual", n, y[i], x[i] + (bits == NULL ? sum : bits[i / 8] >> i % 8 & 1 ? 1.5 * sum : 0));
        }
        expect_untouched(kernel, "residual", n, y, 0.5f);
    }
    g_free(x);
    g_free(z);
    g_free(b);
}

/* dz wanted, to be added to, in place of ds, or not wanted; the bias's gradient wanted or not. */
static void check_residual_back(const xlm_kernels *kernel, int64_t n, const uint8_t *bits)
{
    enum { ASSIGN, ADD, IN_PLACE, NONE, FORMS };
    float *ds = numbers(17, n), dz[MAX_SIZE + GUARD], dbias[MAX_SIZE + GUARD];
    for (int form = 0; form < 2 * FORMS; form++) {
        const int way = form % FORMS;
        start_output(dz, 0.5f);
        start_output(dbias, 0.25f);
        if (way == IN_PLACE)
            memcpy(dz, ds, sizeof(float) * (size_t)n);
        kernel->residual_back(n, way == IN_PLACE ? dz : ds, bits, 1.5f, way != NONE ? dz : NULL, way == ADD,
                              form < FORMS ? dbias : NULL);
        for (int64_t i = 0; i < n; i++) {
            const double d = bits == NULL ? ds[i] : bits[i / 8] >> i % 8 & 1 ? 1.5 * ds[i] : 0;
            expect(kernel, "residual_back", n, dz[i], way == NONE ? 0.5 : way == ADD ? 0.5 + d : d);
            expect(kernel, "residual_back bias", n, dbias[i], form < FORMS ? 0.25 + d : 0.25);
        }
        expect_untouched(kernel, "residual_back", n, dz, 0.5f);
        expect_untouched(kernel, "residual_back bias", n, dbias, 0.25f);
    }
    g_free(ds);
}

static void check_residuals(const xlm_kernels *kernel, int64_t n)
{
    uint8_t *bits = g_new(uint8_t, (n + 7) / 8);
    for (int64_t i = 0; i < (n + 7) / 8; i++)
        bits[i] = (uint8_t)(i * 53 + 0xa6);
    for (int form = 0; form < 4; form++)
        check_residual(kernel, n, form & 1, form & 2 ? bits : NULL);
    check_residual_back(kernel, n, bits);
    check_residual_back(kernel, n, NULL);
    g_free(bits);
}

static void check(const xlm_kernels *kernel, int64_t n)
{
    check_elementwise(kernel, n);
    check_reductions(kernel, n);
    if (2 * n <= MAX_SIZE)
        check_cached_rows(kernel, n);
    check_column_sums(kernel, n);
    check_copy_past(kernel, n);
    check_layer_norm(kernel, n);
    check_keep(kernel, n);
    check_residuals(kernel, n);
}

static void test_against_loops(void **state)
{
    (void)state;
    with_all_kernels(check, NULL);
    assert_null(xlm_kernels_find("none of these"));
    assert_non_null(xlm_kernels_get());
}

/* The decisions are those of xlm_rng_draw, whatever the instruction set: by definition, from the words of each block. */
static void test_same_bits_everywhere(void **state)
{
    (void)state;
    const xlm_rng_key key = xlm_rng_make_key(3, XLM_RNG_DROPOUT, 9);
    static const uint32_t thresholds[] = {0, 1, 6554, 32768, 65535}, starts[] = {0, 5, 0xfffffffdu};
    for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
        const xlm_kernels *kernel = xlm_kernels_find(names[k]);
        for (int64_t draws = 1; kernel != NULL && draws <= 33; draws++) {
            const uint32_t threshold = thresholds[draws % 5], start = starts[draws % 3];
            uint8_t *bits = g_new(uint8_t, draws);
            kernel->keep_bits(key, start, 11, 0xfffffff0u, 13, draws, threshold, bits);
            for (int64_t i = 0; i < draws; i++) {
                const xlm_rng_block b = xlm_rng_draw(key, start + (uint32_t)i, 11, 0xfffffff0u, 13);
                for (int j = 0; j < 8; j++) {
                    const uint32_t sixteen = j % 2 == 0 ? b.v[j / 2] & 0xffff : b.v[j / 2] >> 16;
                    assert_int_equal(bits[i] >> j & 1, sixteen >= threshold);
                }
            }
            g_free(bits);
        }
    }
}

/* A word with a logit of 0, and 250,001 others that add up to a hundredth: each is less than half of the last digit of 1. */
static void test_many_small_exponentials_beside_a_large_one(void **state)
{
    (void)state;
    enum { WORDS = 250002 };
    float *x = g_new(float, WORDS);
    for (int64_t i = 0; i < WORDS; i++)
        x[i] = -17;
    x[5] = 0;
    const double wanted = 1 + (WORDS - 1) * exp(-17);
    for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
        const xlm_kernels *kernel = xlm_kernels_find(names[k]);
        if (kernel == NULL)
            continue;
        const double sums[] = {kernel->exp_sum(WORDS, x, 0, NULL), kernel->exp_sum_bfloat16(WORDS, x, 0, NULL)};
        for (size_t i = 0; i < G_N_ELEMENTS(sums); i++)
            if (fabs(sums[i] - wanted) > 1e-4)
                fail_msg("%s: the sum is %.9f, wanted %.9f", kernel->name, sums[i], wanted);
    }
    g_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_loops),
        cmocka_unit_test(test_same_bits_everywhere),
        cmocka_unit_test(test_many_small_exponentials_beside_a_large_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
