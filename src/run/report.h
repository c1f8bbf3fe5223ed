/* xlm-mpi: what a training run prints, and metrics.csv. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * On a terminal one live line; in a log one line an interval; and metrics.csv in the output directory:
 *   step,split,objective,language,terms,loss,perplexity,accuracy,learning_rate,gradient_norm,tokens,seconds,score
 * One row a step for "total" (the weighted sum) and one for each objective (split "train"), and the rows of each evaluation
 * (split "held_out"). In fine-tuning these are of split "dev", one a measure, whose name is under objective and whose value
 * under score. An objective's own metrics (xlm_declare_metric) have rows after each step and evaluation too: objective
 * "<objective>/<metric>", the mean under score, its count under terms. Fields that do not apply are empty. */
#ifndef XLM_RUN_REPORT_H
#define XLM_RUN_REPORT_H

#include "checkpoint/run_progress.h"
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
    const xlm_run_progress *progress; /* as it is at each call */
    double gemm_gflops;               /* of a rank, measured */
} xlm_report_setup;

/* Rank 0 opens metrics.csv, with the rows up to progress->step that are there when `resumed`; on other ranks a report that prints
 * nothing. Collective. */
xlm_report *xlm_report_open(const xlm_report_setup *setup, bool resumed, GError **error);
/* Flush and close; an error of writing (a full disk) is a warning. */
void xlm_report_close(xlm_report *report);

/* Write out the rows so far: a checkpoint's rows should be in the file before it. */
void xlm_report_flush(xlm_report *report);

/* After each update. */
void xlm_report_step(xlm_report *report, const xlm_step_report *step);
/* After each evaluation: a table in the log, rows in metrics.csv. The time it took is not counted against tokens/s. */
void xlm_report_evaluation(xlm_report *report, const xlm_evaluation *rows, int n);
/* The same of a validation's measures (GArray of xlm_language_measure). best: the first is better than before. */
void xlm_report_measures(xlm_report *report, const xlm_validation *validation, const GArray *measures, bool best);
/* And those of the mean of n checkpoints; in metrics.csv of split "<split>_average". */
void xlm_report_mean(xlm_report *report, const xlm_validation *validation, const GArray *measures, int64_t n);
/* One line in the end: steps, time, tokens, the last and the best held-out loss (or measure of the validation) of what ran
 * since the report was opened, and where the checkpoint is. */
void xlm_report_summary(const xlm_report *report);
/* Where the time of `steps` steps of this rank went, as a table in the log, with who made products and in which precision
 * (xlm_arithmetic_name); the reduce-scatter's report has one step more. */
void xlm_report_profile(xlm_profile *profile, const char *arithmetic, const xlm_reduce_scatter_report *reduce_scatter,
                        int64_t steps);
/* Time outside of steps (evaluation, checkpoints) that tokens/s should not count: call before and after. */
void xlm_report_pause(xlm_report *report);
void xlm_report_resume(xlm_report *report);

#endif
