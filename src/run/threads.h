/* xlm-mpi: threads of a run, and the cores there are for them. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_RUN_THREADS_H
#define XLM_RUN_THREADS_H

#include "comm/comm.h"
#include "gemm/hardware.h"

/* What threads of ranks have to wait for. */
typedef enum xlm_threads_trouble {
    XLM_THREADS_FREE,     /* nothing */
    XLM_THREADS_BOUND,    /* a rank has more than processors it may run on */
    XLM_THREADS_TOO_MANY, /* a node's ranks have more than processors */
    XLM_THREADS_OTHERS    /* other processes want processors that they run on */
} xlm_threads_trouble;
/* Collective. threads, own_processors: of this rank; node_processors: of all ranks of its node together. others: as
 * xlm_crowding_others; asked on one rank of each node, and only if a rank has several threads and there is no other trouble.
 * [out] number: of threads too many, or of processors that others want, on the node where that is most; the same on all ranks. */
xlm_threads_trouble xlm_threads_find_trouble(const xlm_comm *comm, int threads, int own_processors, int node_processors,
                                             int (*others)(int own, int node_processors), int64_t *number);

/* Collective, after xlm_hardware_start. Warn, with the remedy, if the threads of a node's ranks need more cores than other
 * processes leave. If this program chose the number of threads on every rank, and products are faster with one thread per rank,
 * use one from now on; this does not change any bits. */
void xlm_threads_settle(const xlm_comm *comm, xlm_hardware *hardware);

#endif
