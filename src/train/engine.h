/* xlm-mpi: the engine of a training run: everything that computes a step. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * It has the model and its parameters, the streams, the host of the objectives, gradients, their reduce-scatter and the sharded
 * optimiser. It knows neither the progress of a run nor checkpoints or logs (run/run.h):
 *
 *   xlm_engine_open -> xlm_memory_check(xlm_engine_size) -> xlm_engine_allocate -> xlm_engine_step ... -> xlm_engine_close
 *
 * train/micro_batches.h says what a step computes and in which order it adds. */
#ifndef XLM_TRAIN_ENGINE_H
#define XLM_TRAIN_ENGINE_H

#include "checkpoint/checkpoint.h"
#include "checkpoint/snapshot.h"
#include "comm/shards.h"
#include "tensor/profile.h"
#include "train/memory.h"
#include "train/workspace.h"

typedef struct xlm_engine xlm_engine;

/* Open streams, model and objectives of a job, and declare the parameters; nothing large is allocated yet. The arguments are
 * borrowed as long as the engine lives. Collective. */
xlm_engine *xlm_engine_open(const xlm_comm *comm, const xlm_job *job, const xlm_training_data *data, GError **error);
/* NULL is allowed. */
void xlm_engine_close(xlm_engine *engine);

/* For estimates; this and the next four may be called before xlm_engine_allocate. */
xlm_run_size xlm_engine_size(const xlm_engine *engine);
xlm_arithmetic xlm_engine_arithmetic(const xlm_engine *engine);
/* The job's, with the vocabulary's size and languages. */
const xlm_model_config *xlm_engine_model(const xlm_engine *engine);
/* Collective from the first step on, like the two that are for use between steps: they wait for parameters of other ranks. */
xlm_parameters *xlm_engine_parameters(xlm_engine *engine);
const xlm_host *xlm_engine_host(const xlm_engine *engine);

/* Allocate everything and draw the initial parameters. pass: estimated bytes of a pass (train/memory.h). profile: measure how
 * steps spend their time. */
void xlm_engine_allocate(xlm_engine *engine, uint64_t pass, bool profile);

/* Call it after the parameters have been set, by a checkpoint or otherwise, and before the first step, and once more after
 * xlm_engine_show_masters: with [train] exchange_parameters = bfloat16 they are rounded. */
void xlm_engine_keep_masters(xlm_engine *engine);
/* Collective. The parameters as checkpoints have them, before they were rounded. */
void xlm_engine_show_masters(xlm_engine *engine);
/* After xlm_engine_show_masters: are the parameters that the engine updates finite? EX_SOFTWARE with the name of one that is not.
 * Collective. */
bool xlm_engine_check_finite(const xlm_engine *engine, GError **error);
/* Call it after a run that does not resume has set the parameters: averages start as copies. */
void xlm_engine_begin_averages(xlm_engine *engine);

/* ---- steps ---- */

/* The results of one step; the same on all ranks. */
typedef struct xlm_step_report {
    double loss;             /* weighted sum of the objectives */
    double *objective_loss;  /* [objectives] global means; NAN for one that had no terms */
    int64_t *terms;          /* [xlm_host_means] */
    xlm_metric_sum *metric;  /* [xlm_host_metrics] of all micro-batches */
    int64_t tokens;          /* real tokens encoded, all ranks */
    double gradient_norm;    /* before clipping */
    double learning_rate;
    bool updated;            /* the step was computed; false: a rank was asked to stop before it began, and nothing else is set */
    bool stop;               /* a rank was asked to stop */
    bool infinite;           /* the step was refused, because loss or gradient are not finite, or too large */
} xlm_step_report;

/* Memory for a report of the engine's steps. */
xlm_step_report xlm_step_report_new(const xlm_engine *engine);
void xlm_step_report_clear(xlm_step_report *report);

/* Compute the update that follows `step` updates, or none if a rank was asked to stop before. snapshot: of the run's state, is
 * told when the state changes; NULL: none. Collective. Returns false on an error of reading (agreed on), or when loss or gradient
 * are not finite, or the gradient is too large for the optimiser: EX_SOFTWARE, with the parameters from before the step. */
bool xlm_engine_step(xlm_engine *engine, int64_t step, xlm_snapshot *snapshot, xlm_step_report *report, GError **error);
/* For measurements: the same, but every rank computes only this micro-batch. */
bool xlm_engine_sample_step(xlm_engine *engine, int64_t step, int64_t micro_batch, xlm_step_report *report, GError **error);

/* ---- between steps ---- */

/* For passes without an update. */
xlm_workspace xlm_engine_workspace(xlm_engine *engine);
/* The engine's part of the state that checkpoints read and write: model, parameters, moments, averages and their sharding. The
 * rest is 0. */
xlm_run_state xlm_engine_state(xlm_engine *engine);

/* ---- measurements ---- */

/* Rows of the profile in addition to those of the operators. */
#define XLM_PART_READ "read instances"
#define XLM_PART_AGREE "agree on the step"
#define XLM_PART_CLEAR "clear gradients"
#define XLM_PART_ADD "add micro-batches"
#define XLM_PART_REDUCE_SCATTER "reduce-scatter, overlapped"
#define XLM_PART_WAIT "reduce-scatter, waited for"
#define XLM_PART_NORM "gradient norm"
#define XLM_PART_UPDATE "update"
#define XLM_PART_ALL_GATHER "all-gather parameters"

/* For all steps since xlm_engine_allocate or xlm_profile_reset; NULL: not requested. */
xlm_profile *xlm_engine_profile(xlm_engine *engine);
/* For all steps. */
xlm_shards_report xlm_engine_reduce_scatter_report(const xlm_engine *engine);
xlm_shards_report xlm_engine_all_gather_report(const xlm_engine *engine);

#endif
