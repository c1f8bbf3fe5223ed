/* xlm-mpi: products and decompositions of matrices over ranks, by ScaLAPACK. SPDX-License-Identifier: GPL-3.0-or-later */
#include "matrix/algebra.h"

#include <math.h>
#include <string.h>

#include "matrix/matrix_internal.h"
#include "matrix/scalapack.h"

static const int ONE = 1;

/* info of a decomposition: negative if an argument is wrong, positive if it did not converge. It is the same on all ranks. */
static bool succeeded(const char *function, int info, GError **error)
{
    if (info < 0)
        g_error("%s: argument %d is wrong", function, -info);
    return info == 0 || xlm_error_set(error, EX_SOFTWARE, "%s of ScaLAPACK did not converge (info = %d)", function, info);
}

void xlm_matrix_multiply(bool transpose_a, bool transpose_b, double alpha, const xlm_matrix *a, const xlm_matrix *b,
                         double beta, xlm_matrix *c)
{
    const int k = transpose_a ? a->rows : a->columns;
    g_assert((transpose_a ? a->columns : a->rows) == c->rows && (transpose_b ? b->rows : b->columns) == c->columns &&
             (transpose_b ? b->columns : b->rows) == k);
    pdgemm_(transpose_a ? "T" : "N", transpose_b ? "T" : "N", &c->rows, &c->columns, &k, &alpha, a->values, &ONE, &ONE, a->desc,
            b->values, &ONE, &ONE, b->desc, &beta, c->values, &ONE, &ONE, c->desc);
}

/* ---- QR ---- */

/* Bring R, which pdgeqrf leaves on and above the diagonal, to every rank. */
static void take_triangle(const xlm_matrix *a, double *r)
{
    const int64_t n = a->columns;
    memset(r, 0, sizeof *r * (size_t)(n * n));
    for (int64_t j = 0; j < a->own_columns; j++)
        for (int64_t i = 0; i < a->own_rows; i++) {
            const int64_t row = xlm_matrix_row_at(a, i), column = xlm_matrix_column_at(a, j);
            if (row <= column)
                r[row * n + column] = a->values[j * a->stride + i];
        }
    xlm_comm_merge_double(a->grid->comm, r, n * n);
}

/* Change signs of Q and R so that the diagonal of R is positive. */
static void make_diagonal_positive(xlm_matrix *a, double *r)
{
    const int64_t n = a->columns;
    for (int64_t j = 0; j < a->own_columns; j++) {
        const int64_t column = xlm_matrix_column_at(a, j);
        if (r[column * n + column] < 0)
            for (int64_t i = 0; i < a->own_rows; i++)
                a->values[j * a->stride + i] = -a->values[j * a->stride + i];
    }
    for (int64_t row = 0; row < n; row++)
        if (r[row * n + row] < 0)
            for (int64_t column = row; column < n; column++)
                r[row * n + column] = -r[row * n + column];
}

bool xlm_matrix_qr(xlm_matrix *a, double *r, GError **error)
{
    g_assert(a->rows >= a->columns && (int64_t)a->columns * a->columns <= G_MAXINT32);
    const int ask = -1;
    int info, size;
    double wanted[2];
    g_autofree double *tau = g_new0(double, a->own_columns + a->column_block);
    pdgeqrf_(&a->rows, &a->columns, a->values, &ONE, &ONE, a->desc, tau, &wanted[0], &ask, &info);
    pdorgqr_(&a->rows, &a->columns, &a->columns, a->values, &ONE, &ONE, a->desc, tau, &wanted[1], &ask, &info);
    size = (int)MAX(wanted[0], wanted[1]) + 1;
    g_autofree double *work = g_new(double, size);
    g_autofree double *own = r == NULL ? g_new(double, (size_t)a->columns * (size_t)a->columns) : NULL;
    double *triangle = r != NULL ? r : own;
    pdgeqrf_(&a->rows, &a->columns, a->values, &ONE, &ONE, a->desc, tau, work, &size, &info);
    bool good = succeeded("pdgeqrf", info, error);
    if (good) {
        take_triangle(a, triangle);
        pdorgqr_(&a->rows, &a->columns, &a->columns, a->values, &ONE, &ONE, a->desc, tau, work, &size, &info);
        good = succeeded("pdorgqr", info, error);
    }
    if (good)
        make_diagonal_positive(a, triangle);
    return good;
}

/* ---- SVD, eigenvectors ---- */

bool xlm_matrix_svd(xlm_matrix *a, double *s, xlm_matrix *u, xlm_matrix *vt, GError **error)
{
    g_assert(a->layout == XLM_BY_BLOCKS && (u != NULL) == (vt != NULL));
    const char *job = u != NULL ? "V" : "N";
    const xlm_matrix *left = u != NULL ? u : a, *right = vt != NULL ? vt : a;
    const int ask = -1;
    int info, size;
    double wanted;
    pdgesvd_(job, job, &a->rows, &a->columns, a->values, &ONE, &ONE, a->desc, s, left->values, &ONE, &ONE, left->desc,
             right->values, &ONE, &ONE, right->desc, &wanted, &ask, &info);
    size = (int)wanted + 1;
    g_autofree double *work = g_new(double, size);
    pdgesvd_(job, job, &a->rows, &a->columns, a->values, &ONE, &ONE, a->desc, s, left->values, &ONE, &ONE, left->desc,
             right->values, &ONE, &ONE, right->desc, work, &size, &info);
    /* min(rows, columns) + 1: processes with different arithmetic have found singular values that differ by rounding. */
    if (info == MIN(a->rows, a->columns) + 1)
        info = 0;
    if (!succeeded("pdgesvd", info, error))
        return false;
    xlm_comm_broadcast(a->grid->comm, 0, s, sizeof *s * (size_t)MIN(a->rows, a->columns));
    if (u != NULL)
        xlm_matrix_fix_signs(u, vt, true);
    return true;
}

bool xlm_matrix_eigen(xlm_matrix *a, double *values, xlm_matrix *vectors, GError **error)
{
    g_assert(a->layout == XLM_BY_BLOCKS && vectors->layout == XLM_BY_BLOCKS && a->rows == a->columns);
    const int ask = -1;
    int info, size, int_size, int_wanted;
    /* pdsyevd returns values in ascending order, so it gets -A. */
    for (int64_t i = 0; i < (int64_t)a->own_columns * a->stride; i++)
        a->values[i] = -a->values[i];
    double wanted;
    pdsyevd_("V", "L", &a->rows, a->values, &ONE, &ONE, a->desc, values, vectors->values, &ONE, &ONE, vectors->desc, &wanted,
             &ask, &int_wanted, &ask, &info);
    /* If there is a single block, pdsyevd asks for less than its pdormtr needs. */
    size = (int)wanted + (a->own_rows + a->own_columns + 3 * a->row_block) * a->row_block;
    int_size = int_wanted + 1;
    g_autofree double *work = g_new(double, size);
    g_autofree int *int_work = g_new(int, int_size);
    pdsyevd_("V", "L", &a->rows, a->values, &ONE, &ONE, a->desc, values, vectors->values, &ONE, &ONE, vectors->desc, work, &size,
             int_work, &int_size, &info);
    if (!succeeded("pdsyevd", info, error))
        return false;
    xlm_comm_broadcast(a->grid->comm, 0, values, sizeof *values * (size_t)a->rows);
    for (int i = 0; i < a->rows; i++)
        values[i] = -values[i];
    xlm_matrix_fix_signs(vectors, NULL, false);
    return true;
}

bool xlm_symmetric_eigen(const xlm_grid *grid, int64_t n, const double *matrix, double *values, double *vectors, GError **error)
{
    g_autoptr(xlm_matrix) a = xlm_matrix_new(grid, XLM_BY_BLOCKS, n, n, error);
    g_autoptr(xlm_matrix) v = a != NULL ? xlm_matrix_new(grid, XLM_BY_BLOCKS, n, n, error) : NULL;
    if (v == NULL)
        return false;
    xlm_matrix_set(a, matrix);
    if (!xlm_matrix_eigen(a, values, v, error))
        return false;
    xlm_matrix_get(v, vectors);
    return true;
}

/* ---- signs ---- */

/* signs: of the columns, or of the rows. */
static void apply_signs(xlm_matrix *m, bool by_row, const double *signs)
{
    for (int64_t j = 0; j < m->own_columns; j++)
        for (int64_t i = 0; i < m->own_rows; i++)
            m->values[j * m->stride + i] *= signs[by_row ? xlm_matrix_row_at(m, i) : xlm_matrix_column_at(m, j)];
}

void xlm_matrix_fix_signs(xlm_matrix *a, xlm_matrix *other, bool other_by_row)
{
    const xlm_comm *comm = a->grid->comm;
    const int n = a->columns;
    g_autofree double *largest = g_new0(double, n), *signs = g_new0(double, n);
    g_autofree int64_t *place = g_new(int64_t, n), *first = g_new(int64_t, n);
    g_autofree size_t *sizes = g_new(size_t, comm->ranks);
    void *gathered;
    for (int64_t j = 0; j < a->own_columns; j++)
        for (int64_t i = 0; i < a->own_rows; i++) {
            const int64_t column = xlm_matrix_column_at(a, j);
            largest[column] = fmax(largest[column], fabs(a->values[j * a->stride + i]));
        }
    xlm_comm_gather_all(comm, largest, sizeof *largest * (size_t)n, &gathered, sizes);
    for (int c = 0; c < n; c++)
        for (int r = 0; r < comm->ranks; r++)
            largest[c] = fmax(largest[c], ((const double *)gathered)[(size_t)r * (size_t)n + (size_t)c]);
    g_free(gathered);
    for (int c = 0; c < n; c++)
        place[c] = -G_MAXINT64;
    for (int64_t j = 0; j < a->own_columns; j++)
        for (int64_t i = 0; i < a->own_rows; i++) {
            const int64_t column = xlm_matrix_column_at(a, j), row = xlm_matrix_row_at(a, i);
            const double value = a->values[j * a->stride + i];
            if (fabs(value) >= largest[column] * (1 - 1e-6) && -row > place[column]) {
                place[column] = -row;
                signs[column] = value < 0 ? -1 : 1;
            }
        }
    memcpy(first, place, sizeof *first * (size_t)n);
    xlm_comm_max_int64(comm, first, n);
    for (int c = 0; c < n; c++)
        if (first[c] != place[c])
            signs[c] = 0;
    xlm_comm_merge_double(comm, signs, n);
    apply_signs(a, false, signs);
    if (other != NULL)
        apply_signs(other, other_by_row, signs);
}
