/* xlm-mpi: do all ranks round alike? SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_RUN_RANK_KERNELS_H
#define XLM_RUN_RANK_KERNELS_H

#include "comm/comm.h"
#include "gemm/hardware.h"

/* Collective, when the hardware has been opened. Each rank chooses its kernels and BLIS's by its own processor, and oneDNN chooses
 * its own, which matter if `packs`: products in that precision are of packed matrices, on all ranks. Where kernels are not the
 * same, results depend, by rounding, on which ranks are on which nodes: warn. */
void xlm_rank_kernels_compare(const xlm_comm *comm, const xlm_hardware *hardware, bool packs, xlm_precision precision);

#endif
