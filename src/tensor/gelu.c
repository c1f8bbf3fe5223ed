/* xlm-mpi: GELU (Hendrycks, Gimpel 2016) and other activations of a matrix and the bias before it.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "kernels/kernels.h"
#include "tensor/tape.h"

struct state {
    xlm_tape *tape;
    const xlm_activation_kernels *kernel;
    xlm_var *x, *bias, *y; /* n x d, 1 x d or NULL, n x d */
};

/* Computes dx row by row and, at the same time, the column sums of each chunk of rows, [chunks x d], which add up to the gradient
 * of the bias. */
static void backward(void *pointer)
{
    const struct state *s = pointer;
    const int64_t n = s->x->rows, d = s->x->cols, chunks = xlm_chunks(n);
    xlm_real *db = s->bias != NULL ? xlm_grad_add(s->bias) : NULL;
    xlm_real *partial = db != NULL ? XLM_TAPE_BORROW(s->tape, xlm_real, chunks * d) : NULL;
    const xlm_real *dy = s->y->grad, *bias = s->bias != NULL ? s->bias->value : NULL;
    const xlm_grad dx = xlm_grad_open_in_place(s->x, s->y);
    const bool numbers = xlm_var_has_numbers(s->y);
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t k = 0; k < (numbers ? chunks : 0); k++) {
        xlm_real *sums = partial != NULL ? partial + k * d : NULL;
        if (sums != NULL)
            memset(sums, 0, sizeof(xlm_real) * (size_t)d);
        for (int64_t i = k * XLM_CHUNK; i < MIN(n, (k + 1) * XLM_CHUNK); i++)
            s->kernel->back(d, s->x->value + i * d, bias, dy + i * d, dx.at != NULL ? dx.at + i * d : NULL, dx.add, sums);
    }
    if (partial == NULL)
        return;
    if (numbers)
        xlm_sum_chunks(chunks, d, partial, db);
    xlm_tape_return(s->tape, partial);
}

xlm_var *xlm_activate(xlm_tape *tape, xlm_activation activation, xlm_var *x, xlm_var *bias)
{
    static const char *const names[] = {[XLM_GELU] = "gelu", [XLM_GELU_TANH] = "gelu_tanh", [XLM_RELU] = "relu",
                                        [XLM_SWISH] = "swish"};
    const char *name = names[activation];
    const int64_t n = x->rows, d = x->cols;
    if (bias != NULL && (bias->rows != 1 || bias->cols != d))
        xlm_tape_fail(name, "the bias is %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT ", not 1 x %" G_GINT64_FORMAT, bias->rows,
                      bias->cols, d);
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *const inputs[] = {x, bias};
    xlm_var *y = xlm_tape_record(tape, name, n, d, bias != NULL ? 2 : 1, inputs, backward, s);
    y->keys = x->keys;
    *s = (struct state){.tape = tape, .kernel = &xlm_kernels_get()->activation[activation], .x = x, .bias = bias, .y = y};
    if (!xlm_var_has_numbers(y))
        return y;
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++)
        s->kernel->forward(d, x->value + i * d, bias != NULL ? bias->value : NULL, y->value + i * d, NULL);
    return y;
}

xlm_var *xlm_gelu(xlm_tape *tape, xlm_var *x, xlm_var *bias)
{
    return xlm_activate(tape, XLM_GELU, x, bias);
}

xlm_var *xlm_gelu_tanh(xlm_tape *tape, xlm_var *x, xlm_var *bias)
{
    return xlm_activate(tape, XLM_GELU_TANH, x, bias);
}
