/* xlm-mpi: y = x Wᵀ + b. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/products.h"
#include "tensor/tape.h"

struct state {
    xlm_tape *tape;
    xlm_var *x, *weight, *bias, *y; /* n x in, out x in, 1 x out or NULL, n x out */
};

/* dx = dy W, dW = dyᵀ x, db = column sums of dy. */
static void backward(void *pointer)
{
    const struct state *s = pointer;
    const int64_t n = s->x->rows;
    const xlm_grad dx = xlm_grad_open(s->x), dw = xlm_grad_open(s->weight);
    xlm_product_backward(s->tape, n, s->y->grad, s->x->value, s->weight, dx, dw, s->bias != NULL ? xlm_grad_add(s->bias) : NULL);
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
