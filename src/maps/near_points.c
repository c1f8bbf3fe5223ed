/* xlm-mpi: the nearest points of each point, exactly. SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/near_points.h"

#include <math.h>
#include <stdlib.h>

#include "base/progress.h"
#include "gemm/gemm.h"

enum {
    SOURCES = 256,     /* points of a block; ranks take blocks in turn */
    CANDIDATES = 4096, /* that they are multiplied with at a time */
    SPARE = 8          /* candidates that are kept in addition to k until distances are exact */
};

typedef struct near_point {
    double squared;
    int32_t row;
} near_point;

static int by_distance(const void *a, const void *b)
{
    const near_point *x = a, *y = b;
    if (x->squared != y->squared)
        return x->squared < y->squared ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static double squared_distance(int64_t width, const float *x, const float *y)
{
    double sum = 0;
    for (int64_t c = 0; c < width; c++) {
        const double d = (double)x[c] - (double)y[c];
        sum += d * d;
    }
    return sum;
}

/* Insert a candidate into the k best ones of a point so far, which are sorted from the best on. */
static void insert(float score, int32_t row, int k, float *best, int32_t *rows)
{
    int at = k - 1;
    for (; at > 0 && best[at - 1] < score; at--)
        best[at] = best[at - 1], rows[at] = rows[at - 1];
    best[at] = score;
    rows[at] = row;
}

/* [out] found: [n x 2k] for each of n points from `first` on, k rows and then their squared distances. */
static void find_block(int64_t all, int64_t width, const float *x, const float *halves, int k, int64_t first, int64_t n,
                       float *product, double *found)
{
    const int kept = (int)MIN(k + SPARE, all - 1);
    g_autofree float *best = g_new(float, n * kept);
    g_autofree int32_t *rows = g_new(int32_t, n * kept);
    for (int64_t i = 0; i < n * kept; i++)
        best[i] = -INFINITY, rows[i] = -1;
    for (int64_t begin = 0; begin < all; begin += CANDIDATES) {
        const int64_t cols = MIN(CANDIDATES, all - begin);
        xlm_gemm(false, true, n, cols, width, 1, x + first * width, width, x + begin * width, width, 0, product, cols);
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < cols; j++) {
                const float score = product[i * cols + j] - halves[begin + j]; /* (|x|² − |x − y|²) / 2 */
                if (begin + j != first + i && score > best[(i + 1) * kept - 1])
                    insert(score, (int32_t)(begin + j), kept, best + i * kept, rows + i * kept);
            }
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        g_autofree near_point *points = g_new(near_point, kept);
        for (int j = 0; j < kept; j++)
            points[j] = (near_point){squared_distance(width, x + (first + i) * width, x + rows[i * kept + j] * width),
                                     rows[i * kept + j]};
        qsort(points, (size_t)kept, sizeof *points, by_distance);
        for (int j = 0; j < k; j++) {
            found[i * 2 * k + j] = points[j].row;
            found[i * 2 * k + k + j] = points[j].squared;
        }
    }
}

void xlm_near_points(const xlm_comm *comm, int64_t n, int64_t width, const float *x, int k, int32_t *nearest, double *squared)
{
    g_autofree double *found = g_new0(double, n * 2 * k);
    g_autofree float *halves = g_new(float, n), *product = g_new(float, SOURCES * CANDIDATES);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t c = 0; c < width; c++)
            sum += (double)x[i * width + c] * (double)x[i * width + c];
        halves[i] = (float)(sum / 2);
    }
    xlm_progress progress = xlm_progress_begin("looking for nearest points", (double)n, "points");
    for (int64_t first = comm->rank * SOURCES; first < n; first += comm->ranks * SOURCES) {
        find_block(n, width, x, halves, k, first, MIN(SOURCES, n - first), product, found + first * 2 * k);
        xlm_progress_show(&progress, (double)first);
    }
    xlm_progress_end(&progress);
    xlm_comm_merge_double(comm, found, n * 2 * k);
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < k; j++) {
            nearest[i * k + j] = (int32_t)found[i * 2 * k + j];
            squared[i * k + j] = found[i * 2 * k + k + j];
        }
}
