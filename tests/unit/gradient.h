/* xlm-mpi: checks gradients against central differences, in double precision. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     static xlm_var *build(xlm_tape *tape, void *context) { return xlm_gelu(tape, xlm_param(tape, "x"), NULL); }
 *     ...
 *     xlm_parameters *p = gradient_inputs("x", 7, 5, NULL);
 *     gradient_check(p, build, NULL);
 *     xlm_parameters_free(p);
 *
 * The result of build, of any shape, is contracted with fixed random numbers to one number, whose gradient with respect
 * to every input is compared with differences of fourth order, every element of it. Elements are moved in groups, each by a
 * number of its own, of either sign and at least as large as if it were moved alone: then a wrong element is as far from the
 * difference as if it were, and several wrong ones of a group do not cancel. The gradient is added to an array that is not zero
 * at first, as the trainer's is not. A tape of shapes takes as much memory, and counts as many operations, as the tape that
 * computes. */
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

enum { GRADIENT_GROUPS = 6, GRADIENT_SEED = 5, GRADIENT_STEP = 3 }; /* groups of the elements of an input */
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

/* The numbers that results are contracted with, at least n. They are drawn once, since a check computes hundreds of values. */
static inline const double *gradient_contraction_numbers(int64_t n)
{
    static GArray *numbers;
    if (numbers == NULL)
        numbers = g_array_new(FALSE, FALSE, sizeof(double));
    for (int64_t i = numbers->len; i < n; i++) {
        const double drawn = gradient_number(1000, i);
        g_array_append_val(numbers, drawn);
    }
    return (const double *)(void *)numbers->data;
}

struct gradient_contraction {
    xlm_var *x, *y;
};

static inline void gradient_contraction_backward(void *pointer)
{
    const struct gradient_contraction *s = pointer;
    const double *numbers = gradient_contraction_numbers(s->x->rows * s->x->cols);
    for (int64_t i = 0; s->x->grad != NULL && xlm_var_has_numbers(s->x) && i < s->x->rows * s->x->cols; i++)
        s->x->grad[i] += *s->y->grad * numbers[i];
}

/* Σ r_i x_i */
static inline xlm_var *gradient_contract(xlm_tape *tape, xlm_var *x)
{
    struct gradient_contraction *s = xlm_tape_take(tape, sizeof *s);
    xlm_var *y = xlm_operator(tape, 1, 1, 1, &x, gradient_contraction_backward, s);
    *s = (struct gradient_contraction){.x = x, .y = y};
    if (!xlm_var_has_numbers(y))
        return y;
    const double *numbers = gradient_contraction_numbers(x->rows * x->cols);
    *y->value = 0;
    for (int64_t i = 0; i < x->rows * x->cols; i++)
        *y->value += numbers[i] * x->value[i];
    return y;
}

static inline double gradient_value(xlm_tape *tape, gradient_build *build, void *context)
{
    xlm_tape_begin(tape, NULL, true, GRADIENT_SEED, GRADIENT_STEP);
    return *gradient_contract(tape, build(tape, context))->value;
}

/* Elements first, first + apart, ... of an input. */
struct gradient_group {
    const xlm_parameter *input;
    int64_t first, apart;
};

/* How far element i is moved for a step of 1: 1 to 2, of either sign. */
static inline double gradient_weight(int64_t i)
{
    const double x = gradient_number(3000, i);
    return x < 0 ? x - 1 : x + 1;
}

/* The derivative along the group; the derivative by an element if the group has no other. The more elements a group has, the less
 * each is moved, so that all together are not moved much farther than one, and the error of the difference stays as small. */
static inline double gradient_difference(xlm_parameters *p, const struct gradient_group *g, xlm_tape *tape, gradient_build *build,
                                         void *context)
{
    static const double at[] = {1, -1, 2, -2}, factor[] = {8, -8, -1, 1};
    const int64_t n = g->input->rows * g->input->cols;
    const double elements = (double)((n - g->first + g->apart - 1) / g->apart);
    const double stride = GRADIENT_STRIDE / sqrt(fmax(1, elements / 2));
    double *x = xlm_parameters_values(p) + g->input->start, *before = g_memdup2(x, sizeof *x * (size_t)n), sum = 0;
    for (int j = 0; j < 4; j++) {
        for (int64_t i = g->first; i < n; i += g->apart)
            x[i] = before[i] + at[j] * stride * gradient_weight(i);
        sum += factor[j] * gradient_value(tape, build, context);
    }
    memcpy(x, before, sizeof *x * (size_t)n);
    g_free(before);
    /* Differences of fourth order, so that the step can be large and rounding small. */
    return sum / (12 * stride);
}

/* The bound is that of the smallest element of the group, but of no less than a tenth of the largest one of the input. */
static inline bool gradient_agrees(xlm_parameters *p, const struct gradient_group *g, const double *gradient, double largest,
                                   xlm_tape *tape, gradient_build *build, void *context)
{
    const int64_t n = g->input->rows * g->input->cols;
    double back = 0, least = INFINITY;
    for (int64_t i = g->first; i < n; i += g->apart) {
        const double element = gradient[g->input->start + i] - GRADIENT_BEFORE;
        back += gradient_weight(i) * element;
        least = fmin(least, fabs(element));
    }
    const double difference = gradient_difference(p, g, tape, build, context);
    const bool agrees = fabs(back - difference) <= GRADIENT_TOLERANCE * fmax(least, 0.1 * largest);
    if (!agrees)
        print_error("%s[%d, %d] of %d x %d, and each %d elements on: gradient %.12g, difference %.12g\n", g->input->name,
                    (int)(g->first / g->input->cols), (int)(g->first % g->input->cols), (int)g->input->rows, (int)g->input->cols,
                    (int)g->apart, back, difference);
    return agrees;
}

static inline void gradient_check_one(xlm_parameters *p, const xlm_parameter *q, const double *gradient, xlm_tape *tape,
                                      gradient_build *build, void *context)
{
    const int64_t n = q->rows * q->cols;
    double largest = 1e-3;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(gradient[q->start + i]))
            fail_msg("the gradient of %s is not finite", q->name);
        largest = fmax(largest, fabs(gradient[q->start + i] - GRADIENT_BEFORE));
    }
    for (int64_t first = 0; first < MIN(n, GRADIENT_GROUPS); first++) {
        const struct gradient_group group = {q, first, GRADIENT_GROUPS};
        if (gradient_agrees(p, &group, gradient, largest, tape, build, context))
            continue;
        /* Which elements it is. */
        for (int64_t i = first; i < n; i += GRADIENT_GROUPS)
            gradient_agrees(p, &(struct gradient_group){q, i, n}, gradient, largest, tape, build, context);
        fail_msg("the gradient of %s is wrong", q->name);
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
