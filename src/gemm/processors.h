/* xlm-mpi: the processors that a process may run on. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A processor is what the system schedules on: a hardware thread, of which a core may have several. */
#ifndef XLM_GEMM_PROCESSORS_H
#define XLM_GEMM_PROCESSORS_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct xlm_processors xlm_processors;

/* Those of this process: with OMP_PROC_BIND the OpenMP library binds the calling thread to one of its places, so those of all
 * places count. xlm_processors_free. */
xlm_processors *xlm_processors_own(void);
/* Those of another process; none where the system does not show them. xlm_processors_free. */
xlm_processors *xlm_processors_of(pid_t process);
void xlm_processors_free(xlm_processors *processors);

int xlm_processors_count(const xlm_processors *processors);
/* Cores: processors that are threads of one core count once. */
int xlm_processors_cores(const xlm_processors *processors);

#endif
