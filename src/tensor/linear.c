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
    xlm_real *db = s->bias != NULL ? xlm_grad_add(s->bias) : NULL;
    xlm_product_backward(s->tape, n, s->y->grad, xlm_factor_of(s->x, 0), s->weight, dx, dw, db);
}

static xlm_var *linear(xlm_tape *tape, xlm_var *x, xlm_var *weight, xlm_var *bias, bool rounded)
{
    const int64_t n = x->rows, in = x->cols, out = weight->rows;
    if (weight->cols != in)
        xlm_tape_fail("linear", "x has %" G_GINT64_FORMAT " columns, the weight %" G_GINT64_FORMAT, in, weight->cols);
    if (bias != NULL && (bias->rows != 1 || bias->cols != out))
        xlm_tape_fail("linear", "the bias is %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT ", not 1 x %" G_GINT64_FORMAT,
                      bias->rows, bias->cols, out);
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *const inputs[] = {x, weight, bias};
    xlm_var *y = xlm_tape_record_rounded(tape, "linear", n, out, bias != NULL ? 3 : 2, inputs, backward, s,
                                         (xlm_tape_rounded){.result = rounded});
    y->keys = x->keys;
    *s = (struct state){.tape = tape, .x = x, .weight = weight, .bias = bias, .y = y};
    if (rounded)
        xlm_product_to_rounded(tape, n, xlm_factor_of(x, 0), weight, bias, y->rounded);
    else
        xlm_product(tape, n, xlm_factor_of(x, 0), weight, bias, y->value);
    return y;
}

xlm_var *xlm_linear(xlm_tape *tape, xlm_var *x, xlm_var *weight, xlm_var *bias)
{
    xlm_var *y = linear(tape, x, weight, bias, false);
    xlm_tape_passing(y);
    return y;
}

xlm_var *xlm_linear_to_rounded(xlm_tape *tape, xlm_var *x, xlm_var *weight, xlm_var *bias)
{
    return linear(tape, x, weight, bias, xlm_product_rounds(tape, weight));
}
