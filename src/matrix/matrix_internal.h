/* xlm-mpi: what the files of src/matrix share. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_MATRIX_MATRIX_INTERNAL_H
#define XLM_MATRIX_MATRIX_INTERNAL_H

#include "matrix/matrix.h"

struct xlm_matrix {
    const xlm_grid *grid;
    xlm_layout layout;
    int desc[9];                 /* ScaLAPACK's descriptor */
    int rows, columns;           /* of the whole matrix */
    int row_block, column_block;
    int own_rows, own_columns;   /* on this rank */
    int stride;                  /* between columns: at least 1 */
    double *values;              /* [own_columns x stride], column by column */
};

static inline const xlm_process_grid *xlm_matrix_processes(const xlm_matrix *m) { return &m->grid->by[m->layout]; }
/* The number in the whole matrix of this rank's row i, or column j. */
static inline int64_t xlm_matrix_row_at(const xlm_matrix *m, int64_t i)
{
    const xlm_process_grid *g = xlm_matrix_processes(m);
    return (i / m->row_block * g->rows + g->row) * m->row_block + i % m->row_block;
}
static inline int64_t xlm_matrix_column_at(const xlm_matrix *m, int64_t j)
{
    const xlm_process_grid *g = xlm_matrix_processes(m);
    return (j / m->column_block * g->columns + g->column) * m->column_block + j % m->column_block;
}

#endif
