/* xlm-mpi: values that are kept in bfloat16 beside floats, or in their place. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Products round their factors, so it makes no difference who rounds a value, and when: a layer whose operators read the rounded
 * values of others has the bits of one whose operators have floats alone to read. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <glib.h>
#include <omp.h>

#include "gemm/packed.h"
#include "tensor/feed_forward.h"
#include "tensor/parameters.h"
#include "tensor/products.h"
#include "tensor/tape.h"

enum { SEQUENCES = 4, ROWS = 173, WORDS = 50 };
static const int32_t OFFSETS[SEQUENCES + 1] = {0, 1, 120, 134, ROWS};

typedef struct layer {
    xlm_parameters *parameters;
    int64_t d, heads;
    int32_t targets[ROWS];
} layer;

static layer make_layer(int64_t d, int64_t heads)
{
    layer l = {.parameters = xlm_parameters_new(), .d = d, .heads = heads};
    const struct { const char *name; int64_t rows, cols; xlm_init init; } all[] = {
        {"x", ROWS, d, XLM_INIT_NORMAL},         {"gamma", 1, d, XLM_INIT_ONE},           {"beta", 1, d, XLM_INIT_NORMAL},
        {"attention", 3 * d, d, XLM_INIT_NORMAL}, {"bias", 1, 3 * d, XLM_INIT_NORMAL},     {"output", d, d, XLM_INIT_NORMAL},
        {"inner", 4 * d, d, XLM_INIT_NORMAL},     {"inner_bias", 1, 4 * d, XLM_INIT_NORMAL}, {"outer", d, 4 * d, XLM_INIT_NORMAL},
        {"words", WORDS, d, XLM_INIT_NORMAL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        xlm_parameters_add(l.parameters, all[i].name, all[i].rows, all[i].cols, all[i].init, false);
    xlm_parameters_seal(l.parameters);
    xlm_parameters_initialise(l.parameters, 5);
    for (int i = 0; i < ROWS; i++)
        l.targets[i] = i * 7 % WORDS;
    return l;
}

/* A result, which was rounded; unless it shall be seen so, with floats alone. */
static xlm_var *seen(xlm_var *y, bool rounded)
{
    assert_non_null(y->rounded);
    if (!rounded)
        y->rounded = NULL;
    return y;
}

/* The loss, and the gradients of all parameters, g_free them. rounded: operators read what others rounded. */
static float *run(const layer *l, bool rounded, double dropout, float *loss)
{
    float *gradients = g_new0(float, xlm_parameters_size(l->parameters));
    xlm_tape *tape = xlm_tape_new(l->parameters);
    xlm_tape_multiply_by(tape, true, XLM_BFLOAT16);
    xlm_tape_begin(tape, gradients, true, 1, 1);
    xlm_var *gamma = xlm_param(tape, "gamma"), *beta = xlm_param(tape, "beta");
    xlm_var *x = seen(xlm_layer_norm(tape, xlm_param(tape, "x"), gamma, beta, 1e-5), rounded);
    xlm_var *(*const make)(xlm_tape *, xlm_var *, xlm_var *, xlm_var *) = rounded ? xlm_linear_to_rounded : xlm_linear;
    xlm_var *parts = make(tape, x, xlm_param(tape, "attention"), xlm_param(tape, "bias"));
    assert_true((parts->value == NULL) == rounded && (parts->rounded != NULL) == rounded);
    const xlm_attention_inputs inputs = {.query = parts, .key = parts, .value = parts, .key_column = l->d,
                                         .value_column = 2 * l->d, .width = l->d, .heads = l->heads, .offsets = OFFSETS,
                                         .sequences = SEQUENCES, .dropout = dropout};
    xlm_var *z = xlm_linear(tape, xlm_attention(tape, &inputs), xlm_param(tape, "output"), NULL);
    x = seen(xlm_residual_norm(tape, x, z, NULL, dropout, gamma, beta, 1e-5), rounded);
    z = xlm_feed_forward(tape, XLM_GELU, x, xlm_param(tape, "inner"), xlm_param(tape, "inner_bias"), xlm_param(tape, "outer"));
    x = seen(xlm_residual_norm(tape, x, z, NULL, dropout, gamma, beta, 1e-5), rounded);
    xlm_var *y = xlm_vocab_cross_entropy(tape, x, xlm_param(tape, "words"), NULL, l->targets, ROWS, NULL);
    *loss = y->value[0];
    xlm_tape_seed(tape, y, 1);
    xlm_tape_backward(tape);
    xlm_tape_free(tape);
    return gradients;
}

static void compare(int64_t d, int64_t heads, double dropout)
{
    layer l = make_layer(d, heads);
    float loss[2];
    float *floats = run(&l, false, dropout, &loss[0]);
    for (int threads = 1; threads <= 3; threads++) {
        omp_set_num_threads(threads);
        float *found = run(&l, true, dropout, &loss[1]);
        omp_set_num_threads(1);
        assert_memory_equal(&loss[1], &loss[0], sizeof *loss);
        for (int k = 0; k < xlm_parameters_count(l.parameters); k++) {
            const xlm_parameter *p = xlm_parameters_get(l.parameters, k);
            if (memcmp(found + p->start, floats + p->start, sizeof *found * (size_t)(p->rows * p->cols)) != 0)
                fail_msg("width %d, dropout %g, %d threads: the gradient of %s has other bits", (int)d, dropout, threads,
                         p->name);
        }
        g_free(found);
    }
    g_free(floats);
    xlm_parameters_free(l.parameters);
}

static void same_bits(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        if (round == 1)
            g_setenv("XLM_BF16_EMULATE", "1", TRUE);
        if (xlm_packed_lacks(XLM_BFLOAT16) != NULL)
            continue;
        compare(64, 2, 0);
        compare(64, 2, 0.1);
        compare(27, 3, 0.1); /* heads of an odd width */
    }
    g_unsetenv("XLM_BF16_EMULATE");
}

/* Without products in bfloat16 nothing is rounded. */
static void floats_stay(void **state)
{
    (void)state;
    layer l = make_layer(64, 2);
    xlm_tape *tape = xlm_tape_new(l.parameters);
    xlm_tape_begin(tape, NULL, false, 1, 1);
    xlm_var *x = xlm_layer_norm(tape, xlm_param(tape, "x"), xlm_param(tape, "gamma"), xlm_param(tape, "beta"), 1e-5);
    assert_null(x->rounded);
    xlm_var *y = xlm_linear_to_rounded(tape, x, xlm_param(tape, "attention"), xlm_param(tape, "bias"));
    assert_true(y->value != NULL && y->rounded == NULL);
    xlm_tape_free(tape);
    xlm_parameters_free(l.parameters);
}

static void others_refuse(void **state)
{
    (void)state;
    g_setenv("XLM_BF16_EMULATE", "1", TRUE);
    const pid_t child = fork(); /* before OpenMP has threads, which a child does not inherit */
    if (child == 0) {
        signal(SIGTRAP, SIG_DFL);
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        layer l = make_layer(64, 2);
        xlm_tape *tape = xlm_tape_new(l.parameters);
        xlm_tape_multiply_by(tape, true, XLM_BFLOAT16);
        xlm_tape_begin(tape, NULL, false, 1, 1);
        xlm_scale(tape, xlm_linear_to_rounded(tape, xlm_param(tape, "x"), xlm_param(tape, "attention"), NULL), 2);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && (WTERMSIG(status) == SIGTRAP || WTERMSIG(status) == SIGABRT));
    g_unsetenv("XLM_BF16_EMULATE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_refuse), /* the first, see there */
        cmocka_unit_test(same_bits),
        cmocka_unit_test(floats_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
