/* xlm-mpi: y = x Wᵀ + b. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "tensor/kernels.h"
#include "tensor/products.h"
#include "tensor/tape.h"

struct state {
    xlm_tape *tape;
    xlm_var *x, *weight, *bias, *y; /* n x in, out x in, 1 x out or NULL, n x out */
};

/* db = column sums of dy. */
static void backward_bias(const struct state *s)
{
    xlm_real *db = xlm_grad_add(s->bias);
    if (db == NULL)
        return;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t rows = s->y->rows, cols = s->y->cols, chunks = xlm_chunks(rows);
    const xlm_real *dy = s->y->grad;
    xlm_real *partial = XLM_TAPE_BORROW(s->tape, xlm_real, chunks * cols);
#pragma omp parallel for schedule(static) if (rows * cols > XLM_PARALLEL)
    for (int64_t k = 0; k < chunks; k++) {
        memset(partial + k * cols, 0, sizeof(xlm_real) * (size_t)cols);
        kernel->column_sums(MIN(XLM_CHUNK, rows - k * XLM_CHUNK), cols, dy + k * XLM_CHUNK * cols, cols, partial + k * cols);
    }
    xlm_sum_chunks(chunks, cols, partial, db);
    xlm_tape_return(s->tape, partial);
}

/* dx = dy W, dW = dyᵀ x. */
static void backward(void *pointer)
{
    const struct state *s = pointer;
    const int64_t n = s->x->rows;
    const xlm_grad dx = xlm_grad_open(s->x), dw = xlm_grad_open(s->weight);
    xlm_product_backward(s->tape, n, s->y->grad, s->x->value, s->weight, dx, dw);
    if (s->bias != NULL)
        backward_bias(s);
}

xlm_var *xlm_linear(xlm_tape *tape, xlm_var *x, xlm_var *weight, xlm_var *bias)
{
    const int64_t n = x->rows, in = x->cols, out = weight->rows;
    if (weight->cols != in)
        xlm_tape_fail("linear", "x has %" G_GINT64_FORMAT " columns, the weight %" G_GINT64_FORMAT, in, weight->cols);
    if (bias != NULL && (bias->rows != 1 || bias->cols != out))
        xlm_tape_fail("linear", "the bias is %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT ", not 1 x %" G_GINT64_FORMAT,
                      bias->rows, bias->cols, out);
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *const inputs[] = {x, weight, bias};
    xlm_var *y = xlm_tape_record(tape, "linear", n, out, bias != NULL ? 3 : 2, inputs, backward, s);
    y->keys = x->keys;
    xlm_tape_passing(y);
    *s = (struct state){.tape = tape, .x = x, .weight = weight, .bias = bias, .y = y};
    xlm_product(tape, n, x->value, weight, bias, y->value);
    return y;
}
