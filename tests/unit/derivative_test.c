/* xlm-mpi: derivatives of functions with rounding errors. SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/derivative.h"

struct curve {
    double at, scale; /* sin(at + scale h), times 4, as a loss is */
    bool rounded;     /* to single precision */
    int calls;
};

static double wave(void *data, double h)
{
    struct curve *c = data;
    const double value = 4 * sin(c->at + c->scale * h);
    c->calls++;
    return c->rounded ? (double)(float)value : value;
}

/* In double as good as the step allows; in single precision within its own estimate, and to 1e-4 where the change is large. */
static void test_sine(void **state)
{
    (void)state;
    static const double scales[] = {0.01, 0.1, 1, 8};
    for (size_t s = 0; s < G_N_ELEMENTS(scales); s++)
        for (double at = 0; at < 1.4; at += 0.1) {
            const double wanted = 4 * scales[s] * cos(at);
            struct curve exact = {.at = at, .scale = scales[s]}, rounded = {.at = at, .scale = scales[s], .rounded = true};
            const xlm_derivative d = xlm_derivative_at_zero(wave, &exact, 0.5, 1e-16, 0, 0);
            assert_true(fabs(d.value - wanted) <= 1e-6 * scales[s]);
            assert_in_range(exact.calls, 8, 12);
            const xlm_derivative f = xlm_derivative_at_zero(wave, &rounded, 0.5, 0.3 * FLT_EPSILON * 4, 0, 0);
            if (!(fabs(f.value - wanted) <= f.error) || !(f.error <= 1e-5 + 1e-3 * scales[s]))
                fail_msg("sin'(%g) times %g: %.9g with an error of %g, not %.9g", at, 4 * scales[s], f.value, f.error, wanted);
        }
}

/* Steps over a kink: what comes of those on the near side is taken. */
static double kink(void *data, double h)
{
    (void)data;
    return h > 0.1 ? 3 * h - 0.2 : h;
}

static void test_kink(void **state)
{
    (void)state;
    const xlm_derivative d = xlm_derivative_at_zero(kink, NULL, 0.5, 1e-16, 0, 0);
    assert_true(fabs(d.value - 1) < 1e-12);
}

/* A bump much narrower than the first steps: long steps agree on a slope that is not the one at zero. */
static double bump(void *data, double h)
{
    (void)data;
    return (double)(float)(tanh(20 * (h - 0.05)) + 4);
}

static void test_narrow(void **state)
{
    (void)state;
    const double wanted = 20 / (cosh(1) * cosh(1));
    for (double first = 0.05; first < 2; first *= 1.3) {
        const xlm_derivative d = xlm_derivative_at_zero(bump, NULL, first, 0.3 * FLT_EPSILON * 4, 0, 0);
        if (!(fabs(d.value - wanted) <= 3 * d.error))
            fail_msg("from %g: %g with an error of %g, not %g", first, d.value, d.error, wanted);
    }
}

/* Nothing but noise is not taken for a derivative. */
static double noise(void *data, double h)
{
    (void)h;
    uint32_t *seed = data;
    *seed = *seed * 1664525u + 1013904223u;
    return 1e-7 * ((double)*seed / 4294967296.0 - 0.5);
}

static void test_noise(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 200; seed++) {
        uint32_t s = seed;
        const xlm_derivative d = xlm_derivative_at_zero(noise, &s, 0.5, 1e-7 / sqrt(12), 0, 0);
        assert_true(fabs(d.value) <= 3 * d.error && d.error >= 5e-8);
    }
}

/* A comparison is left out where this error is too large, so no derivative may have a smaller one; a smooth one nearly has it. */
static double straight_line(void *data, double h)
{
    return *(const double *)data * h;
}

static void test_least_error(void **state)
{
    (void)state;
    double slope = 3;
    for (double h = 0.01; h < 100; h *= 7)
        for (double rounding = 1e-9; rounding < 1e-3; rounding *= 30) {
            const double least = xlm_derivative_least_error(h, rounding);
            const double error = xlm_derivative_at_zero(straight_line, &slope, h, rounding, 0, 0).error;
            assert_true(error >= least * (1 - 1e-12) && error <= 1.01 * least + 1e-12);
        }
}

/* It ends sooner where it is what was expected, and where rounding makes shorter steps worse; not where something else was
 * expected, however little. */
static void test_calls(void **state)
{
    (void)state;
    const double wanted = 4 * cos(1);
    struct curve c = {.at = 1, .scale = 1};
    assert_true(fabs(xlm_derivative_at_zero(wave, &c, 0.5, 1e-16, wanted, 1e-3).value - wanted) <= 1e-3 * wanted);
    assert_int_equal(c.calls, 8);
    for (int sign = -1; sign <= 1; sign += 2) {
        c.calls = 0;
        const xlm_derivative d = xlm_derivative_at_zero(wave, &c, 0.5, 1e-16, wanted * (1 + sign * 2e-3), 1e-3);
        assert_int_equal(c.calls, 12);
        assert_true(fabs(d.value - wanted) <= 1e-6);
    }
    c.calls = 0;
    const xlm_derivative d = xlm_derivative_at_zero(wave, &c, 0.5, 1e-2, 0, 0);
    assert_true(c.calls == 8 && fabs(d.value - wanted) <= d.error);
}

/* A gradient that lacks the part of a narrow bump is what long steps show. The shortest ones contradict it, so that the error is too
 * large for an agreement, whether the gradient is expected or nothing is. */
static double line_with_bump(void *data, double h)
{
    return h + *(const double *)data * tanh(100 * h);
}

static void test_lacking_part(void **state)
{
    (void)state;
    for (double lacking = 0.005; lacking < 0.02; lacking *= 1.1)
        for (int expected = 0; expected <= 1; expected++) {
            double size = lacking / 100;
            const xlm_derivative d = xlm_derivative_at_zero(line_with_bump, &size, 0.5, 1e-9, expected, 5e-4);
            if (!(d.error > 0.4 * lacking))
                fail_msg("without %g: %g with an error of %g", lacking, d.value, d.error);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sine), cmocka_unit_test(test_kink), cmocka_unit_test(test_narrow),
                                       cmocka_unit_test(test_noise), cmocka_unit_test(test_least_error),
                                       cmocka_unit_test(test_calls), cmocka_unit_test(test_lacking_part)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
