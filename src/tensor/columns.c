/* xlm-mpi: columns of a matrix, taken and added to. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "kernels/kernels.h"
#include "tensor/columns.h"
#include "tensor/tape.h"

/* ---- taken ---- */

struct columns_state {
    xlm_var *x, *y;
    int64_t first;
};

static void columns_backward(void *pointer)
{
    const struct columns_state *s = pointer;
    xlm_real *dx = xlm_grad_add(s->x);
    if (dx == NULL || !xlm_var_has_numbers(s->y))
        return;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = s->y->cols, d = s->x->cols;
#pragma omp parallel for schedule(static) if (s->y->rows * n > XLM_PARALLEL)
    for (int64_t i = 0; i < s->y->rows; i++)
        kernel->scale(n, 1, s->y->grad + i * n, dx + i * d + s->first, true);
}

xlm_var *xlm_columns(xlm_tape *tape, xlm_var *x, int64_t first, int64_t n)
{
    if (first < 0 || n < 1 || first + n > x->cols)
        xlm_tape_fail("columns", "%" G_GINT64_FORMAT " from %" G_GINT64_FORMAT " on of %" G_GINT64_FORMAT, n, first, x->cols);
    struct columns_state *s = XLM_TAPE_TAKE(tape, struct columns_state, 1);
    xlm_var *y = xlm_tape_record(tape, "columns", x->rows, n, 1, &x, columns_backward, s);
    *s = (struct columns_state){.x = x, .y = y, .first = first};
    if (!xlm_var_has_numbers(y))
        return y;
#pragma omp parallel for schedule(static) if (y->rows * n > XLM_PARALLEL)
    for (int64_t i = 0; i < y->rows; i++)
        memcpy(y->value + i * n, x->value + i * x->cols + first, sizeof *y->value * (size_t)n);
    return y;
}

/* ---- added to, and perhaps rotated ---- */

struct state {
    xlm_var *a, *y;
    int n;
    xlm_var **b;            /* [n] */
    int64_t *column;        /* [n] */
    xlm_rotation rotation;  /* heads 0: none */
};

/* db (+)= the columns of dy. */
static void pass_columns(const xlm_var *y, xlm_var *b, int64_t column)
{
    const xlm_grad db = xlm_grad_open(b);
    if (db.at == NULL || !xlm_var_has_numbers(y))
        return;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t w = b->cols, d = y->cols;
#pragma omp parallel for schedule(static) if (b->rows * w > XLM_PARALLEL)
    for (int64_t i = 0; i < b->rows; i++)
        kernel->scale(w, 1, y->grad + i * d + column, db.at + i * w, db.add);
}

/* dy is read for b first, because a may then take over its memory. */
static void backward(void *pointer)
{
    const struct state *s = pointer;
    if (s->rotation.heads > 0) {
        xlm_real *dy = xlm_grad_open(s->y).at; /* in memory of y alone */
        if (xlm_var_has_numbers(s->y))
            xlm_rotation_apply(&s->rotation, true, s->y->rows, s->y->cols, dy);
    }
    for (int k = 0; k < s->n; k++)
        pass_columns(s->y, s->b[k], s->column[k]);
    xlm_grad_pass(s->a, s->y);
}

static void add(const struct state *s)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t d = s->y->cols;
#pragma omp parallel for schedule(static) if (s->y->rows * d > XLM_PARALLEL)
    for (int64_t i = 0; i < s->y->rows; i++) {
        xlm_real *row = s->y->value + i * d;
        memcpy(row, s->a->value + i * d, sizeof *row * (size_t)d);
        for (int k = 0; k < s->n; k++)
            kernel->add(s->b[k]->cols, row + s->column[k], s->b[k]->value + i * s->b[k]->cols, row + s->column[k]);
    }
}

static void check(const xlm_var *a, int n, xlm_var *const *b, const int64_t *column)
{
    for (int k = 0; k < n; k++)
        if (b[k]->rows != a->rows || column[k] < 0 || column[k] + b[k]->cols > a->cols)
            xlm_tape_fail("add_columns", "%" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " at column %" G_GINT64_FORMAT " of %"
                          G_GINT64_FORMAT " x %" G_GINT64_FORMAT, b[k]->rows, b[k]->cols, column[k], a->rows, a->cols);
}

xlm_var *xlm_add_columns(xlm_tape *tape, xlm_var *a, int n, xlm_var *const *b, const int64_t *column,
                         const xlm_rotation *rotation)
{
    check(a, n, b, column);
    if (rotation != NULL)
        xlm_rotation_check("add_columns", rotation, a->rows, a->cols);
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var **inputs = XLM_TAPE_TAKE(tape, xlm_var *, n + 1);
    *s = (struct state){.a = a, .n = n, .b = inputs + 1, .column = XLM_TAPE_TAKE(tape, int64_t, MAX(n, 1))};
    inputs[0] = a;
    for (int k = 0; k < n; k++) {
        s->b[k] = b[k];
        s->column[k] = column[k];
    }
    if (rotation != NULL)
        s->rotation = *rotation;
    xlm_var *y = s->y = xlm_tape_record(tape, "add_columns", a->rows, a->cols, n + 1, inputs, backward, s);
    uint16_t *rounded = xlm_products_take_rounded(tape, y);
    if (!xlm_var_has_numbers(y))
        return y;
    add(s);
    if (rotation != NULL)
        xlm_rotation_apply(rotation, false, y->rows, y->cols, y->value);
    if (rounded != NULL)
        xlm_kernels_get()->to_bfloat16(y->rows * y->cols, y->value, rounded);
    return y;
}
