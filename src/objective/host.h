/* xlm-mpi: the host of objectives. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * It has the objectives of a job, encodes what they ask for and calls them. Training, evaluation, step dumps, the check of
 * gradients, predictions of tasks and the estimate of memory all go through it; nothing else encodes for an objective.
 *
 *   xlm_host_open -> step ... -> xlm_host_close
 *   step: xlm_host_count of all inputs -> { xlm_tape_begin -> xlm_host_label } of all inputs
 *         -> { xlm_tape_begin -> xlm_host_run } of all inputs -> update -> xlm_host_finish_step
 *
 * It knows the model, packed batches and the tape; neither jobs nor checkpoints nor other ranks. */
#ifndef XLM_OBJECTIVE_HOST_H
#define XLM_OBJECTIVE_HOST_H

#include <glib.h>
#include <xlm/loss.h>

#include "base/arena.h"
#include "base/error.h"
#include "nn/model.h"
#include "objective/metrics.h"
#include "objective/resources.h"
#include "objective/state.h"

typedef struct xlm_host xlm_host;

/* One objective of a job. */
typedef struct xlm_objective_spec {
    const char *name;
    const xlm_loss_class *cls;
    void *state;    /* cls->state_size bytes, options filled in */
    int stream;     /* index, or -1 */
    double weight;
    int64_t begin;  /* first step it takes part in */
} xlm_objective_spec;

/* All borrowed, as long as the host lives; the arrays themselves are copied. */
typedef struct xlm_host_setup {
    const xlm_model *model;
    xlm_loss_setup about;
    xlm_resources *resources;
    int streams, objectives;
    const xlm_loss_stream *stream;
    const xlm_objective_spec *objective;
} xlm_host_setup;

/* Open every objective and declare its parameters. Warnings go to the log. EX_CONFIG when one refuses; the message begins with
 * its section. Not collective. */
xlm_host *xlm_host_open(const xlm_host_setup *setup, xlm_parameters *parameters, GError **error);
/* NULL is allowed. */
void xlm_host_close(xlm_host *host);

int xlm_host_objectives(const xlm_host *host);
/* As its class's functions get it. */
xlm_loss *xlm_host_loss(xlm_host *host, int k);
/* Means of all objectives together. Number k is the first mean of objective k; after these are the others
 * (xlm_declare_mean), one objective's after another's. Terms and totals have a number for each. */
int xlm_host_means(const xlm_host *host);
/* The loss of objective k, the weighted sum of its means, by a row (xlm_host_numbers) and totals; NAN when it has no terms. */
double xlm_host_mean_loss(const xlm_host *host, int k, const double *row, const int64_t *totals);
bool xlm_host_has_terms_of(const xlm_host *host, int k, const int64_t *terms);
/* Metrics of all objectives together, one objective's after another's; names (char *) of those of objective k. */
int xlm_host_metrics(const xlm_host *host);
const GPtrArray *xlm_host_metric_names(const xlm_host *host, int k);
/* Declared states: *n of them. */
const xlm_saved_state *xlm_host_states(const xlm_host *host, int *n);
/* Bytes of the numbers of them all. */
size_t xlm_host_states_bytes(const xlm_host *host);
/* These numbers, one state's after another's, into saved[bytes], or back. */
void xlm_host_copy_states(const xlm_host *host, void *saved, bool back);

/* ---- passes ---- */

/* What a pass is over: stream `stream` with its batch, or (stream -1, batch NULL) part `part` of the objectives that read
 * none. */
typedef struct xlm_pass_input {
    int stream;
    const xlm_batch *batch;
    int64_t part, parts;
    int64_t step;     /* updates made before */
    bool held_out;    /* draws are the same at every step */
    int only;         /* the one objective that takes part, or -1: all that have begun */
    /* Filled in by xlm_host_count and xlm_host_label. */
    int64_t *terms;   /* [means] 0 of objectives that take no part */
    void **labels;    /* [objectives] what label has made; NULL: nothing */
    struct xlm_shared_view *shared; /* views that were encoded for labels and are asked for again */
    xlm_arena *arena;
} xlm_pass_input;

/* Ask the objectives for their terms in this input, once; those that have labels are asked by xlm_host_label. arena: memory
 * for what lasts as long as the input. */
void xlm_host_count(xlm_host *host, xlm_pass_input *input, xlm_arena *arena);

/* Objectives with an average of weights, numbers 0, 1, … of averages. */
int xlm_host_averages(const xlm_host *host);
const xlm_objective_spec *xlm_host_average(const xlm_host *host, int average, double *momentum);

/* The average of objective k; -1: it has none. */
int xlm_host_average_of(const xlm_host *host, int k);

/* There are objectives with labels that need this average; -1: none. */
bool xlm_host_has_labels(const xlm_host *host, int average);
/* Make their labels of this input, on a tape that has begun without gradients. averaged: the flat array of the average's
 * weights, in the parameters' layout; NULL with -1. */
void xlm_host_label(xlm_host *host, xlm_tape *tape, xlm_pass_input *input, int average, xlm_real *averaged);

/* Some objective has terms. */
bool xlm_host_has_terms(const xlm_host *host, const xlm_pass_input *input);

/* A pass adds to a row of so many numbers; rows of several passes are added number by number. */
int xlm_host_numbers(const xlm_host *host);
/* In it, Σ mean · terms of mean i is number i; this is where the sums of its metrics begin, as many as it declared. */
xlm_metric_sum *xlm_host_metric_sums(const xlm_host *host, double *row, int k);

/* What else is wanted of a pass; zeros: nothing. */
typedef struct xlm_host_outputs {
    xlm_score *scores;  /* [batch->predicted], for the objectives to fill in */
    xlm_var ***hidden;  /* where to put H[0 … L] of the stream's batch, all rows */
    /* Called for every objective of the stream, with or without terms, when its loss is computed. */
    void (*visit)(void *data, xlm_loss *loss, xlm_tape *tape, const xlm_pass *pass);
    void *data;
} xlm_host_outputs;

/* The model that views are encoded with. */
const xlm_model *xlm_host_model(const xlm_host *host);

/* Encode the views and compute the losses, on a tape that has begun. Mean i over this pass, times its terms, is added
 * to row[i], the metrics to the row (xlm_host_numbers). totals: [means] terms over all passes of the step: then the gradient of
 * Σ_i weight_i · terms_i / totals_i · mean_i, of which the objective's weight is a factor, goes back through the tape; NULL: no
 * gradient. outputs: NULL, or what else. */
void xlm_host_run(xlm_host *host, xlm_tape *tape, const xlm_pass_input *input, const int64_t *totals, double *row,
                  const xlm_host_outputs *outputs);

/* The states of one view of a batch, for programs that look at a model without objectives: live weights, on a tape that has
 * begun. NULL when the view has no rows. */
xlm_var *xlm_host_encode_view(const xlm_model *model, xlm_tape *tape, const xlm_batch *batch, const xlm_view *view);

/* ---- around a step of training ---- */

/* From here to xlm_host_finish_step, or the next call, rows that objectives publish are kept. */
void xlm_host_begin_step(xlm_host *host);
/* What objective k has published on this rank, for all ranks to bring together in any order; *bytes may be 0. */
const void *xlm_host_published(const xlm_host *host, int k, size_t *bytes);
/* For estimates: n rows of zeros, as objective k, which publishes, might have published them in a step. g_byte_array_unref. */
GByteArray *xlm_host_published_zeros(const xlm_host *host, int k, int64_t n);
/* Objective k publishes. */
bool xlm_host_publishes(const xlm_host *host, int k);
/* After the update that follows `step` updates: hand objectives the rows of all ranks, and call their after_update. published:
 * [objectives] GByteArray of all ranks' bytes; NULL for those that do not publish. */
void xlm_host_finish_step(xlm_host *host, int64_t step, GByteArray *const *published);

/* Bytes of the files that objectives have asked for (xlm_loss_resource), in memory since they were opened. */
uint64_t xlm_host_resource_bytes(const xlm_host *host);

#endif
