/* xlm-mpi: what the passes of a run cost, before it begins. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * There is one description of a pass: its operators. Here they run on shapes (xlm_tape_new_of_shapes), over batches of the
 * largest size (stream/planned_batch.h), as training, evaluation, step dumps and validation run them: every objective labels and
 * computes its loss, and the backward pass goes back. So objectives are estimated that say nothing of their cost. What depends on
 * numbers, such as how many words a model aligns, is as if these were drawn at random. Declared states are afterwards what they
 * were before. Nothing here is collective. */
#ifndef XLM_TRAIN_COST_H
#define XLM_TRAIN_COST_H

#include "job/job_streams.h"
#include "objective/host.h"
#include "stream/planned_batch.h"
#include "tensor/parameters.h"
#include "train/arithmetic.h"

/* What memory and operations depend on; all borrowed. */
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
    uint64_t pass; /* bytes of the tape: the most that a pass takes */
    uint64_t kept; /* bytes that last for a step, of one micro-batch: batches, what labels keep, views that losses share with them */
} xlm_run_cost;

/* Of a run whose steps are cut into so many micro-batches. EX_CONFIG when a batch is too large. */
bool xlm_run_cost_of(const xlm_run_size *size, int64_t micro_batches, bool recompute, xlm_run_cost *cost, GError **error);

/* Floating-point operations of the products of one step, forwards and backwards, when all instances are full and as many rows are
 * predicted as on average. */
bool xlm_step_flops(const xlm_run_size *size, double *flops, GError **error);

#endif
