/* xlm-mpi: a training run. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A step has a fixed list of instances of each stream (stream/stream.h), cut into G micro-batches, a power of two: micro-batch g
 * has instances [g·B/G, (g+1)·B/G) of every stream, one forward and backward pass each, and goes to rank g mod R.
 * A rank adds its micro-batches' gradients pairwise (micro-batch j of its K with j + K/2 first, then K/4, ...), ranks then add theirs
 * likewise (comm/shards.h). For R and G powers of two, R <= G, the tree of additions is one and the same, so
 * the run's bits do not depend on R. With [train] reproducible = false a rank's micro-batches all add into one array, and MPI adds the
 * ranks' in the order it likes. Micro-batches are also what gradient accumulation is elsewhere: more micro-batches, less memory. */
#ifndef XLM_TRAIN_TRAINER_H
#define XLM_TRAIN_TRAINER_H

#include "comm/shards.h"
#include "objective/host.h"
#include "tensor/hardware.h"
#include "train/averages.h"
#include "train/checkpoint.h"
#include "train/job.h"
#include "train/data.h"
#include "train/stopping.h"

typedef struct xlm_trainer {
    const xlm_comm *comm;
    const xlm_job *job;
    const xlm_training_data *data;
    xlm_stream **stream;    /* [job->streams] on the training split */
    xlm_stream **held_out;  /* [job->streams], NULL where the held-out split has nothing for the stream */
    xlm_model_config config;
    xlm_parameters *parameters;
    xlm_model *model;
    xlm_resources *resources; /* files that objectives ask for */
    xlm_host *host;           /* of the job's objectives, in their order */
    GArray *kept;           /* xlm_saved_state */
    xlm_start_record start; /* where the first parameters came from */
    int64_t micro_batches;       /* G of this run: the job's, or more when there are more ranks */
    xlm_hardware hardware;

    /* from xlm_trainer_allocate on */
    xlm_shards shards;      /* which pieces of the flat arrays this rank updates */
    xlm_reduce_scatter *reduce_scatter;
    xlm_optimiser *optimiser;
    xlm_averages *averages; /* of parameters, which objectives ask for */
    xlm_tape *tape;
    xlm_arena *arena;       /* the batches of a step */
    int buffers;
    float **buffer;         /* [buffers] gradients, layout of the parameters; the step's sum ends in own pieces of buffer[0] */
    int64_t step;           /* updates made */
    xlm_stopping *stopping; /* who may interrupt the run, and the lock of its directory; NULL: nothing is trained */
    int64_t validated;         /* the last step after which the model was validated (train/run.h); 0: none */
    int64_t saved;          /* step of the newest checkpoint, written or resumed from; 0: none */
    double best[2];         /* with a judge (train/run.h): the highest score so far, and the step that had it; 0: none */
    bool sample;            /* for measurements: every rank computes micro-batch `sampled` and no other */
    int64_t sampled;
    xlm_profile *profile;   /* NULL: not asked for */
} xlm_trainer;

/* Rows of a step's profile beside those of the operators. */
#define XLM_PART_READ "read instances"
#define XLM_PART_AGREE "agree on the step"
#define XLM_PART_CLEAR "clear gradients"
#define XLM_PART_ADD "add micro-batches"
#define XLM_PART_REDUCE_SCATTER "reduce-scatter, overlapped"
#define XLM_PART_WAIT "reduce-scatter, waited for"
#define XLM_PART_NORM "gradient norm"
#define XLM_PART_UPDATE "update"
#define XLM_PART_ALL_GATHER "all-gather parameters"

/* What one step did; the same on all ranks. */
typedef struct xlm_step_report {
    double loss;             /* weighted sum of the objectives */
    double *objective_loss;  /* [objectives] global means; NAN for one that had no terms */
    int64_t *terms;          /* [objectives] */
    xlm_metric_sum *metric;  /* [xlm_host_metrics] of all micro-batches */
    int64_t tokens;          /* real tokens encoded, all ranks */
    double gradient_norm;    /* before clipping */
    double learning_rate;
    bool updated;            /* the step was made; false: a rank had been asked to stop before it began, nothing else is set */
    bool stop;               /* a rank was asked to stop */
} xlm_step_report;

/* Open streams, plugins and model of a job, declare the parameters; nothing large is allocated yet. Collective. */
xlm_trainer *xlm_trainer_open(const xlm_comm *comm, const xlm_job *job, const xlm_training_data *data, GError **error);
void xlm_trainer_close(xlm_trainer *trainer);

/* Bytes this rank will need: parameters, moments, gradients, and the largest pass. */
typedef struct xlm_memory_estimate {
    uint64_t parameters, gradients, moments, averages, states, reduce_scatter, pass, total;
    uint64_t other_pass; /* with [train] recompute the other way; not in total */
    uint64_t node_needed, node_available; /* all ranks of this node; what it can still give */
} xlm_memory_estimate;
/* The same for a job of that many ranks; of a node nothing is filled in. Not collective. */
xlm_memory_estimate xlm_trainer_memory(const xlm_trainer *trainer, int ranks);
/* Collective. EX_UNAVAILABLE when a node cannot hold its ranks. */
bool xlm_trainer_estimate(const xlm_trainer *trainer, xlm_memory_estimate *estimate, GError **error);

/* Floating-point operations of the products of one step, forward and backward, when all instances are full; those of objectives
 * that read no stream are not in it. Not collective. */
double xlm_trainer_step_flops(const xlm_trainer *trainer);

/* Micro-batches of a job on that many ranks: a power of two, at least one for each rank. */
int64_t xlm_job_micro_batches(const xlm_job *job, int ranks);
/* i < k with its bits in reverse order, when k is a power of two; else i. */
int64_t xlm_micro_batch_reversed(int64_t i, int64_t k);
/* Instances first … first + n of a batch are a micro-batch's. A batch is cut into as many slices as there are micro-batches, and micro-batch g
 * has slice xlm_micro_batch_reversed(g): a rank, which has micro-batches g mod R, has consecutive slices, so that instances are spread
 * evenly over ranks also when there are fewer than micro-batches. */
typedef struct xlm_micro_batch_slice {
    int64_t first, n;
} xlm_micro_batch_slice;
xlm_micro_batch_slice xlm_micro_batch_of_batch(int64_t batch, int64_t micro_batches, int64_t micro_batch);
/* Gradient arrays a rank keeps: adding up K micro-batches like a binary counter takes log2(K) + 1, in any order 1. */
int xlm_trainer_gradient_buffers(const xlm_train_config *config, int64_t micro_batches, int ranks);
/* Let checkpoints have trainer->best, and keep the one that had it. Before the first checkpoint is read or written. */
void xlm_trainer_keep_best(xlm_trainer *trainer);
/* Allocate everything and draw the initial parameters. */
void xlm_trainer_allocate(xlm_trainer *trainer);
/* Count from now on where the time of steps goes (trainer->profile). */
void xlm_trainer_profile(xlm_trainer *trainer);
/* The view of the run that checkpoints read and write. */
xlm_run_state xlm_trainer_state(xlm_trainer *trainer);

/* Collective where objectives have averages. Make the labels of input[n] that have been counted (train/hooks.h), with dropout when
 * `training`; what stood in buffer[0] is gone. */
void xlm_trainer_label(xlm_trainer *trainer, xlm_pass_input *input, int64_t n, bool training);

/* Memory for a report of the trainer's steps. */
xlm_step_report xlm_step_report_new(const xlm_trainer *trainer);
void xlm_step_report_clear(xlm_step_report *report);

/* One update, or none when a rank has been asked to stop before. Collective. Returns false on an error of reading (agreed on), or
 * when loss or gradient are not finite: EX_SOFTWARE, the parameters then are those before the step. */
bool xlm_trainer_step(xlm_trainer *trainer, xlm_step_report *report, GError **error);

/* --dump-step: the step that would come next, dropout off, by rank 0 alone, into `path` (train/dump.h). Collective. */
bool xlm_trainer_dump_step(xlm_trainer *trainer, const char *path, GError **error);

#endif
