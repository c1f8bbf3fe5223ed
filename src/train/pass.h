/* xlm-mpi: one forward pass, of a stream's batch or of no stream, and its losses. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TRAIN_PASS_H
#define XLM_TRAIN_PASS_H

#include "train/trainer.h"

/* What a pass is over: stream `stream` with its batch, or (stream -1, batch NULL) part `part` of the objectives that read
 * none. */
typedef struct xlm_pass_input {
    int stream;
    const xlm_batch *batch;
    int64_t part, parts;
    int only; /* the one objective looked at, or -1 for all */
} xlm_pass_input;

/* Objective k takes part in a pass over that stream at this step. */
bool xlm_pass_has(const xlm_trainer *trainer, const xlm_pass_input *input, int k);
/* The objective's terms in the pass; 0 when it takes no part. */
int64_t xlm_pass_count(xlm_trainer *trainer, const xlm_pass_input *input, int k);

/* What a pass adds to: a row of numbers. Rows of several passes are added number by number. */
int xlm_pass_numbers(const xlm_trainer *trainer);
/* In it, Σ mean · terms of objective k is number k; this is where the sums of its metrics begin, as many as it declared. */
xlm_metric_sum *xlm_pass_metrics(const xlm_trainer *trainer, double *row, int k);

/* Encode and compute losses on trainer->tape, which must have begun. totals[objectives]: terms over all passes of the step.
 * Objective k's mean over this pass, times its terms, is added to row[k], its metrics to the row; when `backward`, the gradient
 * of Σ_k weight_k · terms_k / totals_k · mean_k goes back through the tape. scores: [batch->masked] or NULL. hidden: NULL, or set
 * to H[0 … L]. */
void xlm_pass_run(xlm_trainer *trainer, const xlm_pass_input *input, const int64_t *totals, bool backward,
                  double *row, xlm_score *scores, xlm_var ***hidden);

#endif
