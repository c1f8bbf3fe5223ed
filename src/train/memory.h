/* xlm-mpi: how much memory a run will need, and whether its node has it. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TRAIN_MEMORY_H
#define XLM_TRAIN_MEMORY_H

#include "comm/comm.h"
#include "train/cost.h"

/* Bytes that a rank needs: parameters, moments, gradients, and the largest pass (train/cost.h), of training, of an evaluation or of
 * a step dump. */
typedef struct xlm_memory_estimate {
    uint64_t parameters, packed, gradients, moments, averages, states, exchange, pass, total; /* packed: gemm/packed.h */
    uint64_t index;        /* of the instances of streams: counted in total, and already allocated */
    uint64_t resources;    /* files that objectives have requested and that were read before: counted in total, and already
                            * allocated */
    uint64_t results;      /* of validations: the same, but that they may not have been touched */
    uint64_t kept;         /* batches, labels and views of all micro-batches of a rank that are kept during a step */
    uint64_t other_pass;   /* a pass with the opposite [train] recompute; not in total; 0 if not requested */
    uint64_t node_needed, node_available; /* by all ranks of this node; still available on it, UINT64_MAX when
                                              the system does not say */
} xlm_memory_estimate;

/* The memory of one rank if there are `ranks`; does not fill in other_pass and the node. Not collective. EX_CONFIG when a batch
 * is too large; EX_UNAVAILABLE when states of objectives are too large to be copied here. */
bool xlm_memory_of_rank(const xlm_run_size *size, int ranks, xlm_memory_estimate *estimate, GError **error);
/* The same for the running ranks, with all members; the number of threads must be set (xlm_hardware_prepare). Collective;
 * EX_UNAVAILABLE when a node cannot hold its ranks. */
bool xlm_memory_check(const xlm_comm *comm, const xlm_run_size *size, xlm_memory_estimate *estimate, GError **error);

#endif
