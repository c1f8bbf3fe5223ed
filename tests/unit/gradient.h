/* xlm-mpi: checks gradients against central differences, in double precision. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     static xlm_var *build(xlm_tape *tape, void *context) { return xlm_gelu(tape, xlm_param(tape, "x"), NULL); }
 *     ...
 *     xlm_parameters *p = gradient_inputs("x", 7, 5, NULL);
 *     gradient_check(p, build, NULL);
 *     xlm_parameters_free(p);
 *
 * The result of build, of any shape, is contracted with fixed random numbers to one number, whose gradient with respect
 * to every input is compared with (f(x + h) - f(x - h)) / 2h, element by element (a sample of large inputs). The
 * gradient is added to an array that is not zero at first, as the trainer's is not. A tape of shapes takes as much memory, and
 * counts as many operations, as the tape that computes. */
#ifndef GRADIENT_H
#define GRADIENT_H

#include <glib.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "gemm/gemm.h"
#include "tensor/parameters.h"
#include "tensor/tape.h"
#include "tensor/variable.h"

#ifndef XLM_DOUBLE
#error "gradient checks need the double-precision build"
#endif

typedef xlm_var *gradient_build(xlm_tape *tape, void *context);

enum { GRADIENT_SAMPLE = 150, GRADIENT_SEED = 5, GRADIENT_STEP = 3 };
static const double GRADIENT_TOLERANCE = 1e-6, GRADIENT_STRIDE = 1e-4, GRADIENT_BEFORE = 0.25;

/* Uniform in [-1, 1): number i of list `which`. */
static inline double gradient_number(uint32_t which, int64_t i)
{
    const xlm_rng_key key = {{20, 22}};
    return 2 * xlm_rng_unit(xlm_rng_draw(key, (uint32_t)i, (uint32_t)(i >> 32), which, 0).v[0]) - 1;
}

/* Parameters "name", rows, cols, "name", rows, cols, ..., NULL, with values uniform in [-1, 1). rows, cols: int. */
static inline xlm_parameters *gradient_inputs(const char *name, ...)
{
    xlm_parameters *p = xlm_parameters_new();
    va_list list;
    va_start(list, name);
    while (name != NULL) {
        const int rows = va_arg(list, int), cols = va_arg(list, int);
        xlm_parameters_add(p, name, rows, cols, XLM_INIT_ZERO, true);
        name = va_arg(list, const char *);
    }
    va_end(list);
    xlm_parameters_seal(p);
    for (int k = 0; k < xlm_parameters_count(p); k++) {
        const xlm_parameter *q = xlm_parameters_get(p, k);
        for (int64_t i = 0; i < q->rows * q->cols; i++)
            xlm_parameters_values(p)[q->start + i] = gradient_number((uint32_t)k, i);
    }
    return p;
}

struct gradient_contraction {
    xlm_var *x, *y;
};

static inline void gradient_contraction_backward(void *pointer)
{
    const struct gradient_contraction *s = pointer;
    for (int64_t i = 0; s->x->grad != NULL && xlm_var_has_numbers(s->x) && i < s->x->rows * s->x->cols; i++)
        s->x->grad[i] += *s->y->grad * gradient_number(1000, i);
}

/* Σ r_i x_i */
static inline xlm_var *gradient_contract(xlm_tape *tape, xlm_var *x)
{
    struct gradient_contraction *s = xlm_tape_take(tape, sizeof *s);
    xlm_var *y = xlm_operator(tape, 1, 1, 1, &x, gradient_contraction_backward, s);
    *s = (struct gradient_contraction){.x = x, .y = y};
    if (!xlm_var_has_numbers(y))
        return y;
    *y->value = 0;
    for (int64_t i = 0; i < x->rows * x->cols; i++)
        *y->value += gradient_number(1000, i) * x->value[i];
    return y;
}

static inline double gradient_value(xlm_tape *tape, gradient_build *build, void *context)
{
    xlm_tape_begin(tape, NULL, true, GRADIENT_SEED, GRADIENT_STEP);
    return *gradient_contract(tape, build(tape, context))->value;
}

static inline double gradient_difference(xlm_tape *tape, gradient_build *build, void *context, double *x)
{
    const double before = *x;
    *x = before + GRADIENT_STRIDE;
    const double above = gradient_value(tape, build, context);
    *x = before - GRADIENT_STRIDE;
    const double below = gradient_value(tape, build, context);
    *x = before + 2 * GRADIENT_STRIDE;
    const double far_above = gradient_value(tape, build, context);
    *x = before - 2 * GRADIENT_STRIDE;
    const double far_below = gradient_value(tape, build, context);
    *x = before;
    /* Differences of fourth order, so that the step can be large and rounding small. */
    return (8 * (above - below) - (far_above - far_below)) / (12 * GRADIENT_STRIDE);
}

static inline void gradient_check_one(const xlm_parameters *p, const xlm_parameter *q, const double *gradient, xlm_tape *tape,
                                      gradient_build *build, void *context)
{
    const int64_t n = q->rows * q->cols;
    double largest = 1e-3;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(gradient[q->start + i] - GRADIENT_BEFORE));
    for (int64_t k = 0; k < MIN(n, GRADIENT_SAMPLE); k++) {
        const int64_t i = n <= GRADIENT_SAMPLE ? k : (int64_t)((uint64_t)k * 2654435761u % (uint64_t)n);
        const double back = gradient[q->start + i] - GRADIENT_BEFORE;
        const double difference = gradient_difference(tape, build, context, xlm_parameters_values(p) + q->start + i);
        const double scale = fmax(fmax(fabs(back), fabs(difference)), 0.1 * largest);
        if (!(fabs(back - difference) <= GRADIENT_TOLERANCE * scale))
            fail_msg("%s[%d, %d] of %d x %d: gradient %.12g, difference %.12g", q->name, (int)(i / q->cols),
                     (int)(i % q->cols), (int)q->rows, (int)q->cols, back, difference);
    }
}

/* The cost of a pass: bytes of the tape, operations of products. */
struct gradient_cost {
    uint64_t bytes;
    double flops;
};

static inline struct gradient_cost gradient_pass(xlm_tape *tape, double *gradient, gradient_build *build, void *context)
{
    const double before = xlm_gemm_flops();
    xlm_tape_begin(tape, gradient, true, GRADIENT_SEED, GRADIENT_STEP);
    xlm_var *root = gradient_contract(tape, build(tape, context));
    /* The tape multiplies by what it is seeded with, and seeds add up. */
    xlm_tape_seed(tape, root, 0.25);
    xlm_tape_seed(tape, root, 0.75);
    xlm_tape_backward(tape);
    return (struct gradient_cost){xlm_tape_peak_bytes(tape), xlm_gemm_flops() - before};
}

static inline void gradient_check_cost(xlm_parameters *p, gradient_build *build, void *context, const struct gradient_cost *made)
{
    xlm_tape *shapes = xlm_tape_new_of_shapes(p);
    const struct gradient_cost cost = gradient_pass(shapes, XLM_NO_NUMBERS, build, context);
    if (cost.bytes != made->bytes || cost.flops != made->flops)
        fail_msg("on shapes %.0f bytes and %.0f operations, and %.0f bytes and %.0f operations were made", (double)cost.bytes,
                 cost.flops, (double)made->bytes, made->flops);
    xlm_tape_free(shapes);
}

static inline void gradient_check(xlm_parameters *p, gradient_build *build, void *context)
{
    const int64_t size = xlm_parameters_size(p);
    double *gradient = g_new(double, size);
    for (int64_t i = 0; i < size; i++)
        gradient[i] = GRADIENT_BEFORE;
    xlm_tape *tape = xlm_tape_new(p);
    const struct gradient_cost made = gradient_pass(tape, gradient, build, context);
    gradient_check_cost(p, build, context, &made);
    for (int k = 0; k < xlm_parameters_count(p); k++)
        gradient_check_one(p, xlm_parameters_get(p, k), gradient, tape, build, context);
    xlm_tape_free(tape);
    g_free(gradient);
}

#endif
