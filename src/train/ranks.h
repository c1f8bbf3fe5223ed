/* xlm-mpi: what all ranks of a program must do alike before they compute. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TRAIN_RANKS_H
#define XLM_TRAIN_RANKS_H

#include "comm/comm.h"
#include "tensor/hardware.h"

/* Collective. xlm_hardware_open with the same kernels of BLIS on all ranks. threads: of each, 0: its cores. */
void xlm_ranks_open_hardware(const xlm_comm *comm, int threads, xlm_hardware *hardware);

#endif
