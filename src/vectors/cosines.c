/* xlm-mpi: cosines of vectors, in double precision. SPDX-License-Identifier: GPL-3.0-or-later */
#include "vectors/cosines.h"

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

void xlm_pair_cosines_open(xlm_pair_cosines *cosines, int64_t width)
{
    *cosines = (xlm_pair_cosines){.width = width, .side = {g_new0(double, width), g_new0(double, width)}};
}

static void add_direction(int64_t width, const float *x, double *sum)
{
    const double length = xlm_vector_length(width, x);
    for (int64_t c = 0; c < width && length > 0; c++)
        sum[c] += (double)x[c] / length;
}

double xlm_pair_cosines_add(xlm_pair_cosines *cosines, const float *x, const float *y)
{
    const double cosine = xlm_vector_cosine(cosines->width, x, y);
    add_direction(cosines->width, x, cosines->side[0]);
    add_direction(cosines->width, y, cosines->side[1]);
    cosines->sum += cosine;
    cosines->pairs++;
    return cosine;
}

double xlm_pair_cosines_mean(const xlm_pair_cosines *cosines)
{
    return cosines->pairs > 0 ? cosines->sum / (double)cosines->pairs : NAN;
}

/* The mean over all i and j is the product of the means of x_i/|x_i| and of y_j/|y_j|. */
double xlm_pair_cosines_shuffled(const xlm_pair_cosines *cosines)
{
    const double pairs = (double)cosines->pairs;
    double sum = 0;
    for (int64_t c = 0; c < cosines->width; c++)
        sum += cosines->side[0][c] * cosines->side[1][c];
    return cosines->pairs > 0 ? sum / pairs / pairs : NAN;
}

void xlm_pair_cosines_close(xlm_pair_cosines *cosines)
{
    g_free(cosines->side[0]);
    g_free(cosines->side[1]);
}
