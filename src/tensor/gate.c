/* xlm-mpi: gated activations (Shazeer 2020) of a matrix and the bias before it. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With (u, v) = x + b and y = a(u) v, the derivatives a'(u) v and a(u) are kept for the backward pass. */
#include <string.h>

#include "kernels/kernels.h"
#include "tensor/tape.h"

struct state {
    xlm_tape *tape;
    xlm_var *x, *bias, *y;  /* n x 2 d, 1 x 2 d or NULL, n x d */
    xlm_real *slope;        /* [n x 2 d] dy/du and dy/dv, side by side */
};

/* The gradients of a row: dx = or += slope dy, and their sums for the bias. spare: [2 d] */
static void row_backward(const struct state *s, int64_t i, xlm_grad dx, xlm_real *spare, xlm_real *sums)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t d = s->y->cols;
    xlm_real *row = dx.at != NULL && !dx.add ? dx.at + i * 2 * d : spare;
    for (int half = 0; half < 2; half++)
        kernel->slope_back(d, s->slope + (2 * i + half) * d, s->y->grad + i * d, row + half * d,
                           sums != NULL ? sums + half * d : NULL);
    if (dx.at != NULL && dx.add)
        kernel->add(2 * d, dx.at + i * 2 * d, row, dx.at + i * 2 * d);
}

static void backward(void *pointer)
{
    const struct state *s = pointer;
    const int64_t n = s->y->rows, d = s->y->cols, chunks = xlm_chunks(n);
    xlm_real *db = s->bias != NULL ? xlm_grad_add(s->bias) : NULL;
    xlm_real *partial = XLM_TAPE_BORROW(s->tape, xlm_real, chunks * 4 * d); /* of each chunk: sums for the bias, a spare row */
    const xlm_grad dx = xlm_grad_open(s->x);
    const bool numbers = xlm_var_has_numbers(s->y);
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t k = 0; k < (numbers ? chunks : 0); k++) {
        xlm_real *sums = partial + k * 2 * d, *spare = partial + (chunks + k) * 2 * d;
        memset(sums, 0, sizeof(xlm_real) * (size_t)(2 * d));
        for (int64_t i = k * XLM_CHUNK; i < MIN(n, (k + 1) * XLM_CHUNK); i++)
            row_backward(s, i, dx, spare, sums);
    }
    if (db != NULL && numbers)
        xlm_sum_chunks(chunks, 2 * d, partial, db);
    xlm_tape_return(s->tape, partial);
}

xlm_var *xlm_gate(xlm_tape *tape, xlm_activation activation, xlm_var *x, xlm_var *bias)
{
    const int64_t n = x->rows, d = x->cols / 2;
    if (x->cols % 2 != 0 || (bias != NULL && (bias->rows != 1 || bias->cols != x->cols)))
        xlm_tape_fail("gate", "x has %" G_GINT64_FORMAT " columns, the bias %" G_GINT64_FORMAT, x->cols,
                      bias != NULL ? bias->cols : 0);
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *const inputs[] = {x, bias};
    xlm_var *y = xlm_tape_record(tape, "gate", n, d, bias != NULL ? 2 : 1, inputs, backward, s);
    y->keys = x->keys;
    *s = (struct state){.tape = tape, .x = x, .bias = bias, .y = y};
    if (y->grad != NULL)
        s->slope = XLM_TAPE_NUMBERS(tape, xlm_real, n * 2 * d);
    if (!xlm_var_has_numbers(y))
        return y;
    const xlm_activation_kernels *kernel = &xlm_kernels_get()->activation[activation];
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++) {
        xlm_real *slope = s->slope != NULL ? s->slope + i * 2 * d : NULL;
        kernel->gate(d, x->value + i * 2 * d, bias != NULL ? bias->value : NULL, y->value + i * d, slope,
                     slope != NULL ? slope + d : NULL);
    }
    return y;
}
