/* xlm-mpi: the processors that a process may run on. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A processor is what the system schedules threads on: a hardware thread. A core may have several of them. */
#ifndef XLM_GEMM_PROCESSORS_H
#define XLM_GEMM_PROCESSORS_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct xlm_processors xlm_processors;

/* The processors of this process. With OMP_PROC_BIND the OpenMP library binds the calling thread to one of its places, so this
 * returns the processors of all places. xlm_processors_free. */
xlm_processors *xlm_processors_own(void);
/* The processors of another process; empty if the system does not show them. xlm_processors_free. */
xlm_processors *xlm_processors_of(pid_t process);
void xlm_processors_free(xlm_processors *processors);

int xlm_processors_count(const xlm_processors *processors);
/* The number of cores: processors that are threads of one core count once. */
int xlm_processors_cores(const xlm_processors *processors);

#endif
