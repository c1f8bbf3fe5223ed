/* xlm-mpi: the end of a pre-LN sublayer: bias, dropout, residual connection. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "tensor/dropout.h"

struct state {
    xlm_tape *tape;
    xlm_var *x, *z, *bias, *y;
    xlm_keep_mask mask;
};

/* dz with dropout's mask, and the column sums of each chunk for the bias; then dx += dy. */
static void backward(void *pointer)
{
    const struct state *s = pointer;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = s->x->rows, d = s->x->cols, chunks = xlm_chunks(n);
    xlm_real *db = s->bias != NULL ? xlm_grad_add(s->bias) : NULL;
    xlm_real *sums = db != NULL ? XLM_TAPE_BORROW(s->tape, xlm_real, chunks * d) : NULL;
    const bool pass = s->mask.bits == NULL;
    const xlm_grad dz = pass ? (xlm_grad){.at = NULL} : xlm_grad_open(s->z);
    const bool numbers = xlm_var_has_numbers(s->y), needed = dz.at != NULL || sums != NULL;
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t k = 0; k < (numbers && needed ? chunks : 0); k++) {
        xlm_real *own = sums != NULL ? sums + k * d : NULL;
        if (own != NULL)
            memset(own, 0, sizeof(xlm_real) * (size_t)d);
        for (int64_t i = k * XLM_CHUNK; i < MIN(n, (k + 1) * XLM_CHUNK); i++)
            kernel->residual_back(d, s->y->grad + i * d, xlm_keep_mask_row(&s->mask, i), s->mask.rate.scale,
                                  dz.at != NULL ? dz.at + i * d : NULL, dz.add, own);
    }
    if (sums != NULL) {
        if (numbers)
            xlm_sum_chunks(chunks, d, sums, db);
        xlm_tape_return(s->tape, sums);
    }
    if (pass && s->z->grad != NULL)
        xlm_grad_pass(s->z, s->y);
    if (s->x->grad != NULL)
        xlm_grad_pass(s->x, s->y);
}

xlm_var *xlm_residual(xlm_tape *tape, xlm_var *x, xlm_var *z, xlm_var *bias, double p)
{
    xlm_tape_check_shapes("residual", x, z);
    if (bias != NULL && (bias->rows != 1 || bias->cols != x->cols))
        xlm_tape_fail("residual", "the bias must be 1 x %" G_GINT64_FORMAT, x->cols);
    const int64_t n = x->rows, d = x->cols;
    const xlm_keep_mask mask = xlm_keep_mask_new(tape, n, d, p);
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *const inputs[] = {x, z, bias};
    xlm_var *y = xlm_tape_record(tape, "residual", n, d, bias != NULL ? 3 : 2, inputs, backward, s);
    *s = (struct state){.tape = tape, .x = x, .z = z, .bias = bias, .y = y, .mask = mask};
    const xlm_kernels *kernel = xlm_kernels_get();
    if (!xlm_var_has_numbers(y))
        return y;
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++)
        kernel->residual(d, x->value + i * d, z->value + i * d, bias != NULL ? bias->value : NULL,
                         xlm_keep_mask_draw(&mask, kernel, z, i), mask.rate.scale, y->value + i * d);
    return y;
}
