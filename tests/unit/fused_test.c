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
static const struct size {
    int rows, cols;
} sizes[] = {
    {1, 1},   {1, 7},   {1, 16},   {1, 33},   {1, 80},  {7, 1},  {7, 7},  {7, 16},  {7, 33},  {7, 80},
    {33, 1},  {33, 7},  {33, 16},  {33, 33},  {33, 80}, {65, 1}, {65, 7}, {65, 16}, {65, 33}, {65, 80},
    {130, 1}, {130, 7}, {130, 16}, {130, 33}, {130, 80}, {260, 130},
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

/* Builds the computation from one operator, or from those that it replaces. */
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
 * made before. The fused form runs its segments again. */
static struct outcome run(xlm_parameters *p, build *make, const struct form *form)
{
    struct outcome o = {.size = xlm_parameters_size(p)};
    o.gradient = g_new0(xlm_real, o.size);
    xlm_tape *tape = xlm_tape_new(p);
    xlm_tape_recompute(tape, form->fused);
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
            fail_msg("%d x %d: %s %d is %.12g, not %.12g", size->rows, size->cols, what, (int)i, (double)got[i],
                     (double)wanted[i]);
}

/* Equal to the operators that it replaces up to rounding; with one and several threads, equal to the bit. */
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

/* ---- the end of a sublayer ---- */

static xlm_var *residual_norm(xlm_tape *tape, const struct form *form, xlm_var *x, xlm_var *z)
{
    xlm_var *gamma = in(tape, "gamma"), *beta = in(tape, "beta");
    if (form->fused)
        return xlm_residual_norm(tape, x, z, bias_of(tape, form), form->p, gamma, beta, 1e-2);
    return xlm_layer_norm(tape, xlm_add(tape, x, xlm_dropout(tape, z, form->p)), gamma, beta, 1e-2);
}

/* x a parameter, z the result of a linear layer, whose memory is taken over. */
static xlm_var *of_product(xlm_tape *tape, const struct form *form)
{
    xlm_var *z = product(tape, form), *y = residual_norm(tape, form, in(tape, "x"), z);
    assert_true(form->fused == (z->value == NULL));
    return y;
}

/* x goes elsewhere before and after, as in a transformer; the gradient of y has several sources. */
static xlm_var *of_shared(xlm_tape *tape, const struct form *form)
{
    xlm_var *x = xlm_scale(tape, in(tape, "x"), 1.5), *before = xlm_scale(tape, x, 0.5);
    xlm_var *y = residual_norm(tape, form, x, product(tape, form));
    xlm_var *z = residual_norm(tape, form, y, product(tape, form));
    return xlm_add(tape, xlm_add(tape, y, z), xlm_add(tape, x, before));
}

/* z is also an input of an operator that reads it in the backward pass: its memory is not taken over. */
static xlm_var *of_used(xlm_tape *tape, const struct form *form)
{
    xlm_var *z = product(tape, form), *wide = xlm_gelu(tape, z, bias_of(tape, form));
    xlm_var *y = residual_norm(tape, form, in(tape, "x"), z);
    assert_non_null(z->value);
    return xlm_add(tape, y, wide);
}

/* x and z are one variable, but for the bias. */
static xlm_var *of_same(xlm_tape *tape, const struct form *form)
{
    xlm_var *x = xlm_linear(tape, in(tape, "h"), in(tape, "weight"), NULL);
    return residual_norm(tape, form, x, form->bias && !form->fused ? product(tape, form) : x);
}

/* No gradient for x. */
static xlm_var *of_constant_x(xlm_tape *tape, const struct form *form)
{
    const xlm_var *x = in(tape, "x");
    return residual_norm(tape, form, xlm_constant(tape, x->rows, x->cols, x->value), product(tape, form));
}

/* No gradient for z, when there is no bias. */
static xlm_var *of_constant_z(xlm_tape *tape, const struct form *form)
{
    const xlm_var *x = in(tape, "x");
    xlm_var *h = xlm_constant(tape, x->rows, 5, in(tape, "h")->value);
    xlm_var *weight = xlm_constant(tape, x->cols, 5, in(tape, "weight")->value);
    xlm_var *z = xlm_linear(tape, h, weight, form->bias && !form->fused ? in(tape, "bias") : NULL);
    return residual_norm(tape, form, xlm_scale(tape, in(tape, "x"), 1.5), z);
}

/* z was made outside of a segment, which is run again in the backward pass: its memory is not taken over. */
static xlm_var *inside(xlm_tape *tape, xlm_var *z, const void *form)
{
    return residual_norm(tape, form, in(tape, "x"), z);
}

static xlm_var *of_segment(xlm_tape *tape, const struct form *form)
{
    return xlm_tape_segment(tape, product(tape, form), inside, form);
}

static void test_residual_norm(void **state)
{
    (void)state;
    build *const makes[] = {of_product, of_shared, of_used, of_same, of_constant_x, of_constant_z, of_segment};
    for (size_t k = 0; k < G_N_ELEMENTS(makes); k++) {
        compare_sizes(makes[k], 0.3, true);
        compare_sizes(makes[k], 0, true);
    }
    compare_sizes(of_product, 1e-6, true); /* rounds to 0 */
    compare_sizes(of_product, 0.3, false);
}

int main(void)
{
    omp_set_num_threads(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gelu),
        cmocka_unit_test(test_residual_norm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
