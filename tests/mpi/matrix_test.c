/* xlm-mpi: matrices over ranks, against answers that are known or computed by hand. SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include <blis.h>
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

#include "check.h"

#include "base/rng.h"
#include "matrix/algebra.h"

/* The objects of a test; freed when the test ends. */
static GPtrArray *arrays, *matrices;

static double *array(int64_t n)
{
    double *x = g_new0(double, n);
    g_ptr_array_add(arrays, x);
    return x;
}

static double element(int64_t i, int64_t j)
{
    const xlm_rng_block b = xlm_rng_draw((xlm_rng_key){{15, 1}}, (uint32_t)i, (uint32_t)j, 0, 0);
    return xlm_rng_unit(b.v[0]) - 0.5;
}

/* [rows x columns], row-major. */
static double *made(int64_t rows, int64_t columns, int64_t salt)
{
    double *x = array(rows * columns);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            x[i * columns + j] = element(i + salt, j);
    return x;
}

static xlm_matrix *matrix(const xlm_grid *grid, xlm_layout layout, int64_t rows, int64_t columns, const double *values)
{
    GError *error = NULL;
    xlm_matrix *m = xlm_matrix_new(grid, layout, rows, columns, &error);
    g_assert_no_error(error);
    g_ptr_array_add(matrices, m);
    if (values != NULL)
        xlm_matrix_set(m, values);
    return m;
}

static double difference(int64_t n, const double *a, const double *b)
{
    double largest = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

/* op(a) b, a: m x k or, transposed, k x m. */
static double *product(bool transpose, int64_t m, int64_t n, int64_t k, const double *a, const double *b)
{
    double *c = array(m * n);
    for (int64_t i = 0; i < m; i++)
        for (int64_t l = 0; l < k; l++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] += (transpose ? a[l * m + i] : a[i * k + l]) * b[l * n + j];
    return c;
}

/* All that ScaLAPACK and LAPACK multiply with is BLIS. */
static void blas_is_blis(const xlm_comm *comm, const xlm_grid *grid)
{
    (void)grid;
    static const char *const functions[] = {"dgemm_", "dtrsm_", "dgemv_", "dsymv_", "ddot_"};
    Dl_info blis, found;
    CHECK(dladdr(dlsym(RTLD_DEFAULT, "bli_init"), &blis) != 0);
    for (size_t i = 0; i < G_N_ELEMENTS(functions); i++)
        CHECK(dladdr(dlsym(RTLD_DEFAULT, functions[i]), &found) != 0 && strcmp(found.dli_fname, blis.dli_fname) == 0);
}

static void grid_has_all_ranks(const xlm_comm *comm, const xlm_grid *grid)
{
    const int rows = grid->by[XLM_BY_BLOCKS].rows, columns = grid->by[XLM_BY_BLOCKS].columns;
    CHECK(rows * columns == comm->ranks && rows <= columns);
    CHECK(comm->ranks != 4 || rows == 2);
    CHECK(comm->ranks != 8 || rows == 2);
}

/* Values come back from either layout, and through a copy, also where some ranks have nothing. */
static void layouts_hold_the_same(const xlm_comm *comm, const xlm_grid *grid)
{
    static const int64_t extents[][2] = {{1, 1}, {3, 2}, {33, 31}, {100, 70}, {500, 5}};
    for (size_t e = 0; e < G_N_ELEMENTS(extents); e++) {
        const int64_t rows = extents[e][0], columns = extents[e][1], n = rows * columns;
        double *x = made(rows, columns, 0), *y = array(n);
        xlm_matrix *a = matrix(grid, XLM_BY_ROWS, rows, columns, x), *b = matrix(grid, XLM_BY_BLOCKS, rows, columns, NULL);
        xlm_matrix *c = matrix(grid, XLM_BY_ROWS, rows, columns, NULL);
        xlm_matrix_get(a, y);
        CHECK(difference(n, x, y) == 0);
        xlm_matrix_copy(a, b);
        xlm_matrix_get(b, y);
        CHECK(difference(n, x, y) == 0);
        xlm_matrix_copy(b, c);
        xlm_matrix_get(c, y);
        CHECK(difference(n, x, y) == 0);
        int64_t first, own, stride;
        const double *values = xlm_matrix_own_rows(c, &first, &own, &stride);
        for (int64_t i = 0; i < own; i++)
            for (int64_t j = 0; j < columns; j++)
                CHECK(values[j * stride + i] == x[(first + i) * columns + j]);
    }
}

static void products_are_right(const xlm_comm *comm, const xlm_grid *grid)
{
    enum { M = 90, N = 40, K = 70 };
    double *a = made(M, K, 0), *at = made(K, M, 7), *b = made(K, N, 500), *got = array(M * N);
    for (int layout = 0; layout < XLM_LAYOUTS; layout++)
        for (int transpose = 0; transpose < 2; transpose++) {
            double *wanted = product(transpose, M, N, K, transpose ? at : a, b);
            xlm_matrix *x = matrix(grid, layout, transpose ? K : M, transpose ? M : K, transpose ? at : a);
            xlm_matrix *y = matrix(grid, layout, K, N, b), *z = matrix(grid, layout, M, N, NULL);
            xlm_matrix_multiply(transpose, false, 1, x, y, 0, z);
            xlm_matrix_get(z, got);
            CHECK(difference(M * N, got, wanted) < 1e-12);
            xlm_matrix_multiply(transpose, false, 2, x, y, -1, z);
            xlm_matrix_get(z, got);
            CHECK(difference(M * N, got, wanted) < 1e-12);
        }
}

static void qr_is_unique(const xlm_comm *comm, const xlm_grid *grid)
{
    static const int64_t extents[][2] = {{1, 1}, {5, 5}, {7, 3}, {200, 45}};
    for (int layout = 0; layout < XLM_LAYOUTS; layout++)
        for (size_t e = 0; e < G_N_ELEMENTS(extents); e++) {
            const int64_t rows = extents[e][0], n = extents[e][1];
            double *x = made(rows, n, 3), *q = array(rows * n), *r = array(n * n);
            xlm_matrix *a = matrix(grid, layout, rows, n, x);
            GOOD(xlm_matrix_qr(a, r, &error));
            xlm_matrix_get(a, q);
            double *back = product(false, rows, n, n, q, r), *gram = product(true, n, n, rows, q, q);
            CHECK(difference(rows * n, back, x) < 1e-13);
            for (int64_t i = 0; i < n; i++) {
                CHECK(r[i * n + i] > 0);
                for (int64_t j = 0; j < n; j++)
                    CHECK(fabs(gram[i * n + j] - (i == j)) < 1e-13 && (j >= i || r[i * n + j] == 0));
            }
        }
}

/* A = U diag(s) Vᵀ with its largest elements positive: as computed on every number of ranks, and by itself. */
static void svd_is_right(const xlm_comm *comm, const xlm_grid *grid)
{
    static const int64_t extents[][2] = {{1, 1}, {4, 4}, {80, 50}, {50, 80}, {100, 100}};
    for (size_t e = 0; e < G_N_ELEMENTS(extents); e++) {
        const int64_t m = extents[e][0], n = extents[e][1], k = MIN(m, n);
        double *x = made(m, n, 11), *s = array(k), *u = array(m * k), *vt = array(k * n);
        xlm_matrix *a = matrix(grid, XLM_BY_BLOCKS, m, n, x), *left = matrix(grid, XLM_BY_BLOCKS, m, k, NULL);
        xlm_matrix *right = matrix(grid, XLM_BY_BLOCKS, k, n, NULL);
        GOOD(xlm_matrix_svd(a, s, left, right, &error));
        xlm_matrix_get(left, u);
        xlm_matrix_get(right, vt);
        for (int64_t j = 0; j < k; j++) {
            double largest = 0, at = 0;
            for (int64_t i = 0; i < m; i++)
                if (fabs(u[i * k + j]) > largest * (1 + 2e-6))
                    largest = fabs(u[i * k + j]), at = u[i * k + j];
            CHECK(at > 0 && s[j] >= 0 && (j == 0 || s[j] <= s[j - 1]));
            for (int64_t i = 0; i < m; i++)
                u[i * k + j] *= s[j];
        }
        double *back = product(false, m, n, k, u, vt);
        CHECK(difference(m * n, back, x) < 1e-12);
    }
}

/* The matrix with 2 on its diagonal and -1 beside it has the eigenvalues 2 - 2 cos(k π / (n + 1)). */
static void eigenvalues_are_known(const xlm_comm *comm, const xlm_grid *grid)
{
    static const int64_t extents[] = {1, 2, 5, 64, 97};
    for (size_t e = 0; e < G_N_ELEMENTS(extents); e++) {
        const int64_t n = extents[e];
        double *x = array(n * n), *values = array(n), *v = array(n * n);
        for (int64_t i = 0; i < n; i++) {
            x[i * n + i] = 2;
            if (i > 0)
                x[i * n + i - 1] = x[(i - 1) * n + i] = -1;
        }
        xlm_matrix *a = matrix(grid, XLM_BY_BLOCKS, n, n, x), *vectors = matrix(grid, XLM_BY_BLOCKS, n, n, NULL);
        GOOD(xlm_matrix_eigen(a, values, vectors, &error));
        xlm_matrix_get(vectors, v);
        double *image = product(false, n, n, n, x, v);
        for (int64_t k = 0; k < n; k++) {
            CHECK(fabs(values[k] - (2 - 2 * cos((double)(n - k) * G_PI / (double)(n + 1)))) < 1e-12);
            for (int64_t i = 0; i < n; i++)
                CHECK(fabs(image[i * n + k] - values[k] * v[i * n + k]) < 1e-12);
        }
    }
}

static void eigenvectors_are_right(const xlm_comm *comm, const xlm_grid *grid)
{
    static const int64_t extents[] = {1, 2, 5, 33, 70};
    for (size_t e = 0; e < G_N_ELEMENTS(extents); e++) {
        const int64_t n = extents[e];
        double *x = made(n, n, 40), *values = array(n), *v = array(n * n);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++)
                x[i * n + j] = x[j * n + i];
        xlm_matrix *a = matrix(grid, XLM_BY_BLOCKS, n, n, x), *vectors = matrix(grid, XLM_BY_BLOCKS, n, n, NULL);
        GOOD(xlm_matrix_eigen(a, values, vectors, &error));
        xlm_matrix_get(vectors, v);
        double *image = product(false, n, n, n, x, v), *gram = product(true, n, n, n, v, v);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                CHECK(fabs(image[i * n + j] - values[j] * v[i * n + j]) < 1e-12);
                CHECK(fabs(gram[i * n + j] - (i == j)) < 1e-12);
            }
    }
}

/* A part that ScaLAPACK cannot count is refused. */
static void parts_are_not_too_large(const xlm_comm *comm, const xlm_grid *grid)
{
    GError *large = NULL;
    CHECK(xlm_matrix_new(grid, XLM_BY_ROWS, 1 << 20, 1 << 18, &large) == NULL && large != NULL && large->code == EX_DATAERR);
    g_clear_error(&large);
}

int main(int argc, char **argv)
{
    static void (*const tests[])(const xlm_comm *comm, const xlm_grid *grid) = {
        blas_is_blis, grid_has_all_ranks, layouts_hold_the_same, products_are_right, qr_is_unique, svd_is_right,
        eigenvalues_are_known, eigenvectors_are_right, parts_are_not_too_large,
    };
    xlm_comm world, *comm = &world;
    xlm_comm_open(comm, "matrix_test", &argc, &argv);
    xlm_grid *grid = xlm_grid_open(comm);
    arrays = g_ptr_array_new_with_free_func(g_free);
    matrices = g_ptr_array_new_with_free_func((GDestroyNotify)xlm_matrix_free);
    for (size_t i = 0; i < G_N_ELEMENTS(tests); i++) {
        tests[i](comm, grid);
        g_ptr_array_set_size(matrices, 0);
        g_ptr_array_set_size(arrays, 0);
    }
    g_ptr_array_unref(matrices);
    g_ptr_array_unref(arrays);
    xlm_grid_close(grid);
    int64_t sum = failures;
    xlm_comm_sum_int64(comm, &sum, 1);
    const int code = xlm_comm_close(comm, NULL);
    return sum == 0 ? code : EXIT_FAILURE;
}
