/* xlm-mpi: principal components of vectors that every rank has. SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/principal.h"

#include "gemm/gemm.h"
#include "matrix/algebra.h"

enum { ROWS = 1024 }; /* whose products are summed in single precision, before these sums are added up in double */

/* y = x less the mean of its rows. */
static void centre(int64_t n, int64_t width, const float *x, float *y)
{
    g_autofree double *mean = g_new0(double, width);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < width; c++)
            mean[c] += (double)x[i * width + c];
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < width; c++)
            y[i * width + c] = (float)((double)x[i * width + c] - mean[c] / (double)n);
}

/* covariance: [width x width] = yᵀy / (n − 1). */
static void find_covariance(int64_t n, int64_t width, const float *y, double *covariance)
{
    g_autofree float *part = g_new(float, width * width);
    for (int64_t i = 0; i < width * width; i++)
        covariance[i] = 0;
    for (int64_t first = 0; first < n; first += ROWS) {
        xlm_gemm(true, false, width, width, MIN(ROWS, n - first), 1, y + first * width, width, y + first * width, width, 0, part,
                 width);
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < width * width; i++)
            covariance[i] += (double)part[i] / (double)(n - 1);
    }
}

bool xlm_principal_components(const xlm_comm *comm, int64_t n, int64_t width, const float *x, int64_t k, float *scores,
                              double *share, GError **error)
{
    g_autofree float *centred = g_new(float, n * width), *axes = g_new(float, width * k);
    g_autofree double *covariance = g_new(double, width * width), *values = g_new(double, width);
    double total = 0;
    GError *failure = NULL;
    centre(n, width, x, centred);
    find_covariance(n, width, centred, covariance);
    for (int64_t c = 0; c < width; c++)
        total += covariance[c * width + c];
    if (total > 0) {
        g_autofree double *vectors = g_new(double, width * width);
        const xlm_comm own = xlm_comm_alone();
        g_autoptr(xlm_grid) grid = xlm_grid_open(&own);
        if (xlm_symmetric_eigen(grid, width, covariance, values, vectors, &failure))
            for (int64_t i = 0; i < width * k; i++)
                axes[i] = (float)vectors[i / k * width + i % k];
    } else {
        xlm_error_set(&failure, EX_DATAERR, "all of the %" G_GINT64_FORMAT " vectors are the same", n);
    }
    const bool good = xlm_comm_agree_on(comm, failure, error);
    if (good)
        xlm_gemm(false, false, n, k, width, 1, centred, width, axes, k, 0, scores, k);
    for (int64_t c = 0; c < k && good && share != NULL; c++)
        share[c] = values[c] / total;
    return good;
}
