/* xlm-mpi: layer normalisation (Ba, Kiros, Hinton 2016). SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "kernels/kernels.h"
#include "tensor/products.h"
#include "tensor/tape.h"

struct state {
    xlm_tape *tape;
    xlm_var *x, *gamma, *beta, *y;
    xlm_real *stats; /* [n x 2] mean, 1 / sqrt(variance + ε) */
};

/* Computes dx row by row, and the gradients of γ and β side by side in one array of partial sums, [chunks x 2 d]. */
static void backward(void *pointer)
{
    const struct state *s = pointer;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = s->x->rows, d = s->x->cols, chunks = xlm_chunks(n);
    xlm_real *partial = XLM_TAPE_BORROW(s->tape, xlm_real, chunks * 2 * d);
    const xlm_real *dy = s->y->grad;
    const xlm_grad dx = xlm_grad_open_in_place(s->x, s->y);
    const bool numbers = xlm_var_has_numbers(s->y);
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t k = 0; k < (numbers ? chunks : 0); k++) {
        xlm_real *dgamma = partial + k * 2 * d, *dbeta = dgamma + d;
        memset(dgamma, 0, sizeof(xlm_real) * (size_t)(2 * d));
        for (int64_t i = k * XLM_CHUNK; i < MIN(n, (k + 1) * XLM_CHUNK); i++)
            kernel->layer_norm_back(d, s->x->value + i * d, s->gamma->value, s->stats + 2 * i, dy + i * d,
                                    dx.at != NULL ? dx.at + i * d : NULL, dx.add, dgamma, dbeta);
    }
    xlm_real *sums = XLM_TAPE_BORROW(s->tape, xlm_real, 2 * d);
    if (numbers) {
        memset(sums, 0, sizeof(xlm_real) * (size_t)(2 * d));
        xlm_sum_chunks(chunks, 2 * d, partial, sums);
    }
    xlm_real *dgamma = xlm_grad_add(s->gamma), *dbeta = s->beta != NULL ? xlm_grad_add(s->beta) : NULL;
    if (dgamma != NULL && numbers)
        kernel->add(d, dgamma, sums, dgamma);
    if (dbeta != NULL && numbers)
        kernel->add(d, dbeta, sums + d, dbeta);
    xlm_tape_return(s->tape, sums);
    xlm_tape_return(s->tape, partial);
}

xlm_var *xlm_layer_norm(xlm_tape *tape, xlm_var *x, xlm_var *gamma, xlm_var *beta, double epsilon)
{
    const int64_t n = x->rows, d = x->cols;
    if (gamma->rows != 1 || gamma->cols != d || (beta != NULL && (beta->rows != 1 || beta->cols != d)))
        xlm_tape_fail("layer_norm", "gamma and beta must be 1 x %" G_GINT64_FORMAT, d);
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *const inputs[] = {x, gamma, beta};
    xlm_var *y = xlm_tape_record(tape, "layer_norm", n, d, beta != NULL ? 3 : 2, inputs, backward, s);
    y->keys = x->keys;
    *s = (struct state){.tape = tape, .x = x, .gamma = gamma, .beta = beta, .y = y,
                        .stats = XLM_TAPE_NUMBERS(tape, xlm_real, 2 * n)};
    const xlm_kernels *kernel = xlm_kernels_get();
    uint16_t *rounded = xlm_products_take_rounded(tape, y);
    if (!xlm_var_has_numbers(y))
        return y;
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++) {
        kernel->layer_norm(d, x->value + i * d, gamma->value, beta != NULL ? beta->value : NULL, (xlm_real)epsilon,
                           y->value + i * d, s->stats + 2 * i);
        if (rounded != NULL)
            kernel->to_bfloat16(d, y->value + i * d, rounded + i * d);
    }
    return y;
}
