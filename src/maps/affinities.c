/* xlm-mpi: how near points are to one another, as probabilities, for t-SNE. SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/affinities.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 200 };

static const double TOLERANCE = 1e-6; /* of the entropy */

/* p for a β; returns the entropy, in nats. */
static double set_probabilities(int k, const double *squared, double min, double beta, double *p)
{
    double sum = 0, mean = 0;
    for (int j = 0; j < k; j++) {
        p[j] = exp(-beta * (squared[j] - min));
        sum += p[j];
        mean += p[j] * (squared[j] - min);
    }
    for (int j = 0; j < k; j++)
        p[j] /= sum;
    return log(sum) + beta * mean / sum;
}

double xlm_affinities_of_point(int k, const double *squared, double perplexity, double *p)
{
    double min = squared[0], max = squared[0];
    for (int j = 1; j < k; j++)
        min = fmin(min, squared[j]), max = fmax(max, squared[j]);
    const double wanted = log(perplexity);
    double low = 0, high = INFINITY, beta = max > min ? 1 / (max - min) : 1;
    for (int round = 0; round < ROUNDS; round++) {
        const double entropy = set_probabilities(k, squared, min, beta, p);
        if (fabs(entropy - wanted) < TOLERANCE || max == min)
            break;
        if (entropy > wanted)
            low = beta;
        else
            high = beta;
        const double next = isinf(high) ? 2 * beta : (low + high) / 2;
        if (next == beta || isinf(next))
            break;
        beta = next;
    }
    return beta;
}

typedef struct entry {
    int32_t column;
    double p;
} entry;

static int by_column(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return (x->column > y->column) - (x->column < y->column);
}

/* Sort the entries of a row by column, and add up those of one column. Returns how many there are then. */
static int64_t merge_row(entry *row, int64_t n)
{
    int64_t kept = 0;
    qsort(row, (size_t)n, sizeof *row, by_column);
    for (int64_t i = 0; i < n; i++)
        if (kept > 0 && row[kept - 1].column == row[i].column)
            row[kept - 1].p += row[i].p;
        else
            row[kept++] = row[i];
    return kept;
}

xlm_affinities *xlm_affinities_make(int64_t n, int k, const int32_t *nearest, const double *squared, double perplexity)
{
    g_autofree double *p = g_new(double, n * k);
    g_autofree int64_t *begin = g_new0(int64_t, n + 1), *end = g_new(int64_t, n);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        xlm_affinities_of_point(k, squared + i * k, perplexity, p + i * k);
    for (int64_t i = 0; i < n * k; i++) {
        begin[i / k + 1]++;
        begin[nearest[i] + 1]++;
    }
    for (int64_t i = 0; i < n; i++) {
        begin[i + 1] += begin[i];
        end[i] = begin[i];
    }
    g_autofree entry *all = g_new(entry, begin[n]);
    for (int64_t i = 0; i < n * k; i++) {
        const double half = p[i] / (2 * (double)n);
        all[end[i / k]++] = (entry){nearest[i], half};
        all[end[nearest[i]]++] = (entry){(int32_t)(i / k), half};
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++)
        end[i] = merge_row(all + begin[i], end[i] - begin[i]);
    xlm_affinities *a = g_new0(xlm_affinities, 1);
    a->n = n;
    a->first = g_new0(int64_t, n + 1);
    for (int64_t i = 0; i < n; i++)
        a->first[i + 1] = a->first[i] + end[i];
    a->column = g_new(int32_t, a->first[n]);
    a->p = g_new(double, a->first[n]);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < end[i]; j++) {
            a->column[a->first[i] + j] = all[begin[i] + j].column;
            a->p[a->first[i] + j] = all[begin[i] + j].p;
        }
    return a;
}

void xlm_affinities_free(xlm_affinities *affinities)
{
    if (affinities == NULL)
        return;
    g_free(affinities->first);
    g_free(affinities->column);
    g_free(affinities->p);
    g_free(affinities);
}
