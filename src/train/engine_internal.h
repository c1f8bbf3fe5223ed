/* xlm-mpi: code shared by opening an engine and computing its steps. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TRAIN_ENGINE_INTERNAL_H
#define XLM_TRAIN_ENGINE_INTERNAL_H

#include "train/arithmetic.h"
#include "train/engine.h"
#include "train/micro_batches.h"

struct xlm_engine {
    const xlm_comm *comm;
    const xlm_job *job;
    xlm_job_streams streams;
    char *translations;      /* xlm_job_translations */
    const xlm_training_data *data;
    xlm_model_config config;
    xlm_model_config used; /* the configuration that objectives see: without a head that none of them uses */
    xlm_parameters *parameters;
    xlm_model *model;
    xlm_resources *resources; /* files that objectives request */
    xlm_host *host;           /* of the job's objectives, in their order */
    xlm_arithmetic arithmetic;
    int64_t micro_batches;    /* G of this run: the job's, or more when there are more ranks */
    xlm_micro_batches *divided; /* the instances of step number `divided_step`, and of others like it */
    int64_t divided_step;

    /* from xlm_engine_allocate on */
    xlm_shards shards;        /* the buckets of the flat arrays that this rank updates; they begin after the frozen parameters */
    xlm_reduce_scatter *reduce_scatter;
    xlm_all_gather *all_gather; /* of the parameters after an update, until the next step's forward pass (engine_gathered) */
    xlm_optimiser *optimiser;
    xlm_averages *averages;   /* of parameters, for objectives that request them */
    xlm_tape *tape;
    xlm_arena *arena;         /* the batches of a step */
    int buffers;
    float **buffer;           /* [buffers] gradients, layout of the parameters; the step's sum ends in own buckets of buffer[0] */
    xlm_profile *profile;     /* NULL: not requested */
};

/* Wait for all parameters, if they are on their way. Before a rank waits for others in any other way, if it may have waited for
 * parameters since the update: the others may wait for what it has to send on. */
void engine_gathered(const xlm_engine *engine);

#endif
