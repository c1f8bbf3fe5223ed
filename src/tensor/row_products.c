/* xlm-mpi: dot products of pairs of rows; normalisation of rows. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "kernels/kernels.h"
#include "tensor/rows.h"
#include "tensor/tape.h"

/* ---- y_i = a_i·b_i ---- */

struct dot_state {
    xlm_var *a, *b, *y;
};

/* da_i = dy_i b_i. one, other: a and b, or b and a. */
static void dot_gradient(const struct dot_state *s, xlm_var *one, const xlm_var *other)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = one->rows, d = one->cols;
    const xlm_grad gradient = xlm_grad_open(one);
    if (gradient.at == NULL || !xlm_var_has_numbers(one))
        return;
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++)
        kernel->scale(d, s->y->grad[i], other->value + i * d, gradient.at + i * d, gradient.add);
}

static void dot_backward(void *pointer)
{
    const struct dot_state *s = pointer;
    dot_gradient(s, s->a, s->b);
    dot_gradient(s, s->b, s->a);
}

xlm_var *xlm_row_dot(xlm_tape *tape, xlm_var *a, xlm_var *b)
{
    const int64_t n = a->rows, d = a->cols;
    xlm_tape_check_shapes("row_dot", a, b);
    struct dot_state *s = XLM_TAPE_TAKE(tape, struct dot_state, 1);
    xlm_var *const inputs[] = {a, b};
    xlm_var *y = xlm_tape_record(tape, "row_dot", n, 1, 2, inputs, dot_backward, s);
    *s = (struct dot_state){.a = a, .b = b, .y = y};
    if (!xlm_var_has_numbers(y))
        return y;
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++)
        y->value[i] = kernel->dot(d, a->value + i * d, b->value + i * d);
    return y;
}

/* ---- y_i = a_j·b_k for a list of pairs of j and k ---- */

struct indexed_state {
    xlm_var *a, *b, *y;
    int32_t *of_a, *of_b; /* [n] */
};

/* da_j += dy_i b_k with j = of_one[i], k = of_other[i]. one, other: a and b, or b and a. Threads share the columns, not the rows,
 * because a row may occur several times. */
static void indexed_gradient(const struct indexed_state *s, xlm_var *one, const int32_t *of_one, const xlm_var *other,
                             const int32_t *of_other)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = s->y->rows, d = one->cols, blocks = (d + XLM_CHUNK - 1) / XLM_CHUNK;
    xlm_real *to = xlm_grad_add(one);
    if (to == NULL || !xlm_var_has_numbers(one))
        return;
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t first = block * XLM_CHUNK, cols = MIN(XLM_CHUNK, d - first);
        for (int64_t i = 0; i < n; i++)
            kernel->scale(cols, s->y->grad[i], other->value + of_other[i] * d + first, to + of_one[i] * d + first, true);
    }
}

static void indexed_backward(void *pointer)
{
    const struct indexed_state *s = pointer;
    indexed_gradient(s, s->a, s->of_a, s->b, s->of_b);
    indexed_gradient(s, s->b, s->of_b, s->a, s->of_a);
}

xlm_var *xlm_row_pairs_dot(xlm_tape *tape, xlm_var *a, const int32_t *of_a, xlm_var *b, const int32_t *of_b, int64_t n)
{
    const int64_t d = a->cols;
    if (b->cols != d)
        xlm_tape_fail("row_pairs_dot", "rows of %" G_GINT64_FORMAT " and of %" G_GINT64_FORMAT " numbers", d, b->cols);
    struct indexed_state *s = XLM_TAPE_TAKE(tape, struct indexed_state, 1);
    xlm_var *const inputs[] = {a, b};
    xlm_var *y = xlm_tape_record(tape, "row_pairs_dot", n, 1, 2, inputs, indexed_backward, s);
    y->keys = NULL;
    xlm_tape_moves(tape, 2 * (double)sizeof(xlm_real) * (double)(n * d));
    *s = (struct indexed_state){
        .a = a, .b = b, .y = y,
        .of_a = xlm_rows_copy_index(tape, "row_pairs_dot", n, of_a, 0, a->rows),
        .of_b = xlm_rows_copy_index(tape, "row_pairs_dot", n, of_b, 0, b->rows),
    };
    if (!xlm_var_has_numbers(y))
        return y;
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++)
        y->value[i] = kernel->dot(d, a->value + s->of_a[i] * d, b->value + s->of_b[i] * d);
    return y;
}

/* ---- y_i = x_i / |x_i| ---- */

struct normalise_state {
    xlm_var *x, *y;
    xlm_real *norms; /* [n], 0 where it is too small */
};

static const double SMALLEST = 1e-12;

/* dx_i = (dy_i − (y_i·dy_i) y_i) / |x_i| */
static void normalise_backward(void *pointer)
{
    const struct normalise_state *s = pointer;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = s->x->rows, d = s->x->cols;
    const xlm_grad dx = xlm_grad_open(s->x);
    if (!xlm_var_has_numbers(s->y))
        return;
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++) {
        const xlm_real *y = s->y->value + i * d, *dy = s->y->grad + i * d;
        xlm_real *row = dx.at + i * d;
        const xlm_real norm = s->norms[i];
        if (norm > 0) {
            const xlm_real along = kernel->dot(d, y, dy);
            kernel->scale(d, 1 / norm, dy, row, dx.add);
            kernel->scale(d, -along / norm, y, row, true);
        } else if (!dx.add) {
            kernel->fill(d, 0, row, false);
        }
    }
}

xlm_var *xlm_row_normalise(xlm_tape *tape, xlm_var *x)
{
    const int64_t n = x->rows, d = x->cols;
    struct normalise_state *s = XLM_TAPE_TAKE(tape, struct normalise_state, 1);
    xlm_var *y = xlm_tape_record(tape, "row_normalise", n, d, 1, &x, normalise_backward, s);
    *s = (struct normalise_state){.x = x, .y = y, .norms = XLM_TAPE_NUMBERS(tape, xlm_real, n)};
    if (!xlm_var_has_numbers(y))
        return y;
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++) {
        const xlm_real *row = x->value + i * d;
        const double norm = sqrt((double)kernel->dot(d, row, row));
        s->norms[i] = norm >= SMALLEST ? (xlm_real)norm : 0;
        kernel->scale(d, norm >= SMALLEST ? (xlm_real)(1 / norm) : 0, row, y->value + i * d, false);
    }
    return y;
}
