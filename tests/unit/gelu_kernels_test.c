/* xlm-mpi: both forms of GELU and their slopes against plain loops in double precision. SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel_rows_fixture.h"

/* The two forms of GELU: Φ, or its approximation, and its derivative. */
static double normal(double u) { return 0.5 * erfc(-u * M_SQRT1_2); }

static double normal_density(double u) { return exp(-0.5 * u * u) / sqrt(2 * M_PI); }

static double tanh_argument(double u) { return sqrt(2 / M_PI) * (u + 0.044715 * u * u * u); }

static double tanh_normal(double u) { return 0.5 * (1 + tanh(tanh_argument(u))); }

static double tanh_density(double u)
{
    const double t = tanh(tanh_argument(u));
    return 0.5 * (1 - t * t) * sqrt(2 / M_PI) * (1 + 3 * 0.044715 * u * u);
}

typedef struct gelu_form {
    const char *name, *back_name;
    void (*forward)(int64_t n, const float *x, const float *bias, float *y, float *slope);
    void (*back)(int64_t n, const float *x, const float *bias, const float *dy, float *dx, bool add, float *dbias);
    double (*distribution)(double u), (*density)(double u);
} gelu_form;

static gelu_form exact_form(const xlm_kernels *kernel)
{
    return (gelu_form){"gelu", "gelu_back", kernel->activation[XLM_GELU].forward, kernel->activation[XLM_GELU].back, normal,
                       normal_density};
}

static gelu_form tanh_form(const xlm_kernels *kernel)
{
    return (gelu_form){"gelu_tanh", "gelu_tanh_back", kernel->activation[XLM_GELU_TANH].forward,
                       kernel->activation[XLM_GELU_TANH].back, tanh_normal, tanh_density};
}

/* Without a bias, with one; its gradient wanted or not, and that of x. */
static void check_gelu(const xlm_kernels *kernel, gelu_form gelu, int64_t n, bool with_bias)
{
    float *x = numbers(6, n), *dy = numbers(7, n), *b = numbers(13, n), y[MAX_SIZE + GUARD], dbias[MAX_SIZE + GUARD];
    const float *bias = with_bias ? b : NULL;
    double u[MAX_SIZE];
    for (int64_t i = 0; i < n; i++)
        u[i] = with_bias ? (double)x[i] + b[i] : x[i];
    for (int with_slope = 0; with_slope < 2; with_slope++) {
        float slope[MAX_SIZE + GUARD];
        start_output(y, 0.5f);
        start_output(slope, 0.25f);
        gelu.forward(n, x, bias, y, with_slope ? slope : NULL);
        for (int64_t i = 0; i < n; i++) {
            const double wanted = gelu.distribution(u[i]) + u[i] * gelu.density(u[i]);
            expect(kernel, gelu.name, n, y[i], u[i] * gelu.distribution(u[i]));
            expect(kernel, gelu.name, n, slope[i], with_slope ? wanted : 0.25);
        }
        expect_untouched(kernel, gelu.name, n, y, 0.5f);
        expect_untouched(kernel, gelu.name, n, slope, 0.25f);
    }
    memcpy(y, x, sizeof *y * (size_t)n);
    gelu.forward(n, y, bias, y, NULL); /* in place */
    for (int64_t i = 0; i < n; i++)
        expect(kernel, gelu.name, n, y[i], u[i] * gelu.distribution(u[i]));
    for (int form = 0; form < 8; form++) {
        const bool sum = form & 1, want_x = form & 2, want_bias = form & 4;
        start_output(y, 0.5f);
        start_output(dbias, 0.25f);
        gelu.back(n, x, bias, dy, want_x ? y : NULL, sum, want_bias ? dbias : NULL);
        for (int64_t i = 0; i < n; i++) {
            const double d = dy[i] * (gelu.distribution(u[i]) + u[i] * gelu.density(u[i]));
            expect(kernel, gelu.back_name, n, y[i], !want_x ? 0.5 : sum ? 0.5 + d : d);
            expect(kernel, gelu.back_name, n, dbias[i], want_bias ? 0.25 + d : 0.25);
        }
        expect_untouched(kernel, gelu.back_name, n, y, 0.5f);
        expect_untouched(kernel, gelu.back_name, n, dbias, 0.25f);
    }
    g_free(x);
    g_free(dy);
    g_free(b);
}

static void check_slope(const xlm_kernels *kernel, int64_t n)
{
    float *slope = numbers(6, n), *x = numbers(7, n), y[MAX_SIZE + GUARD], dbias[MAX_SIZE + GUARD];
    for (int in_place = 0; in_place < 2; in_place++) {
        start_output(y, 0.5f);
        start_output(dbias, 0.25f);
        if (in_place)
            memcpy(y, x, sizeof *y * (size_t)n);
        kernel->slope_back(n, slope, in_place ? y : x, y, dbias);
        for (int64_t i = 0; i < n; i++) {
            expect(kernel, "slope_back", n, y[i], (double)slope[i] * x[i]);
            expect(kernel, "slope_back bias", n, dbias[i], 0.25 + (double)slope[i] * x[i]);
        }
        expect_untouched(kernel, "slope_back", n, y, 0.5f);
        expect_untouched(kernel, "slope_back bias", n, dbias, 0.25f);
    }
    g_free(slope);
    g_free(x);
}

/* Tails: x Φ(x) neither overflows nor turns into a NaN. */
static void check_gelu_far_out(const xlm_kernels *kernel, gelu_form gelu)
{
    const float x[] = {-1e30f, -1000, -40, -14, 14, 40, 1000, 1e18f}, ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
    float y[8], dx[8];
    gelu.forward(8, x, NULL, y, NULL);
    gelu.back(8, x, NULL, ones, dx, false, NULL);
    for (int i = 0; i < 8; i++) {
        expect(kernel, gelu.name, 8, y[i], x[i] > 0 ? x[i] : 0);
        expect(kernel, gelu.back_name, 8, dx[i], x[i] > 0);
    }
}

static void check_rounded_gelu(const xlm_kernels *kernel, bool tanh, int64_t n)
{
    const gelu_form form = tanh ? tanh_form(kernel) : exact_form(kernel);
    void (*const gelu)(int64_t, const float *, const float *, uint16_t *, uint16_t *) =
        kernel->activation[tanh ? XLM_GELU_TANH : XLM_GELU].forward_bfloat16;
    enum { LOW = 0x1234 };
    float *x = numbers(6, n), *bias = numbers(13, n);
    uint16_t y[MAX_SIZE + 1], slope[MAX_SIZE + 1], alone[MAX_SIZE + 1];
    y[n] = slope[n] = alone[n] = LOW;
    gelu(n, x, bias, y, slope);
    gelu(n, x, bias, alone, NULL);
    assert_memory_equal(y, alone, sizeof *y * (size_t)(n + 1));
    for (int64_t i = 0; i < n; i++) {
        const double u = (double)x[i] + (double)bias[i];
        expect_rounded(kernel, form.name, n, y[i], u * form.distribution(u));
        expect_rounded(kernel, form.back_name, n, slope[i], form.distribution(u) + u * form.density(u));
    }
    assert_int_equal(y[n], LOW);
    assert_int_equal(slope[n], LOW);
    float dbias[MAX_SIZE + GUARD];
    start_output(dbias, 0.25f);
    for (int64_t i = 0; i < n; i++)
        slope[i] = bfloat16_of(bias[i]);
    kernel->slope_back_bfloat16(n, slope, x, y, dbias);
    for (int64_t i = 0; i < n; i++) {
        const uint32_t bits = (uint32_t)slope[i] << 16;
        float factor;
        memcpy(&factor, &bits, sizeof factor);
        if (y[i] != bfloat16_of(x[i] * factor))
            fail_msg("%s slope_back_bfloat16, n = %d: %04x of %.9g x %.9g", kernel->name, (int)n, y[i], (double)x[i],
                     (double)factor);
        expect(kernel, "slope_back_bfloat16", n, (double)dbias[i], 0.25 + (double)x[i] * (double)factor);
    }
    assert_int_equal(y[n], LOW);
    expect_untouched(kernel, "slope_back_bfloat16", n, dbias, 0.25f);
    g_free(x);
    g_free(bias);
}

static void check(const xlm_kernels *kernel, int64_t n)
{
    check_slope(kernel, n);
    for (int bias = 0; bias < 2; bias++) {
        check_gelu(kernel, exact_form(kernel), n, bias);
        check_gelu(kernel, tanh_form(kernel), n, bias);
    }
    check_rounded_gelu(kernel, false, n);
    check_rounded_gelu(kernel, true, n);
}

static void check_far_out(const xlm_kernels *kernel)
{
    check_gelu_far_out(kernel, exact_form(kernel));
    check_gelu_far_out(kernel, tanh_form(kernel));
}

static void test_against_loops(void **state)
{
    (void)state;
    with_all_kernels(check, check_far_out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
