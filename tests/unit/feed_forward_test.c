/* xlm-mpi: the inner layer in one operator against the operators that it replaces. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>
#include <omp.h>

#include "gemm/packed.h"
#include "tensor/feed_forward.h"
#include "tensor/parameters.h"
#include "tensor/products.h"
#include "tensor/tape.h"

enum { WIDTH = 48, INNER = 200, OUT = 40, END = 4 /* number of the parameter */ };

typedef struct problem {
    xlm_precision precision;
    bool tanh, shared; /* shared: x is used once more, so that its gradient is added to */
    int64_t rows;
    xlm_parameters *parameters;
} problem;

static problem make_problem(xlm_precision precision, bool tanh, bool shared, int64_t rows)
{
    problem q = {.precision = precision, .tanh = tanh, .shared = shared, .rows = rows, .parameters = xlm_parameters_new()};
    const struct { const char *name; int64_t rows, cols; } all[] = {
        {"x", rows, WIDTH}, {"inner", INNER, WIDTH}, {"bias", 1, INNER}, {"outer", OUT, INNER}, {"end", rows, OUT},
        {"side", rows, WIDTH},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        xlm_parameters_add(q.parameters, all[i].name, all[i].rows, all[i].cols, XLM_INIT_NORMAL, false);
    xlm_parameters_seal(q.parameters);
    xlm_parameters_initialise(q.parameters, 3);
    xlm_real *values = xlm_parameters_values(q.parameters);
    for (int64_t i = 0; i < xlm_parameters_size(q.parameters); i++)
        values[i] *= 20; /* to about 0.4, where GELU is bent */
    return q;
}

typedef enum { SEVERAL, FUSED, RECOMPUTED } way; /* SEVERAL: operators, without packing */

static xlm_var *fuse(xlm_tape *tape, xlm_var *x, const void *data)
{
    const problem *q = data;
    xlm_var *inner = xlm_param(tape, "inner"), *outer = xlm_param(tape, "outer");
    assert_true(xlm_product_packs(tape, q->rows, inner) && xlm_product_packs(tape, q->rows, outer));
    return xlm_feed_forward(tape, q->tanh ? XLM_GELU_TANH : XLM_GELU, x, inner, xlm_param(tape, "bias"), outer);
}

static xlm_var *separate(const problem *q, xlm_tape *tape, xlm_var *x)
{
    xlm_var *z = xlm_linear(tape, x, xlm_param(tape, "inner"), NULL), *bias = xlm_param(tape, "bias");
    return xlm_linear(tape, q->tanh ? xlm_gelu_tanh(tape, z, bias) : xlm_gelu(tape, z, bias), xlm_param(tape, "outer"), NULL);
}

/* Gradients of all parameters, g_free them, of the mean of y ∘ end: that of `end` is y. */
static float *run(const problem *q, way made, int threads)
{
    omp_set_num_threads(threads);
    float *gradients = g_new0(float, xlm_parameters_size(q->parameters));
    xlm_tape *tape = xlm_tape_new(q->parameters);
    xlm_tape_multiply_by(tape, made != SEVERAL, q->precision);
    xlm_tape_recompute(tape, made == RECOMPUTED);
    xlm_tape_begin(tape, gradients, true, 1, 1);
    xlm_var *x = xlm_scale(tape, xlm_param(tape, "x"), 1);
    xlm_var *y = made == SEVERAL ? separate(q, tape, x) : xlm_tape_segment(tape, x, fuse, q);
    xlm_var *sum = xlm_mean(tape, xlm_multiply(tape, y, xlm_param(tape, "end")));
    if (q->shared)
        sum = xlm_add(tape, sum, xlm_mean(tape, xlm_multiply(tape, x, xlm_param(tape, "side"))));
    xlm_tape_seed(tape, sum, 1);
    xlm_tape_backward(tape);
    xlm_tape_free(tape);
    omp_set_num_threads(1);
    return gradients;
}

/* Beside the largest number of its tensor. */
static void compare(const problem *q, const char *what, int64_t n, const float *found, const float *wanted)
{
    const double part = q->precision == XLM_BFLOAT16 ? 0.02 : 1e-5;
    double largest = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs((double)wanted[i]));
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)found[i] - (double)wanted[i]) <= part * largest))
            fail_msg("%s, %d rows, %s: %s %d is %g, not %g", xlm_precision_names[q->precision], (int)q->rows,
                     q->tanh ? "tanh" : "exact", what, (int)i, (double)found[i], (double)wanted[i]);
}

/* Without this parameter's gradient the others have the same bits. */
static void check_frozen(const problem *q, int frozen, const float *whole)
{
    xlm_parameters_set_rate(q->parameters, frozen, 0);
    float *found = run(q, FUSED, 2);
    for (int k = 0; k < xlm_parameters_count(q->parameters); k++) {
        const xlm_parameter *p = xlm_parameters_get(q->parameters, k);
        for (int64_t i = p->start; i < p->start + p->rows * p->cols; i++)
            if (found[i] != (k == frozen ? 0 : whole[i]))
                fail_msg("%s, parameter %d frozen: another gradient of %s", xlm_precision_names[q->precision], frozen, p->name);
    }
    xlm_parameters_set_rate(q->parameters, frozen, 1);
    g_free(found);
}

/* Without gradients y has the same bits; wanted: y / (rows x OUT). */
static void check_constant(const problem *q, const float *wanted)
{
    xlm_tape *tape = xlm_tape_new(q->parameters);
    xlm_tape_multiply_by(tape, true, q->precision);
    xlm_tape_begin(tape, NULL, false, 1, 1);
    const xlm_var *y = fuse(tape, xlm_scale(tape, xlm_param(tape, "x"), 1), q);
    const float factor = 1 / (float)(q->rows * OUT);
    for (int64_t i = 0; i < q->rows * OUT; i++)
        assert_true(y->value[i] * factor == wanted[i]);
    xlm_tape_free(tape);
}

static void check(xlm_precision precision, bool tanh, bool shared, int64_t rows)
{
    problem q = make_problem(precision, tanh, shared, rows);
    float *wanted = run(&q, SEVERAL, 1), *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        float *found = run(&q, threads == 2 ? RECOMPUTED : FUSED, threads);
        for (int k = 0; k < xlm_parameters_count(q.parameters); k++) {
            const xlm_parameter *p = xlm_parameters_get(q.parameters, k);
            compare(&q, p->name, p->rows * p->cols, found + p->start, wanted + p->start);
        }
        if (first == NULL)
            first = g_memdup2(found, sizeof *found * (size_t)xlm_parameters_size(q.parameters));
        assert_memory_equal(found, first, sizeof *found * (size_t)xlm_parameters_size(q.parameters));
        g_free(found);
    }
    for (int frozen = 0; frozen < 4; frozen++) /* x, and the three of the layer */
        check_frozen(&q, frozen, first);
    check_constant(&q, first + xlm_parameters_get(q.parameters, END)->start);
    g_free(first);
    g_free(wanted);
    xlm_parameters_free(q.parameters);
}

/* Rows around a unit of 16, and blocks of all threads. */
static void beside_several(void **state)
{
    (void)state;
    static const int64_t rows[] = {33, 48, 250, 513, 700};
    for (int precision = 0; precision < XLM_PRECISIONS; precision++)
        for (size_t i = 0; i < G_N_ELEMENTS(rows) && xlm_packed_lacks((xlm_precision)precision) == NULL; i++) {
            check((xlm_precision)precision, i & 1, true, rows[i]);
            check((xlm_precision)precision, !(i & 1), false, rows[i]);
        }
}

/* A pass may have no rows for a layer; the gradient of its weight is zero then, in bfloat16 too, where all products are packed. */
static void no_rows(void **state)
{
    (void)state;
    xlm_parameters *p = xlm_parameters_new();
    xlm_parameters_add(p, "x", 1, WIDTH, XLM_INIT_NORMAL, false);
    xlm_parameters_add(p, "weight", OUT, WIDTH, XLM_INIT_NORMAL, false);
    xlm_parameters_seal(p);
    xlm_parameters_initialise(p, 3);
    for (int precision = 0; precision < XLM_PRECISIONS; precision++) {
        if (xlm_packed_lacks((xlm_precision)precision) != NULL)
            continue;
        float dw[OUT * WIDTH];
        for (int add = 0; add < 2; add++) {
            xlm_tape *tape = xlm_tape_new(p);
            xlm_tape_multiply_by(tape, true, (xlm_precision)precision);
            xlm_tape_begin(tape, NULL, false, 1, 1);
            for (int i = 0; i < OUT * WIDTH; i++)
                dw[i] = 7;
            xlm_product_of_weight(tape, 0, dw, xlm_floats(dw), xlm_param(tape, "weight"), (xlm_grad){.at = dw, .add = add});
            for (int i = 0; i < OUT * WIDTH; i++)
                assert_true(dw[i] == (add ? 7 : 0));
            xlm_tape_free(tape);
        }
    }
    xlm_parameters_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(beside_several), cmocka_unit_test(no_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
