/* xlm-mpi: the host of objectives. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * It holds the objectives of a job, encodes the views that they request, and calls them. Training, evaluation, step dumps,
 * gradient checks, predictions of tasks and memory estimates all use it; nothing else encodes for an objective.
 *
 *   xlm_host_open -> step ... -> xlm_host_close
 *   step: xlm_host_count of all inputs -> { xlm_tape_begin -> xlm_host_label } of all inputs
 *         -> { xlm_tape_begin -> xlm_host_run } of all inputs -> update -> xlm_host_finish_step
 *
 * It knows the model, packed batches and the tape, but neither jobs nor checkpoints nor other ranks. */
#ifndef XLM_OBJECTIVE_HOST_H
#define XLM_OBJECTIVE_HOST_H

#include <glib.h>
#include <xlm/loss.h>

#include "base/error.h"
#include "nn/model.h"
#include "objective/pass_input.h"
#include "objective/resources.h"
#include "objective/state.h"
#include "objective/sums.h"

typedef struct xlm_host xlm_host;

/* Everything is borrowed as long as the host lives, except the two arrays, which are copied. */
typedef struct xlm_host_setup {
    const xlm_model *model;
    xlm_loss_setup about;
    xlm_resources *resources;
    int streams, objectives;
    const xlm_loss_stream *stream;       /* [streams] */
    const xlm_objective_spec *objective; /* [objectives] */
} xlm_host_setup;

/* EX_CONFIG if the class lacks what every class has, or has functions that exclude each other. */
bool xlm_host_check_class(const xlm_loss_class *cls, GError **error);

/* Open every objective and declare its parameters. Warnings go to the log. EX_CONFIG if an objective refuses; the message begins
 * with its section. Not collective. */
xlm_host *xlm_host_open(const xlm_host_setup *setup, xlm_parameters *parameters, GError **error);
/* NULL is allowed. */
void xlm_host_close(xlm_host *host);

int xlm_host_objectives(const xlm_host *host);
/* Does an objective view the decoder? */
bool xlm_host_uses_decoder(const xlm_host *host);
/* The form, "xlm" or "bert", of the first stream whose pairs the encoder reads as one text for some objective; NULL: there is none. */
const char *xlm_host_pair_form(const xlm_host *host);
/* Does objective k view what noise and masking make of its stream, the corrupted text or rows that they choose? */
bool xlm_host_views_corruption(const xlm_host *host, int k);
/* Does it view only predicted rows, and rows near or linked to them, so that it has no terms where nothing is predicted? */
bool xlm_host_views_predicted(const xlm_host *host, int k);
/* The objective as the functions of its class get it. */
xlm_loss *xlm_host_loss(xlm_host *host, int k);
/* Number of means of all objectives together. Mean k is the first mean of objective k; the others (xlm_declare_mean) follow,
 * objective by objective. Terms and totals have one number for each. */
int xlm_host_means(const xlm_host *host);
/* The loss of objective k, the weighted sum of its means, from sums over passes and their terms; NAN if it has no terms.
 * totals: [xlm_host_means] */
double xlm_host_mean_loss(const xlm_host *host, int k, const xlm_sums *sums, const int64_t *totals);
/* The terms of all means of objective k together, and whether there are any. terms: [xlm_host_means] */
int64_t xlm_host_terms_of(const xlm_host *host, int k, const int64_t *terms);
bool xlm_host_has_terms_of(const xlm_host *host, int k, const int64_t *terms);
/* Number of metrics of all objectives together. */
int xlm_host_metrics(const xlm_host *host);
/* Names (char *) of the metrics of objective k, in the order of their declaration. */
const GPtrArray *xlm_host_metric_names(const xlm_host *host, int k);
/* Can held-out text have metric i of objective k? */
bool xlm_host_metric_is_held_out(const xlm_host *host, int k, int i);
/* The declared states of all objectives, *n of them; owned by the host. */
const xlm_saved_state *xlm_host_states(const xlm_host *host, int *n);
/* Bytes of the values of all states. */
size_t xlm_host_states_bytes(const xlm_host *host);
/* Copy the values of all states to saved[xlm_host_states_bytes], or with `back` from there. */
void xlm_host_copy_states(const xlm_host *host, void *saved, bool back);

/* After a call with true, and until one with false, every objective that takes part in any step of the run takes part in every
 * step: for estimates of passes with all objectives. */
void xlm_host_estimate(xlm_host *host, bool estimating);
/* Does objective k take part in a step? */
bool xlm_host_takes_part(const xlm_host *host, int k, int64_t step);
/* The objective that declared a parameter of that name; -1: it is the model's. */
int xlm_host_objective_of(const xlm_host *host, const char *parameter);

/* ---- passes ---- */

/* Count the terms of the objectives in this input; xlm_host_label does this for those with labels. To be called once per input,
 * before anything else. arena: provides memory that lasts as long as the input. */
void xlm_host_count(xlm_host *host, xlm_pass_input *input, xlm_arena *arena);

/* Number of averages, which are numbered 0, 1, … in the order of their objectives. */
int xlm_host_averages(const xlm_host *host);
/* The objective of an average. [out] momentum: of the average. */
const xlm_objective_spec *xlm_host_average(const xlm_host *host, int average, double *momentum);

/* The number of the average of objective k; -1: it has none. */
int xlm_host_average_of(const xlm_host *host, int k);

/* Are there objectives with labels that need this average (-1: no average)? */
bool xlm_host_has_labels(const xlm_host *host, int average);
/* Compute the labels of these objectives for this input, on a tape that has begun without gradients. averaged: the weights of the
 * average, a flat array in the layout of the parameters; NULL if average is -1. */
void xlm_host_label(xlm_host *host, xlm_tape *tape, xlm_pass_input *input, int average, xlm_real *averaged);

/* Does any objective have terms? */
bool xlm_host_has_terms(const xlm_host *host, const xlm_pass_input *input);

/* New sums, all 0, for passes of this host. xlm_sums_free. */
xlm_sums xlm_host_sums_new(const xlm_host *host);
/* The sums of the metrics that objective k declared. */
xlm_metric_sum *xlm_host_metric_sums(const xlm_host *host, const xlm_sums *sums, int k);

/* Additional outputs of a pass; what is NULL is not wanted. */
typedef struct xlm_host_outputs {
    xlm_score *scores;  /* [batch->predicted], for the objectives to fill in */
    xlm_var ***hidden;  /* receives H[0 … L] of the stream's batch, all rows */
    /* Called for every objective of the stream, with or without terms, when its loss is computed. */
    void (*visit)(void *data, xlm_loss *loss, xlm_tape *tape, const xlm_pass *pass);
    void *data;
} xlm_host_outputs;

/* The model that encodes views. */
const xlm_model *xlm_host_model(const xlm_host *host);

/* Encode the views and compute the losses, on a tape that has begun. Mean i over this pass, times its terms, is added to
 * sums->mean[i], and the metrics to their sums. totals: [means] terms over all passes of the step; the backward pass then
 * computes the gradient of Σ_i weight_i · terms_i / totals_i · mean_i, where weight_i includes the objective's weight; NULL: no
 * gradient. outputs: additional outputs, or NULL. */
void xlm_host_run(xlm_host *host, xlm_tape *tape, const xlm_pass_input *input, const int64_t *totals, xlm_sums *sums,
                  const xlm_host_outputs *outputs);

/* ---- around a step of training ---- */

/* From this call to xlm_host_finish_step, or to the next call, keep the rows that objectives publish. */
void xlm_host_begin_step(xlm_host *host);
/* The rows that objective k has published on this rank, *bytes in all, maybe 0; owned by the host. The ranks may exchange them in
 * any order, since each row contains its instance. */
const void *xlm_host_published(const xlm_host *host, int k, size_t *bytes);
/* For estimates: n rows of zeros in place of those that objective k publishes in a step. g_byte_array_unref. */
GByteArray *xlm_host_published_zeros(const xlm_host *host, int k, int64_t n);
/* Does objective k publish rows? */
bool xlm_host_publishes(const xlm_host *host, int k);
/* After the update that follows `step` updates: pass the rows of all ranks to the objectives, and call their after_update.
 * published: [objectives] GByteArray of all ranks' bytes; NULL for those that do not publish. */
void xlm_host_finish_step(xlm_host *host, int64_t step, GByteArray *const *published);

/* Bytes of memory that the files take which objectives have requested (xlm_loss_resource). */
uint64_t xlm_host_resource_bytes(const xlm_host *host);

#endif
