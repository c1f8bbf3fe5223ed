/* xlm-mpi: threads of a run, and the cores there are for them. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_RUN_THREADS_H
#define XLM_RUN_THREADS_H

#include "comm/comm.h"
#include "gemm/hardware.h"

/* Collective, after xlm_hardware_start. Warn, with the remedy, if the threads of a node's ranks need more cores than other
 * processes leave. If this program chose the number of threads on every rank, and products are faster with one thread per rank,
 * use one from now on; this does not change any bits. */
void xlm_threads_settle(const xlm_comm *comm, xlm_hardware *hardware);

#endif
