/* xlm-mpi: matrices of doubles that are distributed over the ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include "matrix/matrix_internal.h"

#include <string.h>

#include "matrix/scalapack.h"

enum { BLOCK = 32 };

/* ---- grid ---- */

static void open_process_grid(xlm_process_grid *g, int system, int rows, int columns)
{
    g->context = system;
    Cblacs_gridinit(&g->context, "Row", rows, columns);
    Cblacs_gridinfo(g->context, &g->rows, &g->columns, &g->row, &g->column);
}

xlm_grid *xlm_grid_open(const xlm_comm *comm)
{
    xlm_grid *grid = g_new0(xlm_grid, 1);
    int rows = 1;
    for (int r = 1; r * r <= comm->ranks; r++)
        if (comm->ranks % r == 0)
            rows = r;
    grid->comm = comm;
    grid->system = Csys2blacs_handle(comm->mpi);
    open_process_grid(&grid->by[XLM_BY_BLOCKS], grid->system, rows, comm->ranks / rows);
    open_process_grid(&grid->by[XLM_BY_ROWS], grid->system, comm->ranks, 1);
    return grid;
}

void xlm_grid_close(xlm_grid *grid)
{
    if (grid == NULL)
        return;
    Cblacs_gridexit(grid->by[XLM_BY_ROWS].context);
    Cblacs_gridexit(grid->by[XLM_BY_BLOCKS].context);
    Cfree_blacs_system_handle(grid->system);
    g_free(grid);
}

/* ---- matrices ---- */

static int64_t rows_each(int ranks, int64_t rows) { return (rows + ranks - 1) / ranks; }

xlm_matrix *xlm_matrix_new(const xlm_grid *grid, xlm_layout layout, int64_t rows, int64_t columns, GError **error)
{
    const xlm_process_grid *g = &grid->by[layout];
    const int64_t row_block = layout == XLM_BY_ROWS ? rows_each(g->rows, rows) : BLOCK;
    /* The maximum over ranks, so that all get the same result. */
    const int64_t max_rows = (rows / row_block / g->rows + 1) * row_block;
    const int64_t max_columns = (columns / BLOCK / g->columns + 1) * BLOCK;
    if (rows > G_MAXINT32 || columns > G_MAXINT32 || max_rows * max_columns > G_MAXINT32) {
        xlm_error_set(error, EX_DATAERR, "a matrix of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " is too large for %d ranks: "
                      "each may have 2^31 elements; take more ranks", rows, columns, grid->comm->ranks);
        return NULL;
    }
    xlm_matrix *m = g_new0(xlm_matrix, 1);
    const int first = 0;
    int info;
    *m = (xlm_matrix){.grid = grid, .layout = layout, .rows = (int)rows, .columns = (int)columns, .row_block = (int)row_block,
                      .column_block = BLOCK};
    m->own_rows = numroc_(&m->rows, &m->row_block, &g->row, &first, &g->rows);
    m->own_columns = numroc_(&m->columns, &m->column_block, &g->column, &first, &g->columns);
    m->stride = MAX(m->own_rows, 1);
    descinit_(m->desc, &m->rows, &m->columns, &m->row_block, &m->column_block, &first, &first, &g->context, &m->stride, &info);
    g_assert(info == 0);
    m->values = g_new0(double, (size_t)m->stride * (size_t)MAX(m->own_columns, 1));
    return m;
}

void xlm_matrix_free(xlm_matrix *matrix)
{
    if (matrix == NULL)
        return;
    g_free(matrix->values);
    g_free(matrix);
}

int64_t xlm_matrix_rows(const xlm_matrix *matrix) { return matrix->rows; }

void xlm_matrix_share(const xlm_comm *comm, int64_t rows, int64_t *first, int64_t *n)
{
    const int64_t each = rows_each(comm->ranks, rows);
    *first = MIN(each * comm->rank, rows);
    *n = MIN(each, rows - *first);
}

double *xlm_matrix_own_rows(xlm_matrix *matrix, int64_t *first, int64_t *n, int64_t *stride)
{
    g_assert(matrix->layout == XLM_BY_ROWS);
    xlm_matrix_share(matrix->grid->comm, matrix->rows, first, n);
    g_assert(*n == matrix->own_rows);
    *stride = matrix->stride;
    return matrix->values;
}

void xlm_matrix_set(xlm_matrix *matrix, const double *values)
{
    for (int64_t j = 0; j < matrix->own_columns; j++)
        for (int64_t i = 0; i < matrix->own_rows; i++)
            matrix->values[j * matrix->stride + i] =
                values[xlm_matrix_row_at(matrix, i) * matrix->columns + xlm_matrix_column_at(matrix, j)];
}

void xlm_matrix_get(const xlm_matrix *matrix, double *values)
{
    const int64_t n = (int64_t)matrix->rows * matrix->columns;
    memset(values, 0, sizeof *values * (size_t)n);
    for (int64_t j = 0; j < matrix->own_columns; j++)
        for (int64_t i = 0; i < matrix->own_rows; i++)
            values[xlm_matrix_row_at(matrix, i) * matrix->columns + xlm_matrix_column_at(matrix, j)] =
                matrix->values[j * matrix->stride + i];
    xlm_comm_merge_double(matrix->grid->comm, values, n);
}

void xlm_matrix_copy(const xlm_matrix *from, xlm_matrix *to)
{
    g_assert(from->rows == to->rows && from->columns == to->columns);
    Cpdgemr2d(from->rows, from->columns, from->values, 1, 1, from->desc, to->values, 1, 1, to->desc,
              from->grid->by[XLM_BY_BLOCKS].context);
}
