/* xlm-mpi: how much the score of a text depends on its sentences: the bootstrap. SPDX-License-Identifier: GPL-3.0-or-later */
#include "translation_scores/bootstrap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

void xlm_bootstrap(const xlm_translation_metric *metric, const int64_t *counts, int64_t sentences, int64_t seed, int64_t samples,
                   double *scores)
{
    const int width = xlm_translation_metric_class(metric)->counts;
    for (int64_t i = 0; i < samples; i++) {
        const xlm_rng_key key = xlm_rng_make_key((uint64_t)seed, XLM_RNG_BOOTSTRAP, (uint64_t)i);
        int64_t sums[XLM_METRIC_COUNTS] = {0};
        xlm_rng_block block = {{0}};
        for (int64_t j = 0; j < sentences; j++) {
            if (j % 4 == 0)
                block = xlm_rng_draw(key, (uint32_t)(j / 4), 0, 0, 0);
            const int64_t *of = counts + (int64_t)xlm_rng_below(block.v[j % 4], (uint64_t)sentences) * width;
            for (int k = 0; k < width; k++)
                sums[k] += of[k];
        }
        scores[i] = xlm_translation_metric_score(metric, sums);
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

xlm_bootstrap_interval xlm_bootstrap_find_interval(const double *values, int64_t n)
{
    g_autofree double *sorted = g_new(double, (gsize)n);
    double sum = 0;
    memcpy(sorted, values, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare);
    for (int64_t i = 0; i < n; i++)
        sum += sorted[i];
    return (xlm_bootstrap_interval){sum / (double)n, sorted[n / 40], sorted[n - n / 40 - 1]};
}

double xlm_bootstrap_p(const double *scores, const double *baseline, int64_t n, double difference)
{
    double mean = 0;
    int64_t above = 0;
    if (difference == 0)
        return 1;
    for (int64_t i = 0; i < n; i++)
        mean += fabs(scores[i] - baseline[i]);
    mean /= (double)n;
    for (int64_t i = 0; i < n; i++)
        above += fabs(scores[i] - baseline[i]) - mean > fabs(difference);
    return (double)(above + 1) / (double)(n + 1);
}
