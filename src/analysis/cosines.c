/* xlm-mpi: cosines of vectors, in double precision. SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/cosines.h"

#include <glib.h>
#include <math.h>

double xlm_vector_length(int64_t width, const float *x)
{
    double sum = 0;
    for (int64_t c = 0; c < width; c++)
        sum += (double)x[c] * (double)x[c];
    return sqrt(sum);
}

double xlm_vector_cosine(int64_t width, const float *x, const float *y)
{
    double sum = 0;
    for (int64_t c = 0; c < width; c++)
        sum += (double)x[c] * (double)y[c];
    const double lengths = xlm_vector_length(width, x) * xlm_vector_length(width, y);
    return lengths > 0 ? sum / lengths : 0;
}

/* mean: [width] of the rows of x, [n x width], divided by their lengths. */
static void mean_direction(int64_t n, int64_t width, const float *x, double *mean)
{
    for (int64_t i = 0; i < n; i++) {
        const float *row = x + i * width;
        const double own = xlm_vector_length(width, row);
        for (int64_t c = 0; c < width && own > 0; c++)
            mean[c] += (double)row[c] / own / (double)n;
    }
}

double xlm_mean_cosine(int64_t width, int64_t n, const float *x, int64_t m, const float *y)
{
    double *mean[2] = {g_new0(double, width), g_new0(double, width)}, sum = 0;
    mean_direction(n, width, x, mean[0]);
    mean_direction(m, width, y, mean[1]);
    for (int64_t c = 0; c < width; c++)
        sum += mean[0][c] * mean[1][c];
    g_free(mean[0]);
    g_free(mean[1]);
    return sum;
}
