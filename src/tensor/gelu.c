/* xlm-mpi: exact GELU (Hendrycks, Gimpel 2016). SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/kernels.h"
#include "tensor/tape.h"

struct state {
    xlm_var *x, *y;
};

/* Elements that a thread takes at a time: x, y and dy of it fit into a second-level cache. */
enum { PIECE = 1 << 12 };

static void backward(void *pointer)
{
    const struct state *s = pointer;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = s->x->rows * s->x->cols;
    const xlm_real *dy = s->y->grad;
    const xlm_grad dx = xlm_grad_open_in_place(s->x, s->y);
#pragma omp parallel for schedule(static) if (n > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i += PIECE)
        kernel->gelu_back(MIN(PIECE, n - i), s->x->value + i, dy + i, dx.at + i, dx.add);
}

xlm_var *xlm_gelu(xlm_tape *tape, xlm_var *x)
{
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *y = xlm_tape_record(tape, "gelu", x->rows, x->cols, 1, &x, backward, s);
    *s = (struct state){.x = x, .y = y};
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = x->rows * x->cols;
#pragma omp parallel for schedule(static) if (n > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i += PIECE)
        kernel->gelu(MIN(PIECE, n - i), x->value + i, y->value + i);
    return y;
}
