/* xlm-mpi: evaluations of a run, and the score that compares its checkpoints. SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/scoring.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "checkpoint/checkpoint_mean.h"
#include "run/measures.h"

bool xlm_scoring_check(const xlm_scoring *scoring, GError **error)
{
    if (scoring->validation == NULL || scoring->validation->choose_by == NULL)
        return true;
    const xlm_run_size size = xlm_engine_size(scoring->engine);
    return xlm_measures_check(&size, scoring->validation->choose_by, error);
}

int64_t xlm_scoring_digest(const xlm_validation *validation)
{
    if (validation == NULL || validation->settings == NULL)
        return 0;
    g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, validation->settings, -1);
    sum[15] = '\0'; /* 60 bits: never negative, and with h5dump as legible as a number can be */
    return MAX((int64_t)g_ascii_strtoull(sum, NULL, 16), 1);
}

char *xlm_scoring_name(const xlm_validation *validation)
{
    if (validation->choose_by == NULL)
        return g_strdup(validation->split);
    g_autofree char *names = g_strjoinv(", ", (char **)validation->choose_by);
    return g_strdup_printf("held-out text (%s)", names);
}

static bool has_losses(const xlm_scoring *s) { return s->validation == NULL || s->validation->losses; }

static bool rises(const xlm_validation *validation)
{
    return validation->choose_by == NULL || xlm_measure_rises(validation->choose_by[0]);
}

static bool needs_losses(const xlm_scoring *s)
{
    return s->validation != NULL && s->validation->choose_by != NULL &&
           xlm_measures_need_losses(s->job, s->validation->choose_by);
}

/* Losses on held-out text. */
static bool compute_losses(const xlm_scoring *s, xlm_evaluation **rows, int *n, GError **error)
{
    const xlm_workspace workspace = xlm_engine_workspace(s->engine);
    xlm_report_pause(s->report);
    const bool good = xlm_evaluate(s->job, &workspace, s->progress->step, rows, n, error);
    if (good)
        xlm_report_resume(s->report);
    return good;
}

bool xlm_scoring_measure(const xlm_scoring *scoring, GArray *measures, GError **error)
{
    const xlm_validation *validation = scoring->validation;
    const xlm_workspace workspace = xlm_engine_workspace(scoring->engine);
    xlm_report_pause(scoring->report);
    const bool good = validation->measure(validation->data, &workspace, scoring->progress->step, measures, error);
    xlm_report_resume(scoring->report);
    return good;
}

static bool score_of(const xlm_scoring *s, const xlm_measured *measured, double *score, GError **error)
{
    const xlm_validation *validation = s->validation;
    if (validation->choose_by != NULL)
        return xlm_measures_mean(measured, validation->choose_by, score, error);
    *score = g_array_index(measured->measures, xlm_language_measure, 0).measure.value;
    return true;
}

/* Where an evaluation of this step goes. */
static xlm_measured measured_now(const xlm_scoring *s)
{
    return (xlm_measured){.job = s->job, .vocabulary = s->vocabulary, .host = xlm_engine_workspace(s->engine).host,
                          .step = s->progress->step};
}

bool xlm_scoring_begin(const xlm_scoring *scoring, GError **error)
{
    const xlm_run_progress *progress = scoring->progress;
    const int64_t every = scoring->job->train.evaluate_every;
    const bool first = progress->step == 0;
    g_autofree xlm_evaluation *rows = NULL;
    xlm_measured measured = measured_now(scoring);
    double score;
    if (!has_losses(scoring))
        return true;
    /* A run that was asked to stop did not wait for losses that no score needs (xlm_scoring_evaluate). They are also made where
     * metrics.csv is new, as with a checkpoint of another directory. */
    const bool left_out = !first && !needs_losses(scoring) && every > 0 && progress->step % every == 0 &&
                          !xlm_report_has_evaluation(scoring->report);
    /* If a run looks for the best anew, the measure is looked up in losses. */
    if (!first && !left_out && (!needs_losses(scoring) || progress->best.step > 0))
        return true;
    if (!compute_losses(scoring, &rows, &measured.n, error))
        return false;
    measured.rows = rows;
    if (needs_losses(scoring) && !xlm_measures_mean(&measured, scoring->validation->choose_by, &score, error))
        return false;
    if (first || left_out)
        xlm_report_evaluation(scoring->report, rows, measured.n);
    return true;
}

/* Is the score better than at any step before? */
static bool is_best(const xlm_scoring *s, double score)
{
    const xlm_best_score *before = &s->progress->best;
    return isfinite(score) && (before->step == 0 || (rises(s->validation) ? score > before->score : score < before->score));
}

static void note_score(const xlm_scoring *s, double score, bool best)
{
    const xlm_validation *validation = s->validation;
    xlm_run_progress *progress = s->progress;
    const xlm_best_score now = {.score = score, .step = (double)progress->step};
    if (best) {
        progress->best = now;
        progress->from_best = 1;
    } else if (progress->from_best > 0) {
        progress->from_best++;
    }
    if (s->members != NULL && isfinite(score))
        xlm_checkpoint_mean_add(s->members, validation->average, validation->average_best, now);
    progress->validated = progress->step;
    xlm_snapshot_validated(xlm_stopping_snapshot(s->stopping), progress->validated);
}

/* The score of what was measured, if it was not noted before the run was stopped. Nothing is reported before it is noted, and what
 * belongs to the best step is kept before: a run that is killed in between evaluates this step again. */
static bool evaluate(const xlm_scoring *s, xlm_measured *measured, GArray *measures, bool *best, GError **error)
{
    const xlm_validation *validation = s->validation;
    double score;
    /* A validation may write examples beside the checkpoints. */
    if (validation->measure != NULL && (!xlm_stopping_may_write(s->stopping, error) || !xlm_scoring_measure(s, measures, error)))
        return false;
    measured->measures = measures;
    if (!score_of(s, measured, &score, error))
        return false;
    /* All ranks must find the same, also where their mathematical functions round in different ways. */
    xlm_comm_broadcast(s->comm, 0, &score, sizeof score);
    *best = is_best(s, score);
    if (*best && validation->keep_best != NULL &&
        !validation->keep_best(validation->data, s->comm, s->progress->step, error))
        return false;
    note_score(s, score, *best);
    if (needs_losses(s))
        xlm_report_evaluation(s->report, measured->rows, measured->n);
    g_autofree char *names = validation->choose_by != NULL ? g_strjoinv(", ", (char **)validation->choose_by) : NULL;
    if (measures->len > 0) {
        const char *first = g_array_index(measures, xlm_language_measure, 0).measure.name;
        const bool of_first = names == NULL || strcmp(names, first) == 0;
        xlm_report_measures(s->report, validation, measures, *best && of_first);
        xlm_report_score(s->report, names != NULL ? names : first, score, *best, !of_first);
    } else {
        xlm_report_score(s->report, names, score, *best, true);
    }
    return true;
}

bool xlm_scoring_evaluate(const xlm_scoring *scoring, bool hurried, bool *best, GError **error)
{
    const bool scored = scoring->validation == NULL || scoring->progress->validated == scoring->progress->step;
    g_autofree xlm_evaluation *rows = NULL;
    g_autoptr(GArray) measures = g_array_new(FALSE, FALSE, sizeof(xlm_language_measure));
    xlm_measured measured = measured_now(scoring);
    /* Held-out losses that no score needs change nothing that follows. */
    const bool losses = has_losses(scoring) && (needs_losses(scoring) ? !scored : !hurried);
    *best = false;
    if (losses && !compute_losses(scoring, &rows, &measured.n, error))
        return false;
    measured.rows = rows;
    if (losses && !needs_losses(scoring))
        xlm_report_evaluation(scoring->report, rows, measured.n);
    return scored || evaluate(scoring, &measured, measures, best, error);
}

int64_t xlm_scoring_since_best(const xlm_scoring *scoring)
{
    const xlm_run_progress *progress = scoring->progress;
    const int64_t every = scoring->job->train.evaluate_every;
    return progress->from_best > 0 ? progress->from_best - 1 : progress->step / every - (int64_t)progress->best.step / every;
}

bool xlm_scoring_is_out_of_patience(const xlm_scoring *scoring)
{
    const int64_t patience = scoring->validation != NULL ? scoring->validation->patience : 0;
    return patience > 0 && scoring->progress->best.step > 0 && xlm_scoring_since_best(scoring) >= patience;
}
