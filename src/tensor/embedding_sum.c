/* xlm-mpi: sum of rows of several tables. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "kernels/kernels.h"
#include "tensor/rows.h"
#include "tensor/tape.h"

struct state {
    int tables;
    xlm_var **table;
    int32_t **index; /* [tables][n] */
    xlm_var *y;
};

static void forward(const struct state *s)
{
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t n = s->y->rows, d = s->y->cols;
#pragma omp parallel for schedule(static) if (n * d > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++) {
        xlm_real *row = s->y->value + i * d;
        bool begun = false;
        for (int k = 0; k < s->tables; k++) {
            if (s->index[k][i] < 0)
                continue;
            const xlm_real *addend = s->table[k]->value + s->index[k][i] * d;
            if (begun)
                kernel->add(d, row, addend, row);
            else
                memcpy(row, addend, sizeof(xlm_real) * (size_t)d);
            begun = true;
        }
        if (!begun)
            memset(row, 0, sizeof(xlm_real) * (size_t)d);
    }
}

static void backward(void *pointer)
{
    const struct state *s = pointer;
    for (int k = 0; k < s->tables; k++) {
        xlm_real *gradient = xlm_grad_add(s->table[k]);
        if (gradient != NULL && xlm_var_has_numbers(s->y))
            xlm_rows_scatter_add(s->y->rows, s->y->cols, s->index[k], s->y->grad, gradient);
    }
}

xlm_var *xlm_embedding_sum(xlm_tape *tape, int tables, xlm_var *const *table, const int32_t *const *indices, int64_t n,
                           const xlm_row_key *keys)
{
    if (tables < 1)
        xlm_tape_fail("embedding_sum", "there is no table");
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    *s = (struct state){
        .tables = tables,
        .table = XLM_TAPE_TAKE(tape, xlm_var *, tables),
        .index = XLM_TAPE_TAKE(tape, int32_t *, tables),
    };
    for (int k = 0; k < tables; k++) {
        if (table[k]->cols != table[0]->cols)
            xlm_tape_fail("embedding_sum", "table %d has %" G_GINT64_FORMAT " columns, table 0 %" G_GINT64_FORMAT, k,
                          table[k]->cols, table[0]->cols);
        s->table[k] = table[k];
        s->index[k] = xlm_rows_copy_index(tape, "embedding_sum", n, indices[k], -1, table[k]->rows);
    }
    s->y = xlm_tape_record(tape, "embedding_sum", n, table[0]->cols, tables, table, backward, s);
    s->y->keys = keys;
    xlm_tape_moves(tape, (double)sizeof(xlm_real) * (double)((tables + 1) * n * table[0]->cols));
    if (xlm_var_has_numbers(s->y))
        forward(s);
    return s->y;
}
