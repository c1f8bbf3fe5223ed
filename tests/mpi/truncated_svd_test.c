/* xlm-mpi: largest singular values of matrices that have known ones. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "check.h"

#include "maps/truncated_svd.h"

/* Row i of A has the one element s(i) in column (7 i + 3) mod n: its singular values are all s(i), U and V unit vectors. */
typedef struct made {
    const xlm_comm *comm;
    int64_t n, rows;
    int64_t dimensions; /* s(i) = 0 from this on */
    double fall;
} made;

static double value_of(const made *m, int64_t i) { return i < m->dimensions ? 3 / (1 + m->fall * (double)i) : 0; }
static int64_t partner(const made *m, int64_t i) { return (7 * i + 3) % m->n; }

static void multiply(const void *data, bool transpose, int64_t columns, const double *x, double *y)
{
    const made *m = data;
    memset(y, 0, sizeof *y * (size_t)(m->rows * columns));
    for (int64_t i = 0; i < m->n; i++) {
        const int64_t from = transpose ? i : partner(m, i), to = (transpose ? partner(m, i) : i) - m->comm->rank * m->rows;
        for (int64_t c = 0; to >= 0 && to < m->rows && c < columns; c++)
            y[to * columns + c] += value_of(m, i) * x[(c / 16 * m->rows * m->comm->ranks + from) * 16 + c % 16];
    }
}

/* n: no multiple of 7. dimensions: of A. k: wanted. */
static void values_are_found(const xlm_comm *comm, const xlm_grid *grid, int64_t n, int64_t dimensions, int64_t k)
{
    const made m = {.comm = comm, .n = n, .rows = (n + comm->ranks - 1) / comm->ranks, .dimensions = dimensions, .fall = 0.05};
    int64_t *numbers = g_new(int64_t, m.rows);
    for (int64_t i = 0; i < m.rows; i++) {
        numbers[i] = comm->rank * m.rows + i;
        if (numbers[i] >= n)
            numbers[i] = -1;
    }
    const xlm_linear_map map = {.n = n, .rows = m.rows, .numbers = numbers, .multiply = multiply, .data = &m};
    xlm_truncated_svd svd = {.rank = k, .seed = 3, .tolerance = 1e-6};
    GOOD(xlm_truncated_svd_find(grid, &map, &svd, &error));
    for (int64_t j = 0; j < k; j++) {
        CHECK(fabs(svd.values[j] - value_of(&m, j)) < 1e-7);
        if (j >= dimensions)
            continue;
        for (int64_t i = 0; i < m.rows; i++) {
            CHECK(fabs(svd.left[i * k + j] - (numbers[i] == j ? value_of(&m, j) : 0)) < 1e-4);
            CHECK(fabs(svd.right[i * k + j] - (numbers[i] == partner(&m, j))) < 1e-4);
        }
    }
    CHECK(svd.residual <= 1e-6 && svd.products > 0);
    xlm_truncated_svd_free(&svd);
    g_free(numbers);
}

/* The residual |AᵀA v − s² v| / s² of each vector is at most the tolerance, and the largest is what is said: AᵀA is diagonal, with
 * value_of(i)² in the place of partner(i). The smaller tolerance is what takes more products. */
static void tolerance_is_kept(const xlm_comm *comm, const xlm_grid *grid, int64_t n, int64_t k)
{
    static const double tolerance[] = {0.1, 1e-3};
    const made m = {.comm = comm, .n = n, .rows = (n + comm->ranks - 1) / comm->ranks, .dimensions = n, .fall = 0.001};
    int64_t *numbers = g_new(int64_t, m.rows), products[2];
    double *diagonal = g_new(double, n), *square = g_new(double, k), residual[2];
    for (int64_t i = 0; i < m.rows; i++)
        numbers[i] = comm->rank * m.rows + i < n ? comm->rank * m.rows + i : -1;
    for (int64_t i = 0; i < n; i++)
        diagonal[partner(&m, i)] = value_of(&m, i) * value_of(&m, i);
    const xlm_linear_map map = {.n = n, .rows = m.rows, .numbers = numbers, .multiply = multiply, .data = &m};
    for (int t = 0; t < 2; t++) {
        xlm_truncated_svd svd = {.rank = k, .seed = 3, .tolerance = tolerance[t]};
        GOOD(xlm_truncated_svd_find(grid, &map, &svd, &error));
        double worst = 0;
        memset(square, 0, sizeof *square * (size_t)k);
        for (int64_t i = 0; i < m.rows; i++)
            for (int64_t j = 0; j < k && numbers[i] >= 0; j++)
                square[j] += pow((diagonal[numbers[i]] - svd.values[j] * svd.values[j]) * svd.right[i * k + j], 2);
        xlm_comm_sum_double(comm, square, k);
        for (int64_t j = 0; j < k; j++) {
            const double s = svd.values[j];
            worst = fmax(worst, sqrt(square[j]) / (s * s));
            /* There is a value within the residual. */
            CHECK(fabs(s - value_of(&m, j)) < tolerance[t] * s);
        }
        CHECK(svd.residual <= tolerance[t] && fabs(worst - svd.residual) < 1e-3 * svd.residual + 1e-12);
        residual[t] = svd.residual;
        products[t] = svd.products;
        xlm_truncated_svd_free(&svd);
    }
    CHECK(residual[0] > tolerance[1] && products[0] < products[1]);
    g_free(numbers);
    g_free(diagonal);
    g_free(square);
}

int main(int argc, char **argv)
{
    xlm_comm world, *comm = &world;
    xlm_comm_open(comm, "truncated_svd_test", &argc, &argv);
    xlm_grid *grid = xlm_grid_open(comm);
    values_are_found(comm, grid, 10, 10, 10);   /* all of a small one */
    values_are_found(comm, grid, 100, 5, 20);   /* more than it has */
    values_are_found(comm, grid, 1501, 1501, 20);
    values_are_found(comm, grid, 1501, 40, 60); /* more than it has, by iteration */
    values_are_found(comm, grid, 1501, 0, 1);
    tolerance_is_kept(comm, grid, 1501, 5);
    xlm_grid_close(grid);
    int64_t sum = failures;
    xlm_comm_sum_int64(comm, &sum, 1);
    const int code = xlm_comm_close(comm, NULL);
    return sum == 0 ? code : EXIT_FAILURE;
}
