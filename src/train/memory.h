/* xlm-mpi: how much memory a run will need, and how many operations. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TRAIN_MEMORY_H
#define XLM_TRAIN_MEMORY_H

#include "comm/comm.h"
#include "job/job_streams.h"
#include "objective/host.h"
#include "train/arithmetic.h"

/* What memory and operations depend on; all borrowed. */
typedef struct xlm_run_size {
    const xlm_job *job; /* batches, and [train] */
    const xlm_job_streams *streams;
    const xlm_host *host;
    int64_t parameters; /* elements of the flat array */
    xlm_input_size validation; /* of the largest pass over examples between steps, on stream 0; zeros: none */
    bool step_dump;     /* passes are over whole batches, and keep every layer */
    xlm_arithmetic arithmetic;
} xlm_run_size;

/* Bytes that a rank needs: parameters, moments, gradients, and the largest pass, of training, of an evaluation or of a step dump.
 * What objectives compute is in it as far as they say (xlm_host_pass_memory). */
typedef struct xlm_memory_estimate {
    uint64_t parameters, packed, gradients, moments, averages, states, reduce_scatter, pass, total; /* packed: tensor/packed.h */
    uint64_t resources;    /* files that objectives have asked for, which were read before: in total, and taken already */
    uint64_t shared;       /* views that stay from the labels of a step to its losses, of all micro-batches of a rank */
    uint64_t other_pass; /* with [train] recompute the other way; not in total */
    uint64_t node_needed, node_available; /* all ranks of this node; what it can still give */
} xlm_memory_estimate;

/* Of a rank of so many; of the node nothing is filled in. Not collective. */
xlm_memory_estimate xlm_memory_of_rank(const xlm_run_size *size, int ranks);
/* The same for the ranks that there are, with their node. Collective; EX_UNAVAILABLE when a node cannot hold its ranks. */
bool xlm_memory_check(const xlm_comm *comm, const xlm_run_size *size, xlm_memory_estimate *estimate, GError **error);

/* Floating-point operations of the products of one step, forward and backward, when all instances are full; those of objectives
 * that read no stream are not in it. Not collective. */
double xlm_step_flops(const xlm_run_size *size);

#endif
