/* xlm-mpi: sums of rows of a matrix by index. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * y = A x for a sparse A of zeros and ones, in compressed rows; backwards dx = Aᵀ dy. */
#include <omp.h>
#include <string.h>

#include "kernels/kernels.h"
#include "tensor/rows.h"
#include "tensor/tape.h"

struct state {
    xlm_var *x, *y;
    int32_t *offsets, *index;
};

/* Threads share the columns, not the rows, because a row may be in several sums. Each takes a multiple of one cache line of
 * floats. */
enum { COLUMNS = 16 };

static void backward(void *pointer)
{
    const struct state *s = pointer;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = s->y->rows, cols = s->y->cols, blocks = (cols + COLUMNS - 1) / COLUMNS;
    xlm_real *dx = xlm_grad_add(s->x);
    if (dx == NULL || !xlm_var_has_numbers(s->y))
        return;
#pragma omp parallel if (s->offsets[n] * cols > XLM_PARALLEL)
    {
        const int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
        const int64_t begin = blocks * thread / threads * COLUMNS, end = MIN(cols, blocks * (thread + 1) / threads * COLUMNS);
        for (int64_t i = 0; begin < end && i < n; i++)
            for (int32_t e = s->offsets[i]; e < s->offsets[i + 1]; e++) {
                xlm_real *row = dx + s->index[e] * cols + begin;
                kernel->add(end - begin, row, s->y->grad + i * cols + begin, row);
            }
    }
}

xlm_var *xlm_rows_sum(xlm_tape *tape, xlm_var *x, const int32_t *offsets, const int32_t *index, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (offsets[0] != 0 || offsets[i + 1] < offsets[i])
            xlm_tape_fail("rows_sum", "the offsets of %" G_GINT64_FORMAT " sums do not rise from 0", n);
    const int64_t cols = x->cols;
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *y = xlm_tape_record(tape, "rows_sum", n, cols, 1, &x, backward, s);
    xlm_tape_moves(tape, (double)sizeof(xlm_real) * (double)((n + offsets[n]) * cols));
    *s = (struct state){.x = x, .y = y, .offsets = XLM_TAPE_TAKE(tape, int32_t, n + 1),
                        .index = xlm_rows_copy_index(tape, "rows_sum", offsets[n], index, 0, x->rows)};
    memcpy(s->offsets, offsets, sizeof *offsets * (size_t)(n + 1));
    y->keys = NULL;
    if (!xlm_var_has_numbers(y))
        return y;
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static) if (offsets[n] * cols > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++) {
        xlm_real *row = y->value + i * cols;
        kernel->fill(cols, 0, row, false);
        for (int32_t e = s->offsets[i]; e < s->offsets[i + 1]; e++)
            kernel->add(cols, row, x->value + s->index[e] * cols, row);
    }
    return y;
}
