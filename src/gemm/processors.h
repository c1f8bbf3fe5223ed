/* xlm-mpi: the processors that a process may run on. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A processor is what the system schedules threads on: a hardware thread. A core may have several of them. */
#ifndef XLM_GEMM_PROCESSORS_H
#define XLM_GEMM_PROCESSORS_H

#include <sys/types.h>

typedef struct xlm_processors {
    int count, cores; /* processors that are threads of one core are one core */
} xlm_processors;

/* The processors of this process. With OMP_PROC_BIND the OpenMP library binds the calling thread to one of its places, so this
 * counts the processors of all places. */
xlm_processors xlm_processors_own(void);
/* The processors of another process; none if the system does not show them. */
xlm_processors xlm_processors_of(pid_t process);

#endif
