/* xlm-mpi: kernels of activations, gates and rotations of every instruction set against plain loops in double precision.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels_fixture.h"

#include <string.h>

#include "base/bfloat16.h"

/* Lengths around every vector's width; GUARD numbers after the end must stay as they are. */
enum { MAX_SIZE = 70, GUARD = 16, ROOM = 2 * MAX_SIZE + GUARD };
static const float UNTOUCHED = 12345.0f;
static const uint16_t UNTOUCHED_ROUNDED = 0x1234;

static void start(float x[ROOM])
{
    for (int i = 0; i < ROOM; i++)
        x[i] = UNTOUCHED;
}

static void start_rounded(uint16_t x[ROOM])
{
    for (int i = 0; i < ROOM; i++)
        x[i] = UNTOUCHED_ROUNDED;
}

static void expect_untouched(const xlm_kernels *kernel, const char *what, int64_t n, const float x[ROOM])
{
    for (int64_t i = n; i < ROOM; i++)
        if (x[i] != UNTOUCHED)
            fail_msg("%s %s, n = %d: wrote element %d", kernel->name, what, (int)n, (int)i);
}

/* x in bfloat16 is `rounded`, and nothing is there after n numbers. */
static void expect_rounded(const xlm_kernels *kernel, const char *what, int64_t n, const uint16_t rounded[ROOM], const float *x)
{
    for (int64_t i = 0; i < ROOM; i++)
        if (rounded[i] != (i < n ? xlm_bfloat16_of(x[i]) : UNTOUCHED_ROUNDED))
            fail_msg("%s %s, n = %d: element %d is 0x%04x", kernel->name, what, (int)n, (int)i, rounded[i]);
}

/* ---- activations: a(u), and its derivative ---- */

typedef struct activation {
    const char *name;
    double (*value)(double u), (*derivative)(double u);
} activation;

static double gelu(double u) { return u * 0.5 * erfc(-u * M_SQRT1_2); }
static double gelu_derivative(double u) { return 0.5 * erfc(-u * M_SQRT1_2) + u * exp(-0.5 * u * u) / sqrt(2 * M_PI); }
static double argument(double u) { return sqrt(2 / M_PI) * (u + 0.044715 * u * u * u); }
static double gelu_tanh(double u) { return u * 0.5 * (1 + tanh(argument(u))); }

static double gelu_tanh_derivative(double u)
{
    const double t = tanh(argument(u));
    return 0.5 * (1 + t) + u * 0.5 * (1 - t * t) * sqrt(2 / M_PI) * (1 + 3 * 0.044715 * u * u);
}

static double relu(double u) { return u > 0 ? u : 0; }
static double relu_derivative(double u) { return u > 0 ? 1 : 0; }
static double swish(double u) { return u / (1 + exp(-u)); }
static double swish_derivative(double u) { return (1 + exp(-u) + u * exp(-u)) / ((1 + exp(-u)) * (1 + exp(-u))); }

static const activation activations[XLM_ACTIVATIONS] = {
    [XLM_GELU] = {"gelu", gelu, gelu_derivative},
    [XLM_GELU_TANH] = {"gelu_tanh", gelu_tanh, gelu_tanh_derivative},
    [XLM_RELU] = {"relu", relu, relu_derivative},
    [XLM_SWISH] = {"swish", swish, swish_derivative},
};

static void check_activation(const xlm_kernels *kernel, int which, int64_t n, const float *bias)
{
    const activation *a = &activations[which];
    const xlm_activation_kernels *k = &kernel->activation[which];
    g_autofree float *x = numbers(1, n), *dy = numbers(2, n);
    float y[ROOM], slope[ROOM], dx[ROOM], dbias[ROOM];
    uint16_t rounded[ROOM], rounded_slope[ROOM];
    start(y);
    start(slope);
    k->forward(n, x, bias, y, slope);
    start_rounded(rounded);
    start_rounded(rounded_slope);
    k->forward_bfloat16(n, x, bias, rounded, rounded_slope);
    expect_rounded(kernel, a->name, n, rounded, y);
    expect_rounded(kernel, a->name, n, rounded_slope, slope);
    start(dx);
    start(dbias);
    for (int64_t i = 0; i < n; i++)
        dx[i] = dbias[i] = 0.5f;
    k->back(n, x, bias, dy, dx, true, dbias);
    for (int64_t i = 0; i < n; i++) {
        const double u = bias != NULL ? (double)(x[i] + bias[i]) : (double)x[i], d = (double)dy[i] * a->derivative(u);
        expect(kernel, a->name, n, (double)y[i], a->value(u));
        expect(kernel, a->name, n, (double)slope[i], a->derivative(u));
        expect(kernel, a->name, n, (double)dx[i], 0.5 + d);
        expect(kernel, a->name, n, (double)dbias[i], 0.5 + d);
    }
    expect_untouched(kernel, a->name, n, y);
    expect_untouched(kernel, a->name, n, slope);
    expect_untouched(kernel, a->name, n, dx);
    expect_untouched(kernel, a->name, n, dbias);
}

/* ---- gates: y = a(u) v ---- */

static void check_gate(const xlm_kernels *kernel, int which, int64_t n, const float *bias)
{
    const activation *a = &activations[which];
    const xlm_activation_kernels *k = &kernel->activation[which];
    g_autofree char *name = g_strconcat(a->name, "_gate", NULL);
    g_autofree float *x = numbers(3, 2 * n);
    float y[ROOM], slope[ROOM], active[ROOM], alone[ROOM];
    uint16_t rounded[ROOM], rounded_slope[ROOM], rounded_active[ROOM];
    start(y);
    start(slope);
    start(active);
    start(alone);
    k->gate(n, x, bias, y, slope, active);
    k->gate(n, x, bias, alone, NULL, NULL);
    start_rounded(rounded);
    start_rounded(rounded_slope);
    start_rounded(rounded_active);
    k->gate_bfloat16(n, x, bias, rounded, rounded_slope, rounded_active);
    for (int64_t i = 0; i < n; i++) {
        const double u = bias != NULL ? (double)(x[i] + bias[i]) : (double)x[i];
        const double v = bias != NULL ? (double)(x[n + i] + bias[n + i]) : (double)x[n + i];
        expect(kernel, name, n, (double)y[i], a->value(u) * v);
        expect(kernel, name, n, (double)slope[i], a->derivative(u) * v);
        expect(kernel, name, n, (double)active[i], a->value(u));
    }
    assert_memory_equal(alone, y, sizeof y);
    expect_untouched(kernel, name, n, y);
    expect_untouched(kernel, name, n, slope);
    expect_untouched(kernel, name, n, active);
    expect_rounded(kernel, name, n, rounded, y);
    expect_rounded(kernel, name, n, rounded_slope, slope);
    expect_rounded(kernel, name, n, rounded_active, active);
}

static void check_activations(const xlm_kernels *kernel, int64_t n)
{
    g_autofree float *bias = numbers(4, n), *gate_bias = numbers(5, 2 * n);
    for (int which = 0; which < XLM_ACTIVATIONS; which++)
        for (int with_bias = 0; with_bias < 2; with_bias++) {
            check_activation(kernel, which, n, with_bias ? bias : NULL);
            check_gate(kernel, which, n, with_bias ? gate_bias : NULL);
        }
}

/* ---- rotations ---- */

/* HEADS heads of width 2 half. */
static void check_rotation(const xlm_kernels *kernel, int64_t half)
{
    enum { HEADS = 2 };
    const int64_t w = 2 * half, n = HEADS * w;
    g_autofree float *x = numbers(6, n), *turns = numbers(7, w);
    float y[ROOM], exact[ROOM];
    uint16_t rounded[ROOM];
    for (int back = 0; back < 2; back++) {
        start(y);
        memcpy(y, x, sizeof *x * (size_t)n);
        kernel->rotate(HEADS, w, turns, back, y);
        for (int64_t i = 0; i < n; i++) {
            const int64_t pair = i % w < half ? i + half : i - half, angle = i % half;
            const double sine = back ? -(double)turns[half + angle] : (double)turns[half + angle];
            expect(kernel, "rotate", w, (double)y[i], (double)x[i] * (double)turns[angle] +
                                                          (i % w < half ? -sine : sine) * (double)x[pair]);
        }
        expect_untouched(kernel, "rotate", n, y);
    }
    start(exact);
    start_rounded(rounded);
    for (int64_t i = 0; i < n; i++) {
        rounded[i] = xlm_bfloat16_of(x[i]);
        exact[i] = xlm_bfloat16_value(rounded[i]);
    }
    kernel->rotate(HEADS, w, turns, false, exact);
    kernel->rotate_bfloat16(HEADS, w, turns, rounded);
    expect_rounded(kernel, "rotate_bfloat16", n, rounded, exact);
}

static void test_against_loops(void **state)
{
    (void)state;
    int tables = 0;
    for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
        const xlm_kernels *kernel = xlm_kernels_find(names[k]);
        if (kernel == NULL)
            continue;
        tables++;
        for (int64_t n = 1; n <= MAX_SIZE; n++)
            check_activations(kernel, n);
        for (int64_t half = 1; 4 * half <= 2 * MAX_SIZE; half++)
            check_rotation(kernel, half);
    }
    assert_true(tables >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
