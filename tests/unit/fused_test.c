/* xlm-mpi: operators that do the work of several against those. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Built twice: fused_test in double, fused_float_test as the programs are. */
#include <glib.h>
#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tensor/parameters.h"
#include "tensor/tape.h"

#ifdef XLM_DOUBLE
static const double TOLERANCE = 1e-11;
#else
static const double TOLERANCE = 2e-5;
#endif

/* Rows around a chunk of the sums over rows, columns around vectors; the last is work for several threads. */
static const struct size { int rows, cols; } sizes[] = {
    {1, 1},   {1, 7},   {1, 16},  {1, 33},  {1, 80},  {7, 1},   {7, 7},   {7, 16},   {7, 33},   {7, 80},   {33, 1},  {33, 7},   {33, 16},
    {33, 33}, {33, 80}, {65, 1},  {65, 7},  {65, 16}, {65, 33}, {65, 80}, {130, 1},  {130, 7},  {130, 16}, {130, 33}, {130, 80}, {260, 130},
};

static double number(uint32_t which, int64_t i)
{
    return 2 * xlm_rng_unit(xlm_rng_draw((xlm_rng_key){{8, 4}}, (uint32_t)i, which, 0, 0).v[0]) - 1;
}

static xlm_parameters *make_parameters(const struct size *size)
{
    const int n = size->rows, d = size->cols;
    xlm_parameters *p = xlm_parameters_new();
    xlm_parameters_add(p, "x", n, d, XLM_INIT_ZERO, true);
    xlm_parameters_add(p, "h", n, 5, XLM_INIT_ZERO, true);
    xlm_parameters_add(p, "weight", d, 5, XLM_INIT_ZERO, true);
    xlm_parameters_add(p, "bias", 1, d, XLM_INIT_ZERO, true);
    xlm_parameters_add(p, "gamma", 1, d, XLM_INIT_ZERO, true);
    xlm_parameters_add(p, "beta", 1, d, XLM_INIT_ZERO, true);
    xlm_parameters_add(p, "end", n, d, XLM_INIT_ZERO, true);
    xlm_parameters_seal(p);
    for (int64_t i = 0; i < xlm_parameters_size(p); i++)
        xlm_parameters_values(p)[i] = (xlm_real)number(1, i);
    return p;
}

/* What is built, in one operator or in those that it stands for. */
struct form {
    bool fused, training, bias;
    double p; /* of dropout */
};
typedef xlm_var *build(xlm_tape *tape, const struct form *form);

struct outcome {
    int64_t elements, size;
    xlm_real *value, *gradient;
};

static void free_outcome(struct outcome *o)
{
    g_free(o->value);
    g_free(o->gradient);
}

/* Values, and gradients of their cosine with fixed numbers and their sum. Dropout at the end shows that as many draws were
 * made before. */
static struct outcome run(xlm_parameters *p, build *make, const struct form *form)
{
    struct outcome o = {.size = xlm_parameters_size(p)};
    o.gradient = g_new0(xlm_real, o.size);
    xlm_tape *tape = xlm_tape_new(p);
    xlm_tape_begin(tape, o.gradient, form->training, 3, 9);
    xlm_var *y = xlm_dropout(tape, make(tape, form), 0.5), *end = xlm_param(tape, "end");
    o.elements = y->rows * y->cols;
    o.value = g_memdup2(y->value, sizeof(xlm_real) * (size_t)o.elements);
    xlm_tape_seed(tape, xlm_mean(tape, xlm_cosine(tape, xlm_add(tape, y, end), end)), (double)y->rows);
    xlm_tape_seed(tape, xlm_mean(tape, y), (double)o.elements);
    xlm_tape_backward(tape);
    xlm_tape_free(tape);
    return o;
}

static void near(const char *what, const struct size *size, int64_t n, const xlm_real *got, const xlm_real *wanted)
{
    double largest = 1;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs((double)wanted[i]));
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - (double)wanted[i]) <= TOLERANCE * largest))
            fail_msg("%d x %d: %s %d is %.12g, not %.12g", size->rows, size->cols, what, (int)i, (double)got[i], (double)wanted[i]);
}

/* As the operators that it stands for, up to rounding; with one and several threads, to the bit. */
static void compare(const struct size *size, build *make, struct form form)
{
    xlm_parameters *p = make_parameters(size);
    form.fused = false;
    struct outcome wanted = run(p, make, &form);
    form.fused = true;
    struct outcome got = run(p, make, &form);
    near("value", size, wanted.elements, got.value, wanted.value);
    near("gradient", size, wanted.size, got.gradient, wanted.gradient);
    for (int threads = 2; threads <= 3; threads++) {
        omp_set_num_threads(threads);
        struct outcome several = run(p, make, &form);
        assert_memory_equal(several.value, got.value, sizeof(xlm_real) * (size_t)got.elements);
        assert_memory_equal(several.gradient, got.gradient, sizeof(xlm_real) * (size_t)got.size);
        free_outcome(&several);
    }
    omp_set_num_threads(1);
    free_outcome(&wanted);
    free_outcome(&got);
    xlm_parameters_free(p);
}

static void compare_sizes(build *make, double p, bool training)
{
    for (size_t k = 0; k < G_N_ELEMENTS(sizes); k++)
        for (int bias = 0; bias <= 1; bias++)
            compare(&sizes[k], make, (struct form){.training = training, .bias = bias != 0, .p = p});
}

static xlm_var *in(xlm_tape *tape, const char *name) { return xlm_param(tape, name); }

/* A linear layer; the operator after it may add the bias. */
static xlm_var *product(xlm_tape *tape, const struct form *form)
{
    return xlm_linear(tape, in(tape, "h"), in(tape, "weight"), form->bias && !form->fused ? in(tape, "bias") : NULL);
}

static xlm_var *bias_of(xlm_tape *tape, const struct form *form) { return form->bias && form->fused ? in(tape, "bias") : NULL; }

/* ---- GELU and the bias before it ---- */

static xlm_var *gelu(xlm_tape *tape, const struct form *form)
{
    return xlm_gelu(tape, product(tape, form), bias_of(tape, form));
}

static void test_gelu(void **state)
{
    (void)state;
    compare_sizes(gelu, 0, true);
}

int main(void)
{
    omp_set_num_threads(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gelu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
