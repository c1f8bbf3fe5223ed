/* xlm-mpi: how much memory a run will need, and whether its node has it. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TRAIN_MEMORY_H
#define XLM_TRAIN_MEMORY_H

#include "comm/comm.h"
#include "train/cost.h"

/* Bytes that a rank needs: parameters, moments, gradients, and the largest pass (train/cost.h), of training, of an evaluation or of
 * a step dump. */
typedef struct xlm_memory_estimate {
    uint64_t parameters, packed, gradients, moments, averages, states, reduce_scatter, pass, total; /* packed: gemm/packed.h */
    uint64_t resources;    /* files that objectives have asked for, which were read before: in total, and taken already */
    uint64_t kept;         /* batches, labels and views that stay for a step, of all micro-batches of a rank */
    uint64_t other_pass;   /* with [train] recompute the other way; not in total; 0 where it was not asked for */
    uint64_t node_needed, node_available; /* all ranks of this node; what it can still give */
} xlm_memory_estimate;

/* Of a rank of so many; other_pass and the node are not filled in. Not collective. EX_CONFIG when a batch is too large. */
bool xlm_memory_of_rank(const xlm_run_size *size, int ranks, xlm_memory_estimate *estimate, GError **error);
/* The same for the ranks that there are, with all of it; the number of threads must be set (xlm_hardware_prepare). Collective;
 * EX_UNAVAILABLE when a node cannot hold its ranks. */
bool xlm_memory_check(const xlm_comm *comm, const xlm_run_size *size, xlm_memory_estimate *estimate, GError **error);

#endif
