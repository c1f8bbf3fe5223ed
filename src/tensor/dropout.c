/* xlm-mpi: dropout (Srivastava et al. 2014) by counter-based draws. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The decision for column c of a row is the 16-bit number c mod 8 of the draw with counter
 *     (c / 8, site, instance, position),
 * so that it depends on the token, not on where its row stands. The decisions are kept for the way back, one bit each:
 * 1/32 of the memory of the result, and reading them is faster than drawing again. */
#include "tensor/kernels.h"
#include "tensor/tape.h"

struct state {
    xlm_var *x, *y;
    xlm_keep rate;
    int64_t bytes; /* of a row's bits */
    uint8_t *bits; /* [rows x bytes] */
};

static void backward(void *pointer)
{
    const struct state *s = pointer;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t rows = s->x->rows, cols = s->x->cols;
    const xlm_real *dy = s->y->grad;
    const xlm_grad dx = xlm_grad_open_in_place(s->x, s->y);
#pragma omp parallel for schedule(static) if (rows * cols > XLM_PARALLEL)
    for (int64_t i = 0; i < rows; i++)
        kernel->keep(cols, dy + i * cols, s->bits + i * s->bytes, s->rate.scale, dx.at + i * cols, dx.add);
}

xlm_var *xlm_dropout(xlm_tape *tape, xlm_var *x, double p)
{
    const xlm_keep rate = xlm_keep_rate(p);
    if (!xlm_tape_training(tape) || rate.threshold == 0)
        return x;
    const int64_t rows = x->rows, cols = x->cols, bytes = (cols + 7) / 8;
    const xlm_site site = xlm_tape_site(tape);
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *y = xlm_tape_record(tape, "dropout", rows, cols, 1, &x, backward, s);
    *s = (struct state){.x = x, .y = y, .rate = rate, .bytes = bytes, .bits = xlm_tape_take(tape, (uint64_t)(rows * bytes))};
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static) if (rows * cols > XLM_PARALLEL)
    for (int64_t i = 0; i < rows; i++) {
        const xlm_row_key key = xlm_row_key_of(x, i);
        uint8_t *bits = s->bits + i * bytes;
        kernel->keep_bits(site.key, 0, site.site, key.instance, key.position, bytes, rate.threshold, bits);
        kernel->keep(cols, x->value + i * cols, bits, rate.scale, y->value + i * cols, false);
    }
    return y;
}
