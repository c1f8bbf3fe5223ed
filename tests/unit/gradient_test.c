/* xlm-mpi: gradient of every operator of the tensor floor. SPDX-License-Identifier: GPL-3.0-or-later */
#include "gradient.h"

/* Rows below, at and above a chunk of the sums over rows; widths that no vector divides. */
static const struct { int rows, in, out; } sizes[] = {{1, 3, 5}, {7, 5, 3}, {33, 17, 9}, {130, 3, 2}};

static xlm_var *in(xlm_tape *tape, const char *name) { return xlm_param(tape, name); }

static xlm_var *linear(xlm_tape *tape, void *bias)
{
    return xlm_linear(tape, in(tape, "x"), in(tape, "weight"), bias != NULL ? in(tape, "bias") : NULL);
}

static void test_linear(void **state)
{
    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(sizes); k++) {
        xlm_parameters *p = gradient_inputs("x", sizes[k].rows, sizes[k].in, "weight", sizes[k].out, sizes[k].in, "bias", 1,
                                            sizes[k].out, NULL);
        gradient_check(p, linear, p);
        gradient_check(p, linear, NULL);
        xlm_parameters_free(p);
    }
}

static xlm_var *layer_norm(xlm_tape *tape, void *context)
{
    (void)context;
    return xlm_layer_norm(tape, in(tape, "x"), in(tape, "gamma"), in(tape, "beta"), 1e-5);
}

static void test_layer_norm(void **state)
{
    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(sizes); k++) {
        xlm_parameters *p = gradient_inputs("x", sizes[k].rows, sizes[k].in, "gamma", 1, sizes[k].in, "beta", 1, sizes[k].in,
                                            NULL);
        gradient_check(p, layer_norm, NULL);
        xlm_parameters_free(p);
    }
}

static xlm_var *gelu(xlm_tape *tape, void *context)
{
    (void)context;
    return xlm_gelu(tape, xlm_scale(tape, in(tape, "x"), 3), NULL);
}

static xlm_var *gelu_of_sum(xlm_tape *tape, void *context)
{
    (void)context;
    return xlm_gelu(tape, xlm_scale(tape, in(tape, "x"), 3), in(tape, "bias"));
}

/* x goes elsewhere before and after, the bias too, and it is not a parameter. */
static xlm_var *gelu_of_shared(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *x = xlm_scale(tape, in(tape, "x"), 1.5), *before = xlm_scale(tape, x, 0.5);
    xlm_var *bias = xlm_scale(tape, in(tape, "bias"), 2);
    xlm_var *y = xlm_gelu(tape, x, bias), *z = xlm_gelu(tape, xlm_add(tape, y, before), bias);
    return xlm_add(tape, xlm_add(tape, y, x), z);
}

/* Numbers that want no gradient. */
static xlm_var *constant(xlm_tape *tape, int64_t rows, int64_t cols)
{
    double *values = g_new(double, rows * cols);
    for (int64_t i = 0; i < rows * cols; i++)
        values[i] = gradient_number(2000, i);
    xlm_var *x = xlm_constant(tape, rows, cols, values);
    g_free(values);
    return x;
}

static xlm_var *gelu_of_constant(xlm_tape *tape, void *rows)
{
    xlm_var *bias = in(tape, "bias");
    return xlm_gelu(tape, constant(tape, *(const int *)rows, bias->cols), bias);
}

static xlm_var *gelu_with_constant(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *x = in(tape, "x");
    return xlm_gelu(tape, x, constant(tape, 1, x->cols));
}

static xlm_var *gelu_tanh_of_sum(xlm_tape *tape, void *context)
{
    (void)context;
    return xlm_gelu_tanh(tape, xlm_scale(tape, in(tape, "x"), 3), in(tape, "bias"));
}

/* For operators that make sums over rows besides their results: rows around a chunk, columns around vectors, each with one of the
 * other, since rows and columns are cut independently; and one with several chunks of several vectors. */
static struct { int rows, cols; } shapes[] = {{1, 7},  {7, 7},  {33, 7},  {65, 7},  {130, 7}, {33, 1},
                                              {33, 16}, {33, 33}, {33, 80}, {65, 33}};

static void test_gelu(void **state)
{
    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(shapes); k++) {
        const int rows = shapes[k].rows, cols = shapes[k].cols;
        xlm_parameters *p = gradient_inputs("x", rows, cols, "bias", 1, cols, NULL);
        gradient_check(p, gelu, NULL);
        gradient_check(p, gelu_of_sum, NULL);
        gradient_check(p, gelu_tanh_of_sum, NULL);
        gradient_check(p, gelu_of_shared, NULL);
        xlm_parameters_free(p);
        p = gradient_inputs("bias", 1, cols, NULL);
        gradient_check(p, gelu_of_constant, &shapes[k].rows);
        xlm_parameters_free(p);
        p = gradient_inputs("x", rows, cols, NULL);
        gradient_check(p, gelu_with_constant, NULL);
        xlm_parameters_free(p);
    }
}

/* The tape is training and its seed and step are fixed, so the draws are too. */
static xlm_var *dropout(xlm_tape *tape, void *p) { return xlm_dropout(tape, in(tape, "x"), *(double *)p); }

static xlm_var *scale(xlm_tape *tape, void *context)
{
    (void)context;
    return xlm_scale(tape, in(tape, "x"), -1.75);
}

static xlm_var *relu(xlm_tape *tape, void *context)
{
    (void)context;
    return xlm_relu(tape, in(tape, "x"));
}

/* x goes elsewhere before and after. */
static xlm_var *tanh_of_shared(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *x = xlm_scale(tape, in(tape, "x"), 1.3), *y = xlm_tanh(tape, x);
    return xlm_add(tape, xlm_tanh(tape, y), xlm_add(tape, x, y));
}

static xlm_var *relu_of_shared(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *x = xlm_scale(tape, in(tape, "x"), -1.5), *before = xlm_scale(tape, x, 0.5), *y = xlm_relu(tape, x);
    for (int64_t i = 0; i < x->rows * x->cols && xlm_var_has_numbers(x); i++)
        assert_true(y->value[i] == (x->value[i] > 0 ? x->value[i] : 0));
    return xlm_add(tape, xlm_add(tape, y, x), xlm_relu(tape, before));
}

static xlm_var *mean(xlm_tape *tape, void *context)
{
    (void)context;
    return xlm_mean(tape, in(tape, "x"));
}

static void test_elementwise(void **state)
{
    (void)state;
    double rates[] = {0, 0.1, 0.5};
    for (size_t k = 0; k < G_N_ELEMENTS(sizes); k++) {
        xlm_parameters *p = gradient_inputs("x", sizes[k].rows, sizes[k].in, NULL);
        gradient_check(p, scale, NULL);
        gradient_check(p, relu, NULL);
        gradient_check(p, relu_of_shared, NULL);
        gradient_check(p, tanh_of_shared, NULL);
        gradient_check(p, mean, NULL);
        for (size_t r = 0; r < G_N_ELEMENTS(rates); r++)
            gradient_check(p, dropout, &rates[r]);
        xlm_parameters_free(p);
    }
}

/* Sums over several blocks of elements. */
static void test_mean_of_many(void **state)
{
    (void)state;
    xlm_parameters *p = gradient_inputs("x", 71, 259, NULL);
    gradient_check(p, mean, NULL);
    xlm_parameters_free(p);
}

static xlm_var *add(xlm_tape *tape, void *context)
{
    (void)context;
    return xlm_add(tape, in(tape, "a"), in(tape, "b"));
}

static xlm_var *add_same(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *x = xlm_gelu(tape, in(tape, "a"), NULL);
    return xlm_add(tape, x, x);
}

static xlm_var *cosine(xlm_tape *tape, void *context)
{
    (void)context;
    return xlm_cosine(tape, in(tape, "a"), in(tape, "b"));
}

/* For a variable with itself the gradient is zero; for two that share a source, both paths add up. */
static xlm_var *cosine_of_kin(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *x = xlm_gelu(tape, in(tape, "a"), NULL);
    return xlm_add(tape, xlm_cosine(tape, x, xlm_add(tape, x, in(tape, "b"))), xlm_cosine(tape, x, x));
}

static void test_two_inputs(void **state)
{
    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(sizes); k++) {
        xlm_parameters *p = gradient_inputs("a", sizes[k].rows, sizes[k].in, "b", sizes[k].rows, sizes[k].in, NULL);
        gradient_check(p, add, NULL);
        gradient_check(p, add_same, NULL);
        gradient_check(p, cosine, NULL);
        gradient_check(p, cosine_of_kin, NULL);
        xlm_parameters_free(p);
    }
}

/* What is not a number stays so, and its gradient too; 0 and less are 0 without a sign. */
static void test_not_a_number(void **state)
{
    (void)state;
    xlm_parameters *p = gradient_inputs("a", 3, 5, "b", 3, 5, NULL);
    double gradient[32] = {0}, *a = xlm_parameters_values(p);
    a[0] = NAN;
    a[5] = -0.0;
    memset(a + 16, 0, 5 * sizeof(double)); /* the first row of b */
    xlm_tape *tape = xlm_tape_new(p);
    xlm_tape_begin(tape, gradient, true, 1, 1);
    const xlm_var *y = xlm_relu(tape, in(tape, "a")), *z = cosine(tape, NULL);
    assert_true(isnan(y->value[0]) && y->value[5] == 0 && !signbit(y->value[5]));
    assert_true(isnan(z->value[0]) && isfinite(z->value[1]) && isfinite(z->value[2]));
    xlm_tape_begin(tape, gradient, true, 1, 1);
    xlm_tape_seed(tape, xlm_mean(tape, cosine(tape, NULL)), 1);
    xlm_tape_backward(tape);
    assert_true(isnan(gradient[1]) && isfinite(gradient[6]));
    xlm_tape_free(tape);
    xlm_parameters_free(p);
}

static void test_cosine_of_zero(void **state)
{
    (void)state;
    xlm_parameters *p = gradient_inputs("a", 3, 5, "b", 3, 5, NULL);
    double gradient[32] = {0};
    memset(xlm_parameters_values(p), 0, 5 * sizeof(double));
    xlm_tape *tape = xlm_tape_new(p);
    xlm_tape_begin(tape, gradient, true, 1, 1);
    xlm_var *y = cosine(tape, NULL);
    assert_true(y->value[0] == 0 && y->value[1] != 0);
    xlm_tape_seed(tape, xlm_mean(tape, y), 1);
    xlm_tape_backward(tape);
    for (int c = 0; c < 5; c++) {
        assert_true(gradient[c] == 0 && gradient[16 + c] == 0);
        assert_true(gradient[5 + c] != 0 && gradient[21 + c] != 0);
    }
    xlm_tape_free(tape);
    xlm_parameters_free(p);
}

/* A row taken thrice, rows never taken. */
static const int32_t repeats[] = {4, 0, 4, 6, 4, 2, 0};

static xlm_var *rows_of_parameter(xlm_tape *tape, void *context)
{
    (void)context;
    return xlm_rows(tape, in(tape, "a"), repeats, G_N_ELEMENTS(repeats));
}

static xlm_var *rows_of_result(xlm_tape *tape, void *context)
{
    (void)context;
    return xlm_rows(tape, xlm_gelu(tape, in(tape, "a"), NULL), repeats, G_N_ELEMENTS(repeats));
}

static xlm_var *embedding_sum(xlm_tape *tape, void *context)
{
    (void)context;
    static const int32_t second[] = {1, 1, 1, 0, 0, 1, 0}, some[] = {-1, 3, -1, -1, 0, 3, 6}, none[] = {1, -1, 0, -1, 1, -1, -1};
    /* The first and the third are one table, as in a model with tied embeddings. */
    xlm_var *const table[] = {in(tape, "a"), in(tape, "b"), in(tape, "a"), xlm_scale(tape, in(tape, "b"), 2)};
    const int32_t *const index[] = {repeats, second, second, second}, *const without[] = {some, none};
    return xlm_add(tape, xlm_embedding_sum(tape, 4, table, index, 7, NULL), xlm_embedding_sum(tape, 2, table, without, 7, NULL));
}

static void test_rows(void **state)
{
    (void)state;
    static const int cols[] = {1, 5, 33};
    for (size_t k = 0; k < G_N_ELEMENTS(cols); k++) {
        xlm_parameters *p = gradient_inputs("a", 7, cols[k], "b", 2, cols[k], NULL);
        gradient_check(p, rows_of_parameter, NULL);
        gradient_check(p, rows_of_result, NULL);
        gradient_check(p, embedding_sum, NULL);
        xlm_parameters_free(p);
    }
}

/* ---- the end of a sublayer ---- */

struct ending {
    bool bias;
    double p;
};

static xlm_var *end_sublayer(xlm_tape *tape, const struct ending *e, xlm_var *x, xlm_var *z)
{
    return xlm_residual_norm(tape, x, z, e->bias ? in(tape, "bias") : NULL, e->p, in(tape, "gamma"), in(tape, "beta"), 1e-2);
}

static xlm_var *residual_norm(xlm_tape *tape, void *ending) { return end_sublayer(tape, ending, in(tape, "x"), in(tape, "z")); }

/* z passes its value on; x and y go elsewhere too. */
static xlm_var *residual_norm_of_shared(xlm_tape *tape, void *ending)
{
    xlm_var *x = xlm_scale(tape, in(tape, "x"), 1.5), *before = xlm_gelu(tape, x, NULL);
    xlm_var *y = end_sublayer(tape, ending, x, xlm_linear(tape, in(tape, "h"), in(tape, "weight"), NULL));
    xlm_var *again = end_sublayer(tape, ending, y, xlm_linear(tape, in(tape, "h"), in(tape, "weight"), NULL));
    return xlm_add(tape, xlm_add(tape, y, again), xlm_add(tape, before, x));
}

/* The gradient of z has another source, which comes first or last. */
static xlm_var *residual_norm_of_shared_z(xlm_tape *tape, void *ending)
{
    xlm_var *x = xlm_scale(tape, in(tape, "x"), 1.5), *z = xlm_scale(tape, in(tape, "z"), 0.5);
    xlm_var *before = xlm_gelu(tape, z, NULL), *y = end_sublayer(tape, ending, x, z);
    return xlm_add(tape, xlm_add(tape, y, before), z);
}

static xlm_var *residual_norm_of_same(xlm_tape *tape, void *ending)
{
    xlm_var *x = xlm_scale(tape, in(tape, "x"), 1.5);
    return end_sublayer(tape, ending, x, x);
}

static void check_residual_norm(int rows, int cols, struct ending *e)
{
    xlm_parameters *p = gradient_inputs("x", rows, cols, "z", rows, cols, "gamma", 1, cols, "beta", 1, cols, "bias", 1, cols,
                                        NULL);
    gradient_check(p, residual_norm, e);
    gradient_check(p, residual_norm_of_shared_z, e);
    gradient_check(p, residual_norm_of_same, e);
    xlm_parameters_free(p);
    p = gradient_inputs("x", rows, cols, "h", rows, 3, "weight", cols, 3, "gamma", 1, cols, "beta", 1, cols, "bias", 1, cols,
                        NULL);
    gradient_check(p, residual_norm_of_shared, e);
    xlm_parameters_free(p);
}

static void test_residual_norm(void **state)
{
    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(shapes); k++)
        for (int form = 0; form < 4; form++)
            check_residual_norm(shapes[k].rows, shapes[k].cols, &(struct ending){.bias = form & 1, .p = form & 2 ? 0.25 : 0});
}

/* Variables used several times, in every order of first and last use, and one that nothing depends on. */
static xlm_var *network(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *x = xlm_scale(tape, in(tape, "x"), 1.5);
    xlm_var *h = xlm_linear(tape, x, in(tape, "up"), in(tape, "up_bias"));
    xlm_var *unused = xlm_gelu(tape, h, NULL);
    xlm_var *inner = xlm_dropout(tape, xlm_gelu(tape, h, NULL), 0.25);
    xlm_var *sum = xlm_add(tape, x, xlm_dropout(tape, xlm_linear(tape, inner, in(tape, "down"), NULL), 0.1));
    xlm_var *y = xlm_layer_norm(tape, sum, in(tape, "gamma"), in(tape, "beta"), 1e-12);
    (void)unused;
    return xlm_add(tape, xlm_add(tape, y, sum), xlm_scale(tape, y, 2));
}

static xlm_var *diamonds(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *x = xlm_scale(tape, in(tape, "x"), 1.5);
    xlm_var *h = xlm_linear(tape, x, in(tape, "up"), in(tape, "up_bias"));
    xlm_var *a = xlm_gelu(tape, h, NULL), *b = xlm_dropout(tape, h, 0.25), *c = xlm_add(tape, a, b);
    xlm_var *d = xlm_linear(tape, xlm_add(tape, xlm_add(tape, c, a), xlm_add(tape, b, c)), in(tape, "down"), NULL);
    return xlm_layer_norm(tape, xlm_add(tape, x, d), in(tape, "gamma"), in(tape, "beta"), 1e-12);
}

static void test_networks(void **state)
{
    (void)state;
    for (size_t k = 0; k < G_N_ELEMENTS(sizes); k++) {
        const int d = sizes[k].in, f = sizes[k].out;
        xlm_parameters *p = gradient_inputs("x", sizes[k].rows, d, "up", f, d, "up_bias", 1, f, "down", d, f, "gamma", 1, d,
                                            "beta", 1, d, NULL);
        gradient_check(p, network, NULL);
        gradient_check(p, diamonds, NULL);
        xlm_parameters_free(p);
    }
}

/* ---- an operator of one's own ---- */

struct square {
    xlm_var *x, *y;
    xlm_real *values; /* of x */
    int *calls;
};

static void square_backward(void *pointer)
{
    const struct square *s = pointer;
    const xlm_real *dy = xlm_var_gradient(s->y);
    xlm_real *dx = xlm_var_input_gradient(s->x);
    /* However often they are asked for, also where memory is only counted. */
    assert_ptr_equal(xlm_var_gradient(s->y), dy);
    assert_ptr_equal(xlm_var_input_gradient(s->x), dx);
    ++*s->calls;
    for (int64_t i = 0; i < xlm_var_rows(s->x) * xlm_var_cols(s->x); i++)
        dx[i] += 2 * s->values[i] * dy[i];
}

static xlm_var *square(xlm_tape *tape, xlm_var *x, int *calls)
{
    struct square *s = xlm_tape_take(tape, sizeof *s);
    xlm_var *y = xlm_operator(tape, x->rows, x->cols, 1, &x, square_backward, s);
    const int64_t rows = xlm_var_rows(x), cols = xlm_var_cols(x);
    xlm_real *squares = xlm_tape_take(tape, sizeof *squares * (uint64_t)(rows * cols));
    *s = (struct square){.x = x, .y = y, .calls = calls, .values = xlm_tape_take(tape, sizeof *squares * (uint64_t)(rows * cols))};
    xlm_var_read(x, 0, rows, s->values);
    for (int64_t i = 0; i < rows * cols; i++)
        squares[i] = s->values[i] * s->values[i];
    xlm_var_write(y, 0, rows, squares);
    return y;
}

static xlm_var *squares(xlm_tape *tape, void *calls)
{
    xlm_var *x = xlm_gelu(tape, in(tape, "x"), NULL), *y = square(tape, x, calls);
    return xlm_add(tape, square(tape, y, calls), xlm_add(tape, x, y));
}

static void test_own_operator(void **state)
{
    (void)state;
    int calls = 0;
    xlm_parameters *p = gradient_inputs("x", 7, 3, NULL);
    gradient_check(p, squares, &calls);
    assert_int_equal(calls, 4); /* twice, and twice on shapes */
    xlm_parameters_free(p);
}

/* A stack is one variable over the values and gradients of its parameters. */
static xlm_var *stacked(xlm_tape *tape, void *context)
{
    (void)context;
    xlm_var *y = xlm_linear(tape, in(tape, "x"), xlm_param_stack(tape, "w.0", 3), xlm_param_stack(tape, "b.0", 3));
    return xlm_add(tape, y, xlm_linear(tape, in(tape, "x"), xlm_param_stack(tape, "w.0", 3), NULL));
}

static void test_stack(void **state)
{
    (void)state;
    const char *const weights[] = {"w.0", "w.1", "w.2"}, *const biases[] = {"b.0", "b.1", "b.2"};
    xlm_parameters *p = xlm_parameters_new();
    xlm_parameters_add(p, "x", 7, 5, XLM_INIT_NORMAL, true);
    xlm_parameters_add_stack(p, 3, weights, 3, 5, XLM_INIT_NORMAL, true);
    xlm_parameters_add_stack(p, 3, biases, 1, 3, XLM_INIT_NORMAL, true);
    xlm_parameters_seal(p);
    xlm_parameters_initialise(p, 3);
    gradient_check(p, stacked, NULL);
    xlm_parameters_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),      cmocka_unit_test(test_layer_norm),     cmocka_unit_test(test_elementwise),
        cmocka_unit_test(test_gelu),         cmocka_unit_test(test_residual_norm),
        cmocka_unit_test(test_mean_of_many), cmocka_unit_test(test_two_inputs),    cmocka_unit_test(test_cosine_of_zero),
        cmocka_unit_test(test_not_a_number),
        cmocka_unit_test(test_rows),        cmocka_unit_test(test_networks),       cmocka_unit_test(test_own_operator),
        cmocka_unit_test(test_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
