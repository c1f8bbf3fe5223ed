/* xlm-mpi: what the passes of a run cost, before it begins. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A pass is described only by its operators. Here they run on shapes (xlm_tape_new_of_shapes), over batches of the largest size
 * (stream/planned_batch.h), as in training, evaluation, step dumps and validation: every objective computes its labels and its
 * loss, followed by the backward pass. So objectives are estimated without describing their cost. Whatever depends on numbers,
 * such as how many words a model aligns, is estimated with random numbers. Declared states are restored. Nothing here is
 * collective. */
#ifndef XLM_TRAIN_COST_H
#define XLM_TRAIN_COST_H

#include "job/job_streams.h"
#include "objective/host.h"
#include "stream/planned_batch.h"
#include "tensor/parameters.h"
#include "train/arithmetic.h"

/* Everything that memory and operations depend on; borrowed. */
typedef struct xlm_run_size {
    const xlm_job *job; /* batches, and [train] */
    const xlm_job_streams *streams;
    xlm_host *host;
    xlm_parameters *parameters; /* declared; they need not be sealed */
    const xlm_vocabulary *vocabulary;
    xlm_planned_validation validation;
    bool step_dump;     /* passes are over whole batches, and keep every layer */
    xlm_arithmetic arithmetic;
} xlm_run_size;

typedef struct xlm_run_cost {
    uint64_t pass; /* bytes of the tape: the maximum over all passes */
    uint64_t kept; /* bytes of one micro-batch that are kept during a step: batches, memory that labels keep, views that losses
                    * share with them */
} xlm_run_cost;

/* The cost of a run whose steps have this many micro-batches. EX_CONFIG when a batch is too large. */
bool xlm_run_cost_of(const xlm_run_size *size, int64_t micro_batches, bool recompute, xlm_run_cost *cost, GError **error);

/* Floating-point operations of the products of one step, forward and backward, if all instances are full and the mean number of
 * rows is predicted. Of streams whose batch depends on the step, the mean over all steps. */
bool xlm_step_flops(const xlm_run_size *size, double *flops, GError **error);

#endif
