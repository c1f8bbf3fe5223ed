/* xlm-mpi: the tape, parameters, GEMM and operators in single precision. SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "gemm/gemm.h"
#include "tensor/parameters.h"
#include "tensor/variable.h"

static float number(uint32_t which, int64_t i)
{
    return (float)(2 * xlm_rng_unit(xlm_rng_draw((xlm_rng_key){{3, 4}}, (uint32_t)i, which, 0, 0).v[0]) - 1);
}

static float *numbers(uint32_t which, int64_t n)
{
    float *x = g_new(float, n);
    for (int64_t i = 0; i < n; i++)
        x[i] = number(which, i);
    return x;
}

static void near(double got, double wanted, double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance * fmax(1, fabs(wanted))))
        fail_msg("%.9g, not %.9g", got, wanted);
}

/* ---- parameters ---- */

static xlm_parameters *some_parameters(bool with_other)
{
    static const char *const stack[] = {"q", "k", "v"};
    xlm_parameters *p = xlm_parameters_new();
    if (with_other)
        xlm_parameters_add(p, "other", 3, 5, XLM_INIT_NORMAL, true);
    xlm_parameters_add(p, "table", 300, 101, XLM_INIT_NORMAL, true);
    xlm_parameters_add(p, "gamma", 1, 7, XLM_INIT_ONE, false);
    xlm_parameters_add_stack(p, 3, stack, 2, 3, XLM_INIT_NORMAL, true);
    xlm_parameters_add(p, "bias", 1, 1, XLM_INIT_ZERO, false);
    return p;
}

static void test_parameters_layout(void **state)
{
    (void)state;
    xlm_parameters *p = some_parameters(true);
    assert_int_equal(xlm_parameters_count(p), 7);
    assert_int_equal(xlm_parameters_elements(p), 15 + 30300 + 7 + 18 + 1);
    assert_int_equal(xlm_parameters_size(p), 16 + 30304 + 16 + 32 + 16);
    assert_int_equal(xlm_parameters_find(p, "gamma"), 2);
    assert_int_equal(xlm_parameters_find(p, "delta"), -1);
    xlm_parameters_seal(p);
    xlm_parameters_initialise(p, 1);
    const float *values = xlm_parameters_values(p);
    int64_t end = 0;
    for (int i = 0; i < 7; i++) {
        const xlm_parameter *q = xlm_parameters_get(p, i);
        assert_int_equal(xlm_parameters_find(p, q->name), i);
        if (i == 4 || i == 5)
            assert_int_equal(q->start, end);
        else
            assert_int_equal(q->start % 16, 0);
        for (; end < q->start; end++)
            assert_true(values[end] == 0);
        end = q->start + q->rows * q->cols;
    }
    assert_true((uintptr_t)values % 64 == 0);
    assert_true(values[xlm_parameters_get(p, 2)->start + 6] == 1 && values[xlm_parameters_get(p, 6)->start] == 0);
    xlm_parameters_free(p);
}

static void test_parameters_initialise(void **state)
{
    (void)state;
    xlm_parameters *p = some_parameters(true), *without = some_parameters(false);
    xlm_parameters_seal(p);
    xlm_parameters_seal(without);
    xlm_parameters_initialise(p, 1);
    omp_set_num_threads(3);
    xlm_parameters_initialise(without, 1);
    omp_set_num_threads(1);
    const int64_t n = 300 * 101;
    const float *table = xlm_parameters_values(p) + xlm_parameters_get(p, 1)->start;
    assert_memory_equal(table, xlm_parameters_values(without), sizeof(float) * (size_t)n);
    double sum = 0, squares = 0, product = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += table[i];
        squares += (double)table[i] * table[i];
        product += i > 0 ? (double)table[i] * table[i - 1] : 0;
    }
    /* Five standard deviations of mean, variance, covariance of neighbours. */
    assert_true(fabs(sum / (double)n) < 5 * 0.02 / sqrt((double)n));
    assert_true(fabs(squares / (double)n / 0.0004 - 1) < 5 * sqrt(2.0 / (double)n));
    assert_true(fabs(product / (double)n / 0.0004) < 5 / sqrt((double)n));
    xlm_parameters_initialise(p, 2);
    assert_memory_not_equal(table, xlm_parameters_values(without), sizeof(float) * (size_t)n);
    xlm_parameters_free(p);
    xlm_parameters_free(without);
}

/* ---- GEMM ---- */

struct product {
    int64_t m, n, k;
};
static const struct product products[] = {{1, 1, 1},    {7, 5, 3},      {33, 17, 65},   {1, 40, 9},     {40, 1, 9},
                                          {64, 48, 32}, {130, 258, 67}, {256, 96, 700}, {301, 203, 150}};

static void multiply(const struct product *p, bool ta, bool tb, double beta, float *c)
{
    const int64_t lda = (ta ? p->m : p->k) + 2, ldb = (tb ? p->k : p->n) + 1;
    float *a = numbers(1, lda * (ta ? p->k : p->m)), *b = numbers(2, ldb * (tb ? p->n : p->k));
    xlm_gemm(ta, tb, p->m, p->n, p->k, 0.5, a, lda, b, ldb, beta, c, p->n + 3);
    g_free(a);
    g_free(b);
}

static void check_product(const struct product *p, bool ta, bool tb, double beta)
{
    const int64_t lda = (ta ? p->m : p->k) + 2, ldb = (tb ? p->k : p->n) + 1, ldc = p->n + 3;
    float *a = numbers(1, lda * (ta ? p->k : p->m)), *b = numbers(2, ldb * (tb ? p->n : p->k)), *c = numbers(3, p->m * ldc);
    if (beta == 0)
        for (int64_t i = 0; i < p->m * ldc; i++)
            c[i] = NAN;
    multiply(p, ta, tb, beta, c);
    for (int64_t i = 0; i < p->m; i++) {
        for (int64_t j = 0; j < p->n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < p->k; l++)
                sum += (double)(ta ? a[l * lda + i] : a[i * lda + l]) * (tb ? b[j * ldb + l] : b[l * ldb + j]);
            near(c[i * ldc + j], 0.5 * sum + (beta == 0 ? 0 : beta * number(3, i * ldc + j)), 1e-5);
        }
        for (int64_t j = p->n; j < ldc; j++)
            assert_true(beta == 0 ? isnan(c[i * ldc + j]) : c[i * ldc + j] == number(3, i * ldc + j));
    }
    g_free(a);
    g_free(b);
    g_free(c);
}

static void test_gemm(void **state)
{
    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(products); k++)
        for (int form = 0; form < 12; form++)
            check_product(&products[k], form & 1, form & 2, (double[]){0, 1, -0.25}[form / 4]);
    /* Nothing to add up: C is multiplied by beta; nothing to write. */
    float c[] = {1, 2, 3, 4, 5, 6}, any[6] = {0};
    xlm_gemm(false, false, 2, 3, 0, 1, any, 1, any, 3, 1, c, 3);
    assert_true(c[0] == 1 && c[5] == 6);
    xlm_gemm(false, false, 2, 3, 0, 1, any, 1, any, 3, 0, c, 3);
    assert_true(c[0] == 0 && c[5] == 0);
    c[0] = 1;
    xlm_gemm(false, false, 0, 3, 2, 1, any, 2, any, 3, 0, c, 3);
    xlm_gemm(false, false, 2, 0, 2, 1, any, 2, any, 1, 0, c, 1);
    assert_true(c[0] == 1);
}

/* 1 to 7 threads and one of the threads of a parallel region: the same bits, and every product counted. */
static void test_gemm_threads(void **state)
{
    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(products); k++) {
        const struct product *p = &products[k];
        const size_t n = (size_t)(p->m * (p->n + 3));
        for (int form = 0; form < 4; form++) {
            float *one = g_new0(float, n);
            omp_set_num_threads(1);
            multiply(p, form & 1, form & 2, 0, one);
            for (int threads = 2; threads <= 7; threads++) {
                float *several = g_new0(float, n);
                omp_set_num_threads(threads);
                multiply(p, form & 1, form & 2, 0, several);
                assert_memory_equal(one, several, sizeof(float) * n);
                float *inside[7];
                const double before = xlm_gemm_flops();
#pragma omp parallel for schedule(static, 1)
                for (int t = 0; t < threads; t++) {
                    inside[t] = g_new0(float, n);
                    multiply(p, form & 1, form & 2, 0, inside[t]);
                }
                assert_true(xlm_gemm_flops() - before == (double)(2 * threads * p->m * p->n * p->k));
                for (int t = 0; t < threads; t++) {
                    assert_memory_equal(one, inside[t], sizeof(float) * n);
                    g_free(inside[t]);
                }
                g_free(several);
            }
            g_free(one);
        }
    }
    omp_set_num_threads(1);
}

/* ---- operators: answers by hand ---- */

static xlm_tape *empty_tape(bool training)
{
    static xlm_parameters *none;
    if (none == NULL) {
        none = xlm_parameters_new();
        xlm_parameters_seal(none);
    }
    xlm_tape *tape = xlm_tape_new(none);
    xlm_tape_begin(tape, NULL, training, 1, 1);
    return tape;
}

static void expect(const xlm_var *y, int64_t rows, int64_t cols, const float *wanted)
{
    assert_int_equal(y->rows, rows);
    assert_int_equal(y->cols, cols);
    assert_null(y->grad);
    for (int64_t i = 0; i < rows * cols; i++)
        near(y->value[i], wanted[i], 1e-6);
}

static void test_answers_by_hand(void **state)
{
    (void)state;
    xlm_tape *t = empty_tape(true);
    xlm_var *x = xlm_constant(t, 2, 3, (float[]){1, 2, 3, -1, 0, 1}), *y = xlm_constant(t, 2, 3, (float[]){2, 2, 2, 1, 1, -1});
    xlm_var *w = xlm_constant(t, 2, 3, (float[]){1, 0, 0, 1, 1, 1}), *b = xlm_constant(t, 1, 2, (float[]){10, 20});
    expect(xlm_linear(t, x, w, b), 2, 2, (float[]){11, 26, 9, 20});
    expect(xlm_linear(t, x, w, NULL), 2, 2, (float[]){1, 6, -1, 0});
    expect(xlm_add(t, x, y), 2, 3, (float[]){3, 4, 5, 0, 1, 0});
    expect(xlm_scale(t, x, -2), 2, 3, (float[]){-2, -4, -6, 2, 0, -2});
    expect(xlm_mean(t, x), 1, 1, (float[]){1});
    expect(xlm_rows(t, x, (int32_t[]){1, 1, 0}, 3), 3, 3, (float[]){-1, 0, 1, -1, 0, 1, 1, 2, 3});
    /* 12 / (√14 √12), −2 / (√2 √3) */
    expect(xlm_cosine(t, x, y), 2, 1, (float[]){0.9258201f, -0.8164966f});
    expect(xlm_gelu(t, x, NULL), 2, 3, (float[]){0.84134475f, 1.9544997f, 2.9959503f, -0.15865525f, 0, 0.84134475f});
    xlm_var *gamma = xlm_constant(t, 1, 3, (float[]){1, 2, 3}), *beta = xlm_constant(t, 1, 3, (float[]){0, 0, 5});
    /* Variance 2/3: (−1, 0, 1) √1.5 */
    expect(xlm_layer_norm(t, x, gamma, beta, 0), 2, 3, (float[]){-1.2247449f, 0, 8.6742346f, -1.2247449f, 0, 8.6742346f});
    xlm_var *shift = xlm_constant(t, 1, 3, (float[]){-2, -2, -2});
    /* Rows 1, 2, 3 and −2, −1, −2; the second of variance 2/9: (−1, 2, −1) / √2 */
    expect(xlm_residual_norm(t, x, y, shift, 0, gamma, beta, 0), 2, 3,
           (float[]){-1.2247449f, 0, 8.6742346f, -0.7071068f, 2.8284271f, 2.8786797f});
    xlm_var *const table[] = {x, y};
    const int32_t *const index[] = {(int32_t[]){1, 0}, (int32_t[]){1, 1}};
    expect(xlm_embedding_sum(t, 2, table, index, 2, NULL), 2, 3, (float[]){0, 1, 0, 2, 3, 2});
    const int32_t *const some[] = {(int32_t[]){-1, 0, -1}, (int32_t[]){1, -1, -1}};
    expect(xlm_embedding_sum(t, 2, table, some, 3, NULL), 3, 3, (float[]){1, 1, -1, 1, 2, 3, 0, 0, 0});
    xlm_tape_free(t);
}

/* ---- dropout ---- */

static void test_dropout_rate(void **state)
{
    (void)state;
    enum { ROWS = 200, COLS = 501, N = ROWS * COLS };
    xlm_tape *t = empty_tape(true);
    float *ones = g_new(float, N);
    for (int i = 0; i < N; i++)
        ones[i] = 1;
    xlm_var *x = xlm_constant(t, ROWS, COLS, ones);
    const double rates[] = {0.1, 0.5, 0.9};
    for (size_t k = 0; k < G_N_ELEMENTS(rates); k++) {
        const xlm_var *y = xlm_dropout(t, x, rates[k]);
        const double p = round(rates[k] * 65536) / 65536;
        int dropped = 0, neighbours = 0;
        for (int i = 0; i < N; i++) {
            assert_true(y->value[i] == 0 || y->value[i] == (float)(1 / (1 - p)));
            dropped += y->value[i] == 0;
            neighbours += i > 0 && y->value[i] == 0 && y->value[i - 1] == 0;
        }
        assert_true(fabs(dropped - N * p) < 5 * sqrt(N * p * (1 - p)));
        assert_true(fabs(neighbours - N * p * p) < 8 * sqrt(N * p * p * (1 - p * p)));
    }
    assert_ptr_equal(xlm_dropout(t, x, 0), x);
    assert_ptr_equal(xlm_dropout(t, x, 1e-6), x); /* rounds to 0 */
    xlm_tape_begin(t, NULL, false, 1, 1);
    x = xlm_constant(t, ROWS, COLS, ones);
    assert_ptr_equal(xlm_dropout(t, x, 0.5), x);
    g_free(ones);
    xlm_tape_free(t);
}

/* Rows `keys` of x through two dropouts. */
static const float *drop_twice(xlm_tape *t, uint64_t step, int n, const xlm_row_key *keys, int cols)
{
    xlm_tape_begin(t, NULL, true, 77, step);
    float *ones = g_new(float, n * cols);
    for (int i = 0; i < n * cols; i++)
        ones[i] = 1;
    xlm_var *x = xlm_constant(t, n, cols, ones);
    x->keys = keys;
    const xlm_var *y = xlm_dropout(t, xlm_gelu(t, xlm_dropout(t, x, 0.5), NULL), 0.25);
    assert_ptr_equal(y->keys, keys);
    g_free(ones);
    return y->value;
}

/* A row's draws depend on its key, not on its place or its neighbours. */
static void test_dropout_follows_tokens(void **state)
{
    (void)state;
    enum { COLS = 43 };
    const xlm_row_key keys[] = {{5, 0}, {5, 1}, {5, 2}, {9, 0}, {9, 1}}, other[] = {{9, 1}, {5, 2}};
    xlm_tape *t = empty_tape(true), *u = empty_tape(true);
    const float *all = drop_twice(t, 1, 5, keys, COLS), *two = drop_twice(u, 1, 2, other, COLS);
    const size_t row = sizeof(float) * COLS;
    assert_memory_equal(two, all + 4 * COLS, row);
    assert_memory_equal(two + COLS, all + 2 * COLS, row);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++)
            assert_memory_not_equal(all + i * COLS, all + j * COLS, row);
    const float *next_step = drop_twice(u, 2, 2, other, COLS);
    assert_memory_not_equal(next_step, all + 4 * COLS, row);
    /* Two calls on one tape are two places. */
    xlm_var *x = xlm_constant(t, 1, COLS, next_step);
    assert_memory_not_equal(xlm_dropout(t, x, 0.5)->value, xlm_dropout(t, x, 0.5)->value, row);
    xlm_tape_free(t);
    xlm_tape_free(u);
}

/* Keys travel with rows. */
static void test_keys(void **state)
{
    (void)state;
    const xlm_row_key keys[] = {{1, 0}, {1, 1}, {2, 0}};
    xlm_tape *t = empty_tape(true);
    xlm_var *table = xlm_constant(t, 3, 2, (float[6]){0}), *square = xlm_constant(t, 3, 2, (float[6]){0});
    const int32_t index[] = {2, 0, 1};
    const int32_t *const indices[] = {index};
    xlm_var *x = xlm_embedding_sum(t, 1, &table, indices, 3, keys);
    assert_ptr_equal(x->keys, keys);
    xlm_var *y = xlm_linear(t, xlm_scale(t, xlm_add(t, square, x), 2), square, NULL);
    assert_ptr_equal(y->keys, keys);
    const xlm_var *taken = xlm_rows(t, y, index, 3);
    for (int i = 0; i < 3; i++)
        assert_memory_equal(&taken->keys[i], &keys[index[i]], sizeof *keys);
    assert_null(xlm_linear(t, square, table, NULL)->keys);
    xlm_tape_free(t);
}

/* ---- threads, memory ---- */

enum { ROWS = 150, WIDTH = 129, INNER = 270, WORDS = 50, LAYERS = 6 };

static xlm_parameters *network_parameters(void)
{
    xlm_parameters *p = xlm_parameters_new();
    xlm_parameters_add(p, "words", WORDS, WIDTH, XLM_INIT_NORMAL, true);
    xlm_parameters_add(p, "up", INNER, WIDTH, XLM_INIT_NORMAL, true);
    xlm_parameters_add(p, "up_bias", 1, INNER, XLM_INIT_NORMAL, true);
    xlm_parameters_add(p, "down", WIDTH, INNER, XLM_INIT_NORMAL, true);
    xlm_parameters_add(p, "gamma", 1, WIDTH, XLM_INIT_ONE, true);
    xlm_parameters_add(p, "beta", 1, WIDTH, XLM_INIT_NORMAL, true);
    xlm_parameters_seal(p);
    xlm_parameters_initialise(p, 8);
    return p;
}

static float run_network(xlm_tape *t, float *gradient, int layers)
{
    xlm_tape_begin(t, gradient, true, 5, 6);
    int32_t index[ROWS];
    for (int i = 0; i < ROWS; i++)
        index[i] = i * i % WORDS;
    xlm_var *x = xlm_rows(t, xlm_param(t, "words"), index, ROWS), *first = x;
    for (int l = 0; l < layers; l++) {
        xlm_var *h = xlm_gelu(t, xlm_linear(t, x, xlm_param(t, "up"), NULL), xlm_param(t, "up_bias"));
        h = xlm_dropout(t, xlm_linear(t, h, xlm_param(t, "down"), NULL), 0.1);
        x = xlm_layer_norm(t, xlm_add(t, x, h), xlm_param(t, "gamma"), xlm_param(t, "beta"), 1e-5);
    }
    xlm_var *loss = xlm_mean(t, xlm_cosine(t, x, xlm_rows(t, first, index, ROWS)));
    if (gradient != NULL) {
        xlm_tape_seed(t, loss, 1);
        xlm_tape_backward(t);
    }
    return *loss->value;
}

/* The first contribution to a parameter's gradient is assigned, whatever was there before; the rest and the gaps become zeros. */
static void test_first_gradient_is_assigned(void **state)
{
    (void)state;
    xlm_parameters *p = network_parameters();
    xlm_tape *t = xlm_tape_new(p);
    const size_t n = (size_t)xlm_parameters_size(p);
    for (int layers = 0; layers <= LAYERS; layers += LAYERS) /* without layers, "words" alone has a gradient */
        for (int passes = 0; passes <= 2; passes++) {
            float *wanted = g_new0(float, n), *got = g_new(float, n);
            for (size_t i = 0; i < n; i++)
                got[i] = NAN;
            for (int pass = 0; pass < passes; pass++)
                run_network(t, wanted, layers);
            xlm_tape_clear(t, got);
            for (int pass = 0; pass < passes; pass++)
                run_network(t, got, layers);
            xlm_tape_clear_untouched(t, 0);
            for (size_t i = 0; i < n; i++)
                assert_true(got[i] == wanted[i]);
            run_network(t, wanted, layers);
            run_network(t, got, layers);
            for (size_t i = 0; i < n; i++)
                assert_true(got[i] == wanted[i]);
            g_free(wanted);
            g_free(got);
        }
    xlm_tape_free(t);
    xlm_parameters_free(p);
}

/* The same where a part of a stack has values already, and cleared in two parts, from the end. */
static void test_first_gradient_of_a_stack(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "c"};
    xlm_parameters *p = xlm_parameters_new();
    xlm_parameters_add(p, "before", 1, 3, XLM_INIT_ONE, true);
    xlm_parameters_add_stack(p, 3, names, 2, 16, XLM_INIT_ONE, true);
    xlm_parameters_add(p, "after", 1, 16, XLM_INIT_ONE, true);
    xlm_parameters_seal(p);
    xlm_parameters_initialise(p, 1);
    const int64_t n = xlm_parameters_size(p);
    float *gradient = g_new(float, n);
    xlm_tape *t = xlm_tape_new(p);
    for (int64_t i = 0; i < n; i++)
        gradient[i] = NAN;
    xlm_tape_clear(t, gradient);
    xlm_tape_begin(t, gradient, true, 1, 1);
    /* In the backward pass the gradient of "b" comes first, then that of all three. */
    xlm_tape_seed(t, xlm_mean(t, xlm_param_stack(t, "a", 3)), 96);
    xlm_tape_seed(t, xlm_mean(t, xlm_param(t, "b")), 32);
    xlm_tape_backward(t);
    xlm_tape_clear_untouched(t, xlm_parameters_get(p, 4)->start);
    const int64_t stack = xlm_parameters_get(p, 1)->start;
    assert_true(gradient[n - 1] == 0 && isnan(gradient[0]));
    for (int i = 0; i < 96; i++)
        assert_true(gradient[stack + i] == (i / 32 == 1 ? 2 : 1));
    xlm_tape_clear_untouched(t, 0);
    for (int64_t i = 0; i < stack; i++)
        assert_true(gradient[i] == 0);
    g_free(gradient);
    xlm_tape_free(t);
    xlm_parameters_free(p);
}

/* A callback may stop where a parameter ends: the gap after it, like that after the last one, is zeros then. */
static void test_gaps_are_cleared(void **state)
{
    (void)state;
    xlm_parameters *p = xlm_parameters_new();
    xlm_parameters_add(p, "before", 1, 3, XLM_INIT_ONE, true);
    xlm_parameters_add(p, "after", 1, 5, XLM_INIT_ONE, true);
    xlm_parameters_seal(p);
    xlm_parameters_initialise(p, 1);
    const int64_t n = xlm_parameters_size(p), after = xlm_parameters_get(p, 1)->start;
    assert_true(after > 3 && n > after + 5);
    float *gradient = g_new(float, n);
    xlm_tape *t = xlm_tape_new(p);
    for (int64_t from = after + 5; from >= 3; from -= after + 5 - 3) {
        for (int64_t i = 0; i < n; i++)
            gradient[i] = NAN;
        xlm_tape_clear(t, gradient);
        xlm_tape_clear_untouched(t, from);
        for (int64_t i = 0; i < 3; i++)
            assert_true(isnan(gradient[i]));
        for (int64_t i = from; i < n; i++)
            assert_true(gradient[i] == 0);
    }
    g_free(gradient);
    xlm_tape_free(t);
    xlm_parameters_free(p);
}

static void test_threads_make_the_same_bits(void **state)
{
    (void)state;
    xlm_parameters *p = network_parameters();
    xlm_tape *t = xlm_tape_new(p);
    const size_t n = (size_t)xlm_parameters_size(p);
    float *one = g_new0(float, n);
    omp_set_num_threads(1);
    const float loss = run_network(t, one, LAYERS);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += fabs((double)one[i]);
    assert_true(sum > 0);
    for (int threads = 1; threads <= 3; threads++) {
        float *several = g_new0(float, n);
        omp_set_num_threads(threads);
        assert_true(run_network(t, several, LAYERS) == loss);
        assert_memory_equal(one, several, sizeof(float) * n);
        /* Gradients add up. */
        run_network(t, several, LAYERS);
        for (size_t i = 0; i < n; i++)
            near(several[i], 2 * one[i], 1e-5);
        g_free(several);
    }
    omp_set_num_threads(1);
    g_free(one);
    xlm_tape_free(t);
    xlm_parameters_free(p);
}

/* Gradients of a layer's variables use the memory of the layer before: they do not add up over layers. */
static void test_memory(void **state)
{
    (void)state;
    xlm_parameters *p = network_parameters();
    xlm_tape *t = xlm_tape_new(p), *forward = xlm_tape_new(p);
    float *gradient = g_new0(float, xlm_parameters_size(p));
    run_network(t, gradient, LAYERS);
    run_network(forward, NULL, LAYERS);
    const uint64_t peak = xlm_tape_peak_bytes(t);
    const uint64_t gradients = 4 * sizeof(float) * ROWS * (INNER + WIDTH);
    assert_true(peak > xlm_tape_peak_bytes(forward) && peak < xlm_tape_peak_bytes(forward) + gradients);
    for (int pass = 0; pass < 3; pass++)
        run_network(t, gradient, LAYERS);
    assert_int_equal(xlm_tape_peak_bytes(t), peak);
    g_free(gradient);
    xlm_tape_free(t);
    xlm_tape_free(forward);
    xlm_parameters_free(p);
}

/* ---- mistakes of the caller end the program ---- */

static void unknown_parameter(xlm_tape *t) { xlm_param(t, "nobody"); }

static void wrong_linear(xlm_tape *t)
{
    xlm_linear(t, xlm_constant(t, 1, 2, (float[2]){0}), xlm_constant(t, 1, 3, (float[3]){0}), NULL);
}

static void wrong_add(xlm_tape *t)
{
    xlm_add(t, xlm_constant(t, 1, 2, (float[2]){0}), xlm_constant(t, 2, 1, (float[2]){0}));
}

static void wrong_gelu(xlm_tape *t)
{
    xlm_gelu(t, xlm_constant(t, 2, 2, (float[4]){0}), xlm_constant(t, 2, 2, (float[4]){0}));
}

static void wrong_residual_norm(xlm_tape *t)
{
    xlm_var *row = xlm_constant(t, 1, 2, (float[2]){0});
    xlm_residual_norm(t, xlm_constant(t, 2, 2, (float[4]){0}), row, NULL, 0.1, row, row, 1e-5);
}

static void wrong_residual_norm_bias(xlm_tape *t)
{
    xlm_var *x = xlm_constant(t, 2, 2, (float[4]){0}), *row = xlm_constant(t, 1, 2, (float[2]){0});
    xlm_residual_norm(t, x, x, x, 0.1, row, row, 1e-5);
}

/* A value that another operator has taken over. */
static void taken_value(xlm_tape *t)
{
    xlm_var *x = xlm_constant(t, 2, 2, (float[4]){0}), *row = xlm_constant(t, 1, 2, (float[2]){0});
    xlm_var *z = xlm_linear(t, x, x, NULL);
    xlm_residual_norm(t, x, z, NULL, 0.1, row, row, 1e-5);
    xlm_scale(t, z, 2);
}

static void wrong_index(xlm_tape *t) { xlm_rows(t, xlm_constant(t, 2, 1, (float[2]){0}), (int32_t[]){0, 2}, 2); }
static void wrong_rate(xlm_tape *t) { xlm_dropout(t, xlm_constant(t, 1, 1, (float[1]){0}), 1); }

/* Variables of parameters and of other operators cannot be written, and gradients are those of inputs. */
static xlm_var *parameter(xlm_tape **t)
{
    xlm_parameters *p = network_parameters();
    *t = xlm_tape_new(p);
    xlm_tape_begin(*t, g_new0(float, xlm_parameters_size(p)), true, 5, 6);
    return xlm_param(*t, "beta"); /* 1 x WIDTH */
}

static void written_parameter(xlm_tape *t) { xlm_var_write(parameter(&t), 0, 1, (float[WIDTH]){0}); }

static void written_result(xlm_tape *t)
{
    xlm_var *x = parameter(&t);
    xlm_var_write(xlm_scale(t, x, 2), 0, 1, (float[WIDTH]){0});
}

static void add_to_other(void *x) { xlm_var_input_gradient(x)[0] += 1; }

static void other_input(xlm_tape *t)
{
    xlm_var *x = parameter(&t), *other = xlm_scale(t, x, 3);
    xlm_var *y = xlm_operator(t, 1, 1, 1, &x, add_to_other, other);
    xlm_var_write(y, 0, 1, (float[1]){0});
    xlm_tape_seed(t, y, 1);
    xlm_tape_backward(t);
}

/* Variables of another tape, and of an earlier pass of the same one, are not inputs, of operators of plugins neither. */
static void other_tape(xlm_tape *t)
{
    xlm_tape *other;
    xlm_var *x = parameter(&other);
    xlm_operator(t, 1, 1, 1, &x, add_to_other, x);
}

static void earlier_pass(xlm_tape *t)
{
    xlm_var *x = xlm_constant(t, 1, 1, (float[1]){0});
    xlm_tape_begin(t, NULL, true, 1, 2);
    xlm_scale(t, x, 2);
}

static void test_mistakes(void **state)
{
    (void)state;
    void (*const mistake[])(xlm_tape *) = {unknown_parameter, wrong_linear, wrong_add, wrong_gelu,
                                             wrong_residual_norm, wrong_residual_norm_bias, taken_value, wrong_index, wrong_rate,
                                             written_parameter, written_result, other_input, other_tape, earlier_pass};
    for (size_t k = 0; k < G_N_ELEMENTS(mistake); k++) {
        const pid_t child = fork();
        if (child == 0) {
            signal(SIGTRAP, SIG_DFL);
            signal(SIGABRT, SIG_DFL);
            close(STDERR_FILENO);
            mistake[k](empty_tape(true));
            _exit(0);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && (WTERMSIG(status) == SIGTRAP || WTERMSIG(status) == SIGABRT));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_parameters_layout),
        cmocka_unit_test(test_parameters_initialise),
        cmocka_unit_test(test_gemm),
        cmocka_unit_test(test_gemm_threads),
        cmocka_unit_test(test_answers_by_hand),
        cmocka_unit_test(test_dropout_rate),
        cmocka_unit_test(test_dropout_follows_tokens),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_first_gradient_is_assigned),
        cmocka_unit_test(test_first_gradient_of_a_stack),
        cmocka_unit_test(test_gaps_are_cleared),
        cmocka_unit_test(test_threads_make_the_same_bits),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
