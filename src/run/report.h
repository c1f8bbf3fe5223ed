/* xlm-mpi: what a training run prints, and metrics.csv. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A live line on a terminal, one line per interval in a log, and metrics.csv in the output directory:
 *   step,split,objective,language,terms,loss,perplexity,accuracy,learning_rate,gradient_norm,tokens,seconds,score
 * Each step has a row for "total" (the weighted sum) and one for each objective (split "train"); each evaluation has its rows
 * (split "held_out"). In fine-tuning, and where held-out text is translated, there are rows of split "dev", one per measure, with
 * its name under objective and its value under score, and those of the mean of checkpoints have split "dev_average". An objective's
 * own metrics (xlm_declare_metric) also have rows after each step and evaluation: objective
 * "<objective>/<metric>", the mean under score, its count under terms. Fields that do not apply are empty. */
#ifndef XLM_RUN_REPORT_H
#define XLM_RUN_REPORT_H

#include "comm/shards.h"
#include "run/validation.h"
#include "tensor/profile.h"
#include "train/engine.h"
#include "train/evaluate.h"

typedef struct xlm_report xlm_report;

/* The run that is reported; all borrowed as long as the report lives. */
typedef struct xlm_report_setup {
    const xlm_comm *comm;
    const xlm_job *job;
    const xlm_host *host;
    const xlm_vocabulary *vocabulary;
    const xlm_run_progress *progress; /* read at each call */
    double gemm_gflops;               /* of a rank, measured */
} xlm_report_setup;

/* Rank 0 opens metrics.csv; if `resumed`, it keeps the rows up to progress->step. On other ranks the report prints nothing.
 * Collective. */
xlm_report *xlm_report_open(const xlm_report_setup *setup, bool resumed, GError **error);
/* Does metrics.csv have losses on held-out text of the step that the run is at? Collective. */
bool xlm_report_has_evaluation(const xlm_report *report);
/* Flush and close; an error of writing (a full disk) is a warning. */
void xlm_report_close(xlm_report *report);

/* Write the rows so far to the file, which should have a checkpoint's rows before the checkpoint is written. */
void xlm_report_flush(xlm_report *report);

/* After each update. */
void xlm_report_step(xlm_report *report, const xlm_step_report *step);
/* After each evaluation: a table in the log, rows in metrics.csv. The time it took is not counted against tokens/s. */
void xlm_report_evaluation(xlm_report *report, const xlm_evaluation *rows, int n);
/* The same for the measures of a validation (GArray of xlm_language_measure). best: mark them as the best so far. */
void xlm_report_measures(xlm_report *report, const xlm_validation *validation, const GArray *measures, bool best);
/* The score by which checkpoints are compared, for the summary, and with `line` a line of the log; best: better than before. */
void xlm_report_score(xlm_report *report, const char *name, double score, bool best, bool line);
/* The same for the mean of n checkpoints; its split in metrics.csv is "<split>_average". */
void xlm_report_mean(xlm_report *report, const xlm_validation *validation, const GArray *measures, int64_t n);
/* One line at the end: steps, time, tokens, the last held-out loss and the best of the same sum since the report was opened, the
 * last and the best score, and the path of the checkpoint. */
void xlm_report_summary(xlm_report *report);
/* A table in the log: how `steps` steps of this rank spent their time, and the library and precision of products
 * (xlm_arithmetic_name). The reports of the reduce-scatter and the all-gather have one more step. */
void xlm_report_profile(xlm_profile *profile, const char *arithmetic, const xlm_shards_report *reduce_scatter,
                        const xlm_shards_report *all_gather, int64_t steps);
/* Time outside of steps (evaluation, checkpoints) that tokens/s should not count: call before and after. */
void xlm_report_pause(xlm_report *report);
void xlm_report_resume(xlm_report *report);

#endif
