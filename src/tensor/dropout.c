/* xlm-mpi: dropout (Srivastava et al. 2014) by counter-based draws. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/dropout.h"

struct state {
    xlm_var *x, *y;
    xlm_keep_mask mask;
};

static void backward(void *pointer)
{
    const struct state *s = pointer;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t rows = s->x->rows, cols = s->x->cols;
    const xlm_real *dy = s->y->grad;
    const xlm_grad dx = xlm_grad_open_in_place(s->x, s->y);
    if (!xlm_var_has_numbers(s->y))
        return;
#pragma omp parallel for schedule(static) if (rows * cols > XLM_PARALLEL)
    for (int64_t i = 0; i < rows; i++)
        kernel->keep(cols, dy + i * cols, xlm_keep_mask_row(&s->mask, i), s->mask.rate.scale, dx.at + i * cols, dx.add);
}

xlm_var *xlm_dropout(xlm_tape *tape, xlm_var *x, double p)
{
    const int64_t rows = x->rows, cols = x->cols;
    const xlm_keep_mask mask = xlm_keep_mask_new(tape, rows, cols, p);
    if (mask.bits == NULL)
        return x;
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *y = xlm_tape_record(tape, "dropout", rows, cols, 1, &x, backward, s);
    *s = (struct state){.x = x, .y = y, .mask = mask};
    if (!xlm_var_has_numbers(y))
        return y;
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static) if (rows * cols > XLM_PARALLEL)
    for (int64_t i = 0; i < rows; i++) {
        const uint8_t *bits = xlm_keep_mask_draw(&mask, kernel, x, i);
        kernel->keep(cols, x->value + i * cols, bits, mask.rate.scale, y->value + i * cols, false);
    }
    return y;
}
