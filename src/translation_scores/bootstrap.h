/* xlm-mpi: how much the score of a text depends on its sentences: the bootstrap. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sample has as many sentences as the text, drawn from it with replacement. The draws are a function of seed, sample and place:
 * the same sentences for every system and every metric, so that systems are compared on equal samples (paired bootstrap, Koehn
 * 2004). Intervals and p are those of sacreBLEU 2. */
#ifndef XLM_TRANSLATION_SCORES_BOOTSTRAP_H
#define XLM_TRANSLATION_SCORES_BOOTSTRAP_H

#include "translation_scores/metric.h"

/* The scores of samples. counts: [sentences x counts of the metric], 1 <= sentences <= 2^32. [out] scores[samples]. */
void xlm_bootstrap(const xlm_translation_metric *metric, const int64_t *counts, int64_t sentences, int64_t seed, int64_t samples,
                   double *scores);

/* mean: of all values; low and high: bounds of the middle 95 %, which leave out n / 40 values, rounded down, on either side. */
typedef struct xlm_bootstrap_interval {
    double mean, low, high;
} xlm_bootstrap_interval;
xlm_bootstrap_interval xlm_bootstrap_find_interval(const double *values, int64_t n);

/* The p-value of a difference between two systems under the hypothesis that both are equally good. The differences of samples,
 * d_i = |score_i - baseline_i|, would then be spread around 0 as they are around their mean m:
 * p = (1 + number of samples with d_i - m > |difference|) / (1 + n). It is 1 if there is no difference; sacreBLEU gives a small p
 * then. */
double xlm_bootstrap_p(const double *scores, const double *baseline, int64_t n, double difference);

#endif
