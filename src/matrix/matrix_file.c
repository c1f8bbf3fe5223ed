/* xlm-mpi: matrices over ranks from datasets, and into them. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "matrix/matrix_internal.h"

enum { BYTES = 1 << 25 }; /* of rows that a rank reads or writes at a time */

static int64_t rows_at_a_time(const xlm_matrix *m) { return MAX(1, BYTES / ((int64_t)sizeof(double) * m->columns)); }

/* *array: what the dataset is. */
static bool check_dataset(const xlm_matrix *m, const xlm_store *store, const char *path, int64_t first_row, xlm_array *array,
                          GError **error)
{
    *array = (xlm_array){XLM_F64, XLM_ANY, (uint64_t)m->columns};
    return xlm_store_shape(store, path, array, error) &&
           (array->rows >= (uint64_t)(first_row + m->rows) ||
            xlm_error_set(error, EX_DATAERR, "%s: %s: has not %d rows of %d numbers", xlm_store_path(store), path, m->rows,
                          m->columns));
}

/* Rows first … of the dataset into rows of this rank, from number `to` on; x: [n x columns] to work in. */
static bool read_rows(xlm_matrix *rows, const xlm_store *store, const char *path, xlm_array array, int64_t first, int64_t to,
                      int64_t n, double *x, GError **error)
{
    if (!xlm_store_read(store, path, array, (uint64_t)first, (uint64_t)n, x, error))
        return false;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < rows->columns; j++) {
            const double value = x[i * rows->columns + j];
            if (!isfinite(value))
                return xlm_error_set(error, EX_DATAERR, "%s: %s: row %" G_GINT64_FORMAT " has a number that is not finite",
                                     xlm_store_path(store), path, first + i);
            rows->values[j * rows->stride + to + i] = value;
        }
    return true;
}

bool xlm_matrix_read(xlm_matrix *matrix, const xlm_store *store, const char *path, int64_t first_row, GError **error)
{
    const xlm_comm *comm = matrix->grid->comm;
    GError *failure = NULL;
    int64_t first, n;
    xlm_matrix *rows = matrix->layout == XLM_BY_ROWS
                           ? matrix
                           : xlm_matrix_new(matrix->grid, XLM_BY_ROWS, matrix->rows, matrix->columns, error);
    if (rows == NULL)
        return false;
    xlm_matrix_share(comm, matrix->rows, &first, &n);
    xlm_array array;
    bool good = check_dataset(matrix, store, path, first_row, &array, &failure);
    const int64_t most = rows_at_a_time(matrix);
    double *x = g_new(double, MAX(MIN(most, n), 1) * matrix->columns);
    for (int64_t at = 0; at < n && good; at += most)
        good = read_rows(rows, store, path, array, first_row + first + at, at, MIN(most, n - at), x, &failure);
    g_free(x);
    good = xlm_comm_agree_on(comm, failure, error);
    if (rows != matrix) {
        if (good)
            xlm_matrix_copy(rows, matrix);
        xlm_matrix_free(rows);
    }
    return good;
}

/* Rows at … at + n of those that are here, row by row and of the type of the dataset; x: to work in. */
static void gather_rows(const xlm_matrix *rows, int64_t at, int64_t n, xlm_type type, void *x)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < rows->columns; j++) {
            const double value = rows->values[j * rows->stride + at + i];
            if (type == XLM_F32)
                ((float *)x)[i * rows->columns + j] = (float)value;
            else
                ((double *)x)[i * rows->columns + j] = value;
        }
}

bool xlm_matrix_write(const xlm_matrix *matrix, xlm_store *store, const char *path, xlm_type type, int64_t first_row,
                      GError **error)
{
    const xlm_comm *comm = matrix->grid->comm;
    g_assert(type == XLM_F32 || type == XLM_F64);
    xlm_matrix *copy = NULL;
    if (matrix->layout != XLM_BY_ROWS) {
        copy = xlm_matrix_new(matrix->grid, XLM_BY_ROWS, matrix->rows, matrix->columns, error);
        if (copy == NULL)
            return false;
        xlm_matrix_copy(matrix, copy);
    }
    const xlm_matrix *rows = copy != NULL ? copy : matrix;
    int64_t first, n;
    xlm_matrix_share(comm, matrix->rows, &first, &n);
    const int64_t most = rows_at_a_time(matrix), all = rows->row_block;
    double *x = g_new(double, MIN(most, MAX(all, 1)) * matrix->columns);
    bool good = true;
    for (int64_t at = 0; at < all && good; at += most) { /* the same number of times on every rank */
        const int64_t now = CLAMP(n - at, 0, most);
        gather_rows(rows, at, now, type, x);
        good = xlm_store_write(store, path, (uint64_t)(first_row + MIN(first + at, first + n)), (uint64_t)now, x, error);
    }
    g_free(x);
    xlm_matrix_free(copy);
    return good;
}
