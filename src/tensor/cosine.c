/* xlm-mpi: cosine of the angle between rows. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "kernels/kernels.h"
#include "tensor/tape.h"

struct state {
    xlm_var *a, *b, *y;
    xlm_real *norms; /* [n x 2] |a_i|, |b_i|; both 0 where one of them is too small */
};

static const double SMALLEST = 1e-12;

/* With y = a·b / (|a| |b|):  da = dy (b / (|a| |b|) − y a / |a|²).  one, other: a and b (which = 0), or b and a (which = 1). */
static void backward_row(const struct state *s, const xlm_kernels *kernel, int64_t i, int which, const xlm_var *one,
                         const xlm_var *other, xlm_grad gradient)
{
    const int64_t d = one->cols;
    const xlm_real norm = s->norms[2 * i + which], other_norm = s->norms[2 * i + 1 - which];
    xlm_real *row = gradient.at + i * d;
    if (norm == 0) {
        if (!gradient.add)
            kernel->fill(d, 0, row, false);
        return;
    }
    const xlm_real dy = s->y->grad[i], y = s->y->value[i];
    kernel->scale(d, dy / (norm * other_norm), other->value + i * d, row, gradient.add);
    kernel->scale(d, -dy * y / (norm * norm), one->value + i * d, row, true);
}

static void backward(void *pointer)
{
    const struct state *s = pointer;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = s->a->rows;
    /* a and b may be the same variable; then the second is opened to be added to. */
    const xlm_grad da = xlm_grad_open(s->a), db = xlm_grad_open(s->b);
    if (!xlm_var_has_numbers(s->y))
        return;
#pragma omp parallel for schedule(static) if (n * s->a->cols > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++) {
        if (da.at != NULL)
            backward_row(s, kernel, i, 0, s->a, s->b, da);
        if (db.at != NULL)
            backward_row(s, kernel, i, 1, s->b, s->a, db);
    }
}

xlm_var *xlm_cosine(xlm_tape *tape, xlm_var *a, xlm_var *b)
{
    const int64_t n = a->rows, d = a->cols;
    xlm_tape_check_shapes("cosine", a, b);
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *const inputs[] = {a, b};
    xlm_var *y = xlm_tape_record(tape, "cosine", n, 1, 2, inputs, backward, s);
    *s = (struct state){.a = a, .b = b, .y = y, .norms = XLM_TAPE_NUMBERS(tape, xlm_real, 2 * n)};
    if (!xlm_var_has_numbers(y))
        return y;
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++) {
        const xlm_real *left = a->value + i * d, *right = b->value + i * d;
        const double norm_a = sqrt(kernel->dot(d, left, left)), norm_b = sqrt(kernel->dot(d, right, right));
        const bool good = (norm_a >= SMALLEST && norm_b >= SMALLEST) || isnan(norm_a) || isnan(norm_b); /* NaN stays NaN */
        y->value[i] = good ? (xlm_real)(kernel->dot(d, left, right) / (norm_a * norm_b)) : 0;
        s->norms[2 * i] = good ? (xlm_real)norm_a : 0;
        s->norms[2 * i + 1] = good ? (xlm_real)norm_b : 0;
    }
    return y;
}
