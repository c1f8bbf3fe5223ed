/* xlm-mpi: the numbers of a run in files: metrics.csv, and events for TensorBoard. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * metrics.csv in the output directory has the rows that run/report.h describes. With [train] tensorboard the same numbers are in
 * a file of events (run/events.h), with the names SPLIT/OBJECTIVE/QUANTITY and SPLIT/OBJECTIVE/QUANTITY/LANGUAGE; SPLIT/MEASURE and
 * SPLIT/MEASURE/LANGUAGE for measures. Languages "all" and "mean" are left out of names. */
#ifndef XLM_RUN_METRICS_FILE_H
#define XLM_RUN_METRICS_FILE_H

#include "base/error.h"

typedef struct xlm_metrics_file xlm_metrics_file;

/* The split of losses on held-out text. */
#define XLM_SPLIT_HELD_OUT "held_out"

/* Open both for a run that has made `step` updates. resumed: keep the rows of metrics.csv up to that step. output: the directory
 * of metrics.csv; events: that of events, NULL: there are none; both borrowed. EX_CANTCREAT;
 * EX_IOERR or EX_NOINPUT: rows that are to be kept cannot be read. */
xlm_metrics_file *xlm_metrics_file_open(const char *output, const char *events, bool resumed, int64_t step, GError **error);
/* Flush and close. NULL is allowed. */
void xlm_metrics_file_close(xlm_metrics_file *file);
/* Write what was recorded so far to the files. An error of writing (a full disk), or a file that was removed, is a warning,
 * once. */
void xlm_metrics_file_flush(xlm_metrics_file *file);

/* The whole of a training step. */
typedef struct xlm_step_numbers {
    double loss, learning_rate, gradient_norm, seconds;
    int64_t tokens;
} xlm_step_numbers;
void xlm_metrics_file_step(xlm_metrics_file *file, int64_t step, const xlm_step_numbers *numbers);
/* The losses of an objective; language "": none. perplexity NaN: the objective has no scores. */
void xlm_metrics_file_loss(xlm_metrics_file *file, int64_t step, const char *split, const char *objective, const char *language,
                           int64_t terms, double loss, double perplexity, double accuracy);
/* A metric of an objective; metric "": a measure, whose name is under objective. */
void xlm_metrics_file_metric(xlm_metrics_file *file, int64_t step, const char *split, const char *objective, const char *metric,
                             const char *language, int64_t count, double value);
/* The last step whose losses on held-out text metrics.csv has, among them those of rows that were kept; -1: none. */
int64_t xlm_metrics_file_evaluated(const xlm_metrics_file *file);

#endif
