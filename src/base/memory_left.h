/* xlm-mpi: the memory that a node still has. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_BASE_MEMORY_LEFT_H
#define XLM_BASE_MEMORY_LEFT_H

#include <stdint.h>

/* Bytes that processes may still take: of this node, and of the control group of this process (a Slurm step, a container); 0 when
 * the system does not say. */
uint64_t xlm_memory_left(void);

#endif
