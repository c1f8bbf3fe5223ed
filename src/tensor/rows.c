/* xlm-mpi: rows of a matrix by index. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/rows.h"

#include <omp.h>
#include <string.h>

#include "kernels/kernels.h"
#include "tensor/tape.h"

struct state {
    xlm_var *x, *y;
    int32_t *index;
};

/* Threads share the columns, not the rows, because a row may occur several times. Each takes a multiple of one cache line of
 * floats. */
enum { COLUMNS = 16 };

void xlm_rows_scatter_add(int64_t n, int64_t cols, const int32_t *index, const xlm_real *from, xlm_real *to)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t blocks = (cols + COLUMNS - 1) / COLUMNS;
#pragma omp parallel if (n * cols > XLM_PARALLEL)
    {
        const int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
        const int64_t begin = blocks * thread / threads * COLUMNS, end = MIN(cols, blocks * (thread + 1) / threads * COLUMNS);
        for (int64_t i = 0; begin < end && i < n; i++) {
            if (index[i] < 0)
                continue;
            xlm_real *row = to + index[i] * cols + begin;
            kernel->add(end - begin, row, from + i * cols + begin, row);
        }
    }
}

int32_t *xlm_rows_copy_index(xlm_tape *tape, const char *operator_name, int64_t n, const int32_t *index, int32_t lowest,
                             int64_t rows)
{
    for (int64_t i = 0; i < n; i++)
        if (index[i] < lowest || index[i] >= rows)
            xlm_tape_fail(operator_name, "index %" G_GINT64_FORMAT " is %d, but there are %" G_GINT64_FORMAT " rows", i,
                          index[i], rows);
    int32_t *copy = XLM_TAPE_TAKE(tape, int32_t, n);
    memcpy(copy, index, sizeof *index * (size_t)n);
    return copy;
}

static void backward(void *pointer)
{
    const struct state *s = pointer;
    xlm_real *dx = xlm_grad_add(s->x);
    if (dx != NULL && xlm_var_has_numbers(s->y))
        xlm_rows_scatter_add(s->y->rows, s->y->cols, s->index, s->y->grad, dx);
}

xlm_var *xlm_rows(xlm_tape *tape, xlm_var *x, const int32_t *index, int64_t n)
{
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *y = xlm_tape_record(tape, "rows", n, x->cols, 1, &x, backward, s);
    xlm_tape_moves(tape, 2 * (double)sizeof(xlm_real) * (double)(n * x->cols));
    *s = (struct state){.x = x, .y = y, .index = xlm_rows_copy_index(tape, "rows", n, index, 0, x->rows)};
    y->keys = NULL;
    if (x->keys != NULL) {
        xlm_row_key *keys = XLM_TAPE_TAKE(tape, xlm_row_key, n);
        for (int64_t i = 0; i < n; i++)
            keys[i] = x->keys[index[i]];
        y->keys = keys;
    }
    if (!xlm_var_has_numbers(y))
        return y;
    const size_t bytes = sizeof(xlm_real) * (size_t)x->cols;
#pragma omp parallel for schedule(static) if (n * x->cols > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++)
        memcpy(y->value + i * x->cols, x->value + s->index[i] * x->cols, bytes);
    return y;
}
