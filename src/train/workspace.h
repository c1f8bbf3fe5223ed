/* xlm-mpi: the workspace of passes without an update. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TRAIN_WORKSPACE_H
#define XLM_TRAIN_WORKSPACE_H

#include "comm/comm.h"
#include "job/job_streams.h"
#include "objective/host.h"
#include "tensor/tape.h"
#include "train/averages.h"

/* Evaluation, step dumps, gradient checks and predictions of tasks run passes between the steps of an engine (train/engine.h),
 * which owns all of this. They may use tape, arena and gradient until its next step. */
typedef struct xlm_workspace {
    const xlm_comm *comm;
    const xlm_model_config *model;
    const xlm_job_streams *streams;
    const xlm_resources *resources; /* files that objectives have requested */
    xlm_parameters *parameters;
    xlm_host *host;
    const xlm_averages *averages; /* of parameters, for objectives that request them */
    xlm_tape *tape;
    xlm_arena *arena;
    float *gradient; /* [size of the parameters] */
} xlm_workspace;

#endif
