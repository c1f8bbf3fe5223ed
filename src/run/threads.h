/* xlm-mpi: threads of a run, and the cores there are for them. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_RUN_THREADS_H
#define XLM_RUN_THREADS_H

#include "comm/comm.h"
#include "gemm/hardware.h"

/* Collective, after xlm_hardware_open. Warn, with what to do, where the threads of a node's ranks want more cores than there are
 * beside other processes. Where the number of threads was this program's choice on every rank, and products are faster with one a
 * rank, it is one from now on, which changes no bit. */
void xlm_threads_settle(const xlm_comm *comm, xlm_hardware *hardware);

#endif
