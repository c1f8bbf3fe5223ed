/* xlm-mpi: the measures of an evaluation by their names. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Checkpoints are compared by one measure on held-out text, or by the mean of several, which a job names ([evaluate] choose_by):
 *   loss                        the sum of the objectives' losses, each multiplied by its weight
 *   OBJECTIVE/loss              and /perplexity, /accuracy, and the objective's own metrics
 *   OBJECTIVE/loss/LANGUAGE     and /perplexity, /accuracy: of one language, for objectives that predict masked tokens
 *   METRIC, METRIC/en-de        with translate: the mean score of all directions, and the score of one of several
 * These are the names of rows and columns in metrics.csv. */
#ifndef XLM_RUN_MEASURES_H
#define XLM_RUN_MEASURES_H

#include "job/job.h"
#include "run/validation.h"
#include "train/cost.h"
#include "train/evaluate.h"

/* What an evaluation has measured. */
typedef struct xlm_measured {
    const xlm_job *job;
    const xlm_vocabulary *vocabulary; /* whose languages the rows number */
    const xlm_host *host;             /* of the objectives; NULL: only totals are asked for */
    int64_t step;
    const xlm_evaluation *rows;       /* [n] of losses */
    int n;
    const GArray *measures;           /* xlm_language_measure: other measures; NULL: none */
} xlm_measured;

/* Is a higher value of a measure of that name better? Not of losses, perplexities and cross-entropies, whose names end so. */
bool xlm_measure_rises(const char *name);

/* The sum of the losses of all languages, with the weights of that step. False: no objective was evaluated. */
bool xlm_measured_total(const xlm_measured *measured, double *loss);
/* [out] weight: [job->objectives] of each loss in that sum; 0: none was evaluated. Sums with other weights cannot be compared. */
void xlm_measured_weights(const xlm_measured *measured, double *weight);

/* Can an evaluation have these measures (NULL-terminated names), as far as is known before there is one, and can the mean of them
 * compare checkpoints? EX_CONFIG: the error lists the names that there are. Not collective. */
bool xlm_measures_check(const xlm_run_size *size, char *const *names, GError **error);
/* [out] score: their mean; NaN if one of them has no value in this evaluation because its objective takes no part in this step,
 * or has no value of this metric yet.
 * EX_CONFIG: the objective takes part and has no such measure; the error lists those that it has. */
bool xlm_measures_mean(const xlm_measured *measured, char *const *names, double *score, GError **error);

/* Are some of the named measures losses on held-out text, or what is computed with them? */
bool xlm_measures_need_losses(const xlm_job *job, char *const *names);
/* The names, and the settings of the job that values of these measures depend on: scores with other settings are not compared.
 * g_free. */
char *xlm_measures_settings(const xlm_job *job, char *const *names);

#endif
