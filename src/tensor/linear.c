/* xlm-mpi: y = x Wᵀ + b, also with rotary position embeddings. SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernels/kernels.h"
#include "tensor/products.h"
#include "tensor/tape.h"

struct state {
    xlm_tape *tape;
    xlm_var *x, *weight, *bias, *y; /* n x in, out x in, 1 x out or NULL, n x out */
    xlm_rotation rotation;          /* heads 0: none */
};

void xlm_rotation_check(const char *operator_name, const xlm_rotation *r, int64_t n, int64_t cols)
{
    if (r->w % 2 != 0 || r->heads * r->w > cols)
        xlm_tape_fail(operator_name, "%" G_GINT64_FORMAT " heads of width %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " columns",
                      r->heads, r->w, cols);
    for (int64_t i = 0; i < n; i++)
        if (r->at[i] < 0 || r->at[i] >= r->positions)
            xlm_tape_fail(operator_name, "row %" G_GINT64_FORMAT " is at position %d of %" G_GINT64_FORMAT, i, (int)r->at[i],
                          r->positions);
}

void xlm_rotation_apply(const xlm_rotation *r, bool back, int64_t n, int64_t cols, xlm_real *y)
{
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static) if (n * r->heads * r->w > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++)
        kernel->rotate(r->heads, r->w, r->turns + r->at[i] * r->w, back, y + i * cols);
}

static void rotate_rounded(const xlm_rotation *r, int64_t n, int64_t cols, uint16_t *y)
{
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static) if (n * r->heads * r->w > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++)
        kernel->rotate_bfloat16(r->heads, r->w, r->turns + r->at[i] * r->w, y + i * cols);
}

/* The gradient before the rotation, in memory of y alone. */
static void rotate_back(const struct state *s)
{
    xlm_real *dy = xlm_grad_open(s->y).at;
    if (xlm_var_has_numbers(s->y))
        xlm_rotation_apply(&s->rotation, true, s->y->rows, s->y->cols, dy);
}

/* dx = dy W, dW = dyᵀ x, db = column sums of dy. */
static void backward(void *pointer)
{
    const struct state *s = pointer;
    const int64_t n = s->x->rows;
    if (s->rotation.heads > 0)
        rotate_back(s);
    const xlm_grad dx = xlm_grad_open(s->x), dw = xlm_grad_open(s->weight);
    xlm_real *db = s->bias != NULL ? xlm_grad_add(s->bias) : NULL;
    xlm_product_backward(s->tape, n, s->y->grad, xlm_factor_of(s->x, 0), s->weight, dx, dw, db);
}

static xlm_var *linear(xlm_tape *tape, xlm_var *x, xlm_var *weight, xlm_var *bias, bool rounded,
                       const xlm_rotation *rotation)
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
    if (rotation != NULL)
        s->rotation = *rotation;
    if (rounded)
        xlm_product_to_rounded(tape, n, xlm_factor_of(x, 0), weight, bias, y->rounded);
    else
        xlm_product(tape, n, xlm_factor_of(x, 0), weight, bias, y->value);
    if (rotation != NULL && xlm_var_has_numbers(y) && rounded)
        rotate_rounded(&s->rotation, n, out, y->rounded);
    else if (rotation != NULL && xlm_var_has_numbers(y))
        xlm_rotation_apply(&s->rotation, false, n, out, y->value);
    return y;
}

xlm_var *xlm_linear(xlm_tape *tape, xlm_var *x, xlm_var *weight, xlm_var *bias)
{
    xlm_var *y = linear(tape, x, weight, bias, false, NULL);
    xlm_tape_passing(y);
    return y;
}

xlm_var *xlm_linear_to_rounded(xlm_tape *tape, xlm_var *x, xlm_var *weight, xlm_var *bias)
{
    return linear(tape, x, weight, bias, xlm_product_rounds(tape, weight), NULL);
}

xlm_var *xlm_linear_rotated(xlm_tape *tape, xlm_var *x, xlm_var *weight, xlm_var *bias, const xlm_rotation *rotation)
{
    xlm_rotation_check("linear_rotated", rotation, x->rows, weight->rows);
    return linear(tape, x, weight, bias, xlm_product_rounds(tape, weight), rotation);
}
