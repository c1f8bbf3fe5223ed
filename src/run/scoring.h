/* xlm-mpi: evaluations of a run, and the score that compares its checkpoints. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An evaluation computes losses on held-out text, other measures (run/validation.h), or both. The score is one of them, or the
 * mean of several (run/measures.h); the names say whether a higher or a lower one is better. A score that is not finite is never
 * the best, and counts as an evaluation without a better one.
 *
 * The best score and its step are in every checkpoint, with a digest of what it is the score of. A run that is resumed with other
 * measures or settings begins to look for the best anew. */
#ifndef XLM_RUN_SCORING_H
#define XLM_RUN_SCORING_H

#include "run/report.h"
#include "run/stopping.h"
#include "run/validation.h"

/* What is evaluated; all borrowed from the run. */
typedef struct xlm_scoring {
    const xlm_comm *comm;
    const xlm_job *job;
    const xlm_vocabulary *vocabulary;
    const xlm_validation *validation; /* NULL: losses are reported, and checkpoints are not compared */
    xlm_engine *engine;
    xlm_run_progress *progress;
    xlm_best_score *members; /* [validation->average] of the mean of checkpoints so far; NULL: there will be none */
    xlm_stopping *stopping;
    xlm_report *report;
} xlm_scoring;

/* Can the run be scored as its job says? Called before anything is allocated; not collective. EX_CONFIG. */
bool xlm_scoring_check(const xlm_scoring *scoring, GError **error);
/* The digest of what scores are of; 0 without a validation. */
int64_t xlm_scoring_digest(const xlm_validation *validation);

/* Collective. Before the first step: report losses on held-out text at step 0, and those of the step that a run goes on from if
 * they are due and not in metrics.csv, as when the run was stopped there. EX_CONFIG: the run is to be compared by a measure
 * that they do not have. */
bool xlm_scoring_begin(const xlm_scoring *scoring, GError **error);
/* Collective. After a step at which an evaluation is due. hurried: there is little time; leave out what does not change the
 * course of the run. [out] best: the model is better than at any step before. */
bool xlm_scoring_evaluate(const xlm_scoring *scoring, bool hurried, bool *best, GError **error);
/* Collective. Append what the validation measures, without a score. */
bool xlm_scoring_measure(const xlm_scoring *scoring, GArray *measures, GError **error);

/* Evaluations since the best score. A run whose best score is from a version that did not count them has had one every
 * `evaluate_every` steps. */
int64_t xlm_scoring_since_best(const xlm_scoring *scoring);
/* The score has not become better in as many evaluations as the run may wait. */
bool xlm_scoring_is_out_of_patience(const xlm_scoring *scoring);
/* What the score is of, for messages: "dev", or "held-out text (mlm/loss)". g_free. */
char *xlm_scoring_name(const xlm_validation *validation);

#endif
