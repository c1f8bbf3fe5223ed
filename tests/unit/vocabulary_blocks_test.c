/* xlm-mpi: cross-entropy over a packed vocabulary, beside its definition. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Factors are numbers that bfloat16 holds, so that the logits are those of the definition but for the order of the sums, and so
 * are losses; gradients differ by the rounding of dz in bfloat16. Vocabularies are of one block of columns and of several. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glib.h>
#include <omp.h>

#include "gemm/packed.h"
#include "tensor/parameters.h"
#include "tensor/products.h"
#include "tensor/tape.h"

enum { ROWS = 37, WIDTH = 24, CHUNK = 10 };

typedef struct problem {
    xlm_precision precision;
    xlm_parameters *parameters;
    int64_t v;
    bool bias;
    int32_t targets[ROWS];
    double smoothing; /* of labels */
    double *p; /* [ROWS x v] softmax z */
    double loss[ROWS], smoothed[ROWS];
    bool correct[ROWS];
    /* Gradients of h, the table and the bias, and sums of the magnitudes of their terms; by differentiate(). */
    double *gradient[3], *size[3];
} problem;

typedef struct result {
    xlm_score score[ROWS];
    float mean;
    float *gradients; /* of all parameters */
} result;

static float *values_of(const problem *q, int number)
{
    return xlm_parameters_values(q->parameters) + xlm_parameters_get(q->parameters, number)->start;
}

static const float *gradient_of(const problem *q, const result *r, int number)
{
    return r->gradients + xlm_parameters_get(q->parameters, number)->start;
}

enum { H, TABLE, BIAS };

/* Multiples of 1/32 with at most 7 bits. far: one column of each hundred stands out, so that blocks' highest elements differ. */
static void fill(problem *q, bool far)
{
    float *h = values_of(q, H), *table = values_of(q, TABLE);
    for (int i = 0; i < ROWS * WIDTH; i++)
        h[i] = (float)(i * 37 % 61 - 30) / 32;
    for (int64_t i = 0; i < q->v * WIDTH; i++)
        table[i] = (float)(i * 53 % 59 - 29) / 32 * (far && i / WIDTH % 100 == 7 ? 8 : 1);
    for (int64_t i = 0; q->bias && i < q->v; i++)
        values_of(q, BIAS)[i] = (float)(i * 11 % 23) / 16;
    for (int i = 0; i < ROWS; i++)
        q->targets[i] = (int32_t)((int64_t)i * 997 % q->v);
}

static void solve(problem *q)
{
    const float *h = values_of(q, H), *table = values_of(q, TABLE);
    q->p = g_new(double, ROWS * q->v);
    for (int i = 0; i < ROWS; i++) {
        double *z = q->p + i * q->v, largest = -INFINITY, sum = 0;
        for (int64_t v = 0; v < q->v; v++) {
            z[v] = q->bias ? (double)values_of(q, BIAS)[v] : 0;
            for (int c = 0; c < WIDTH; c++)
                z[v] += (double)h[i * WIDTH + c] * (double)table[v * WIDTH + c];
            largest = fmax(largest, z[v]);
        }
        for (int64_t v = 0; v < q->v; v++)
            sum += exp(z[v] - largest);
        q->loss[i] = log(sum) + largest - z[q->targets[i]];
        q->smoothed[i] = (1 - q->smoothing) * q->loss[i];
        for (int64_t v = 0; v < q->v; v++)
            q->smoothed[i] += q->smoothing / (double)q->v * (log(sum) + largest - z[v]);
        q->correct[i] = z[q->targets[i]] == largest;
        for (int64_t v = 0; v < q->v; v++)
            z[v] = exp(z[v] - largest) / sum;
    }
}

static result run(const problem *q, int64_t chunk, bool gradients, int threads)
{
    omp_set_num_threads(threads);
    result r = {.gradients = gradients ? g_new0(float, xlm_parameters_size(q->parameters)) : NULL};
    xlm_tape *tape = xlm_tape_new(q->parameters);
    xlm_tape_multiply_by(tape, true, q->precision);
    xlm_tape_begin(tape, r.gradients, gradients, 1, 1);
    assert_true(xlm_product_packs(tape, MIN(chunk, ROWS), xlm_param(tape, "table")));
    xlm_var *y = xlm_vocab_smoothed_cross_entropy(tape, xlm_scale(tape, xlm_param(tape, "h"), 1), xlm_param(tape, "table"),
                                                  q->bias ? xlm_param(tape, "bias") : NULL, q->targets, q->smoothing, chunk,
                                                  r.score);
    r.mean = y->value[0];
    if (gradients) {
        xlm_tape_seed(tape, y, 1);
        xlm_tape_backward(tape);
    }
    if (!gradients && q->v >= 4096) /* no logits as a whole */
        assert_true(xlm_tape_peak_bytes(tape) < sizeof(float) * (uint64_t)(MIN(chunk, ROWS) * q->v));
    xlm_tape_free(tape);
    omp_set_num_threads(1);
    return r;
}

/* found: n numbers, each a sum of dz times a factor, beside wanted; in bfloat16 dz is rounded twice, to 8 bits. size: sums of
 * magnitudes. */
static void compare(const problem *q, const char *what, int64_t n, const float *found, const double *wanted, const double *size)
{
    const double part = q->precision == XLM_BFLOAT16 ? 0.01 : 1e-5;
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)found[i] - wanted[i]) <= part * size[i] + 1e-9))
            fail_msg("%s, element %d: %g, not %g", what, (int)i, (double)found[i], wanted[i]);
}

/* Of word v in the target distribution of a row. */
static double wanted_share(const problem *q, int row, int64_t v)
{
    return (v == q->targets[row] ? 1 - q->smoothing : 0) + q->smoothing / (double)q->v;
}

/* Gradients by definition, which all runs of the problem are compared with. */
static void differentiate(problem *q)
{
    const float *h = values_of(q, H), *table = values_of(q, TABLE);
    for (int k = 0; k < 3; k++) {
        const int64_t n = k == H ? ROWS * WIDTH : k == TABLE ? q->v * WIDTH : q->v;
        q->gradient[k] = g_new0(double, n);
        q->size[k] = g_new0(double, n);
    }
    double *dh = q->gradient[H], *de = q->gradient[TABLE], *dh_size = q->size[H], *de_size = q->size[TABLE];
    for (int i = 0; i < ROWS; i++)
        for (int64_t v = 0; v < q->v; v++) {
            const double p = q->p[i * q->v + v], dz = (p - wanted_share(q, i, v)) / ROWS;
            const double size = p / ROWS + fabs(dz);
            q->gradient[BIAS][v] += dz;
            q->size[BIAS][v] += size;
            for (int c = 0; c < WIDTH; c++) {
                dh[i * WIDTH + c] += dz * (double)table[v * WIDTH + c];
                dh_size[i * WIDTH + c] += size * fabs((double)table[v * WIDTH + c]);
                de[v * WIDTH + c] += dz * (double)h[i * WIDTH + c];
                de_size[v * WIDTH + c] += size * fabs((double)h[i * WIDTH + c]);
            }
        }
}

static void check_gradients(const problem *q, const result *r)
{
    compare(q, "dh", ROWS * WIDTH, gradient_of(q, r, H), q->gradient[H], q->size[H]);
    compare(q, "the table's gradient", q->v * WIDTH, gradient_of(q, r, TABLE), q->gradient[TABLE], q->size[TABLE]);
    if (q->bias)
        compare(q, "the bias's gradient", q->v, gradient_of(q, r, BIAS), q->gradient[BIAS], q->size[BIAS]);
}

static problem make_problem(xlm_precision precision, int64_t v, bool bias, bool far, double smoothing)
{
    problem q = {.precision = precision, .parameters = xlm_parameters_new(), .v = v, .bias = bias, .smoothing = smoothing};
    xlm_parameters_add(q.parameters, "h", ROWS, WIDTH, XLM_INIT_ZERO, false);
    xlm_parameters_add(q.parameters, "table", v, WIDTH, XLM_INIT_ZERO, false);
    if (bias)
        xlm_parameters_add(q.parameters, "bias", 1, v, XLM_INIT_ZERO, false);
    xlm_parameters_seal(q.parameters);
    fill(&q, far);
    solve(&q);
    differentiate(&q);
    return q;
}

static void free_problem(problem *q)
{
    for (int k = 0; k < 3; k++) {
        g_free(q->gradient[k]);
        g_free(q->size[k]);
    }
    g_free(q->p);
    xlm_parameters_free(q->parameters);
}

static void check_scores(const problem *q, const result *r)
{
    double mean = 0;
    for (int i = 0; i < ROWS; i++) {
        mean += q->smoothed[i] / ROWS;
        if (!(fabs((double)r->score[i].loss - q->loss[i]) <= 1e-5 * fmax(1, q->loss[i])))
            fail_msg("%d words, row %d: loss %g, not %g", (int)q->v, i, (double)r->score[i].loss, q->loss[i]);
        assert_int_equal(r->score[i].correct, q->correct[i]);
    }
    assert_true(fabs((double)r->mean - mean) <= 1e-5 * fmax(1, mean));
}

/* Without this parameter's gradient the others' are the same. */
static void check_frozen(const problem *q, int frozen, const result *whole)
{
    xlm_parameters_set_rate(q->parameters, frozen, 0);
    const result r = run(q, ROWS, true, 1);
    for (int k = 0; k < xlm_parameters_count(q->parameters); k++) {
        const xlm_parameter *p = xlm_parameters_get(q->parameters, k);
        for (int64_t i = p->start; i < p->start + p->rows * p->cols; i++)
            assert_true(r.gradients[i] == (k == frozen ? 0 : whole->gradients[i]));
    }
    xlm_parameters_set_rate(q->parameters, frozen, 1);
    g_free(r.gradients);
}

/* In float32 small products are made in another way, which has other bits: such vocabularies are tested in bfloat16. */
static void check_all(xlm_precision precision, double smoothing)
{
    static const int64_t vocabularies[] = {5, 300, 4096, 4099, 6500};
    static const struct { int64_t chunk; bool gradients; int threads; } runs[] = {
        {ROWS, true, 1}, {ROWS, true, 3}, {1000, true, 2}, {CHUNK, true, 2}, {CHUNK, true, 3}, {CHUNK, false, 2},
        {ROWS, false, 1}, {ROWS - 1, true, 2}, /* its last chunk is small */
    };
    for (size_t k = precision == XLM_BFLOAT16 ? 0 : 8; k < 4 * G_N_ELEMENTS(vocabularies); k++) {
        problem q = make_problem(precision, vocabularies[k / 4], k & 1, k & 2, smoothing);
        const result first = run(&q, ROWS, true, 1), chunked = run(&q, CHUNK, true, 1);
        for (size_t i = 0; i < G_N_ELEMENTS(runs); i++) {
            result r = run(&q, runs[i].chunk, runs[i].gradients, runs[i].threads);
            check_scores(&q, &r);
            assert_memory_equal(r.score, first.score, sizeof r.score);
            if (runs[i].gradients)
                check_gradients(&q, &r);
            const float *same = runs[i].chunk >= ROWS ? first.gradients : runs[i].chunk == CHUNK ? chunked.gradients : NULL;
            if (runs[i].gradients && same != NULL)
                assert_memory_equal(r.gradients, same, sizeof(float) * (size_t)xlm_parameters_size(q.parameters));
            g_free(r.gradients);
        }
        check_frozen(&q, H, &first);
        check_frozen(&q, TABLE, &first);
        g_free(first.gradients);
        g_free(chunked.gradients);
        free_problem(&q);
    }
}

static void by_definition(void **state)
{
    static const double smoothings[] = {0, 0.1};
    (void)state;
    g_unsetenv("XLM_BF16_EMULATE");
    for (int precision = 0; precision < XLM_PRECISIONS; precision++)
        if (xlm_packed_lacks((xlm_precision)precision) == NULL)
            for (int i = 0; i < 2; i++)
                check_all((xlm_precision)precision, smoothings[i]);
    g_setenv("XLM_BF16_EMULATE", "1", TRUE);
    for (int i = 0; i < 2; i++)
        check_all(XLM_BFLOAT16, smoothings[i]);
    g_unsetenv("XLM_BF16_EMULATE");
}

/* A table whose parts are packed when they are multiplied, because it is frozen and long. */
static void frozen_and_long(void **state)
{
    (void)state;
    for (int precision = 0; precision < XLM_PRECISIONS; precision++) {
        if (xlm_packed_lacks((xlm_precision)precision) != NULL)
            continue;
        problem q = make_problem((xlm_precision)precision, 20001, true, false, 0);
        const result whole = run(&q, ROWS, true, 2);
        check_gradients(&q, &whole);
        check_frozen(&q, TABLE, &whole);
        g_free(whole.gradients);
        free_problem(&q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_definition), cmocka_unit_test(frozen_and_long)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
