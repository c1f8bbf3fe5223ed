/* xlm-mpi: the processors that a process may run on. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A processor is what the system schedules threads on: a hardware thread. A core may have several of them. */
#ifndef XLM_GEMM_PROCESSORS_H
#define XLM_GEMM_PROCESSORS_H

#include <stdint.h>
#include <sys/types.h>

typedef struct xlm_processors {
    int count, cores; /* processors that are threads of one core are one core */
} xlm_processors;

/* The processors of this process. With OMP_PROC_BIND the OpenMP library binds the calling thread to one of its places, so this
 * counts the processors of all places. */
xlm_processors xlm_processors_own(void);
/* The processors of another process; none if the system does not show them. */
xlm_processors xlm_processors_of(pid_t process);

/* A set of processors of one node, a bit each, which ranks can combine. */
enum { XLM_PROCESSORS_WORDS = 256 };
typedef struct xlm_processor_set {
    uint64_t bits[XLM_PROCESSORS_WORDS];
} xlm_processor_set;
/* Those of this process and of its parent: a launcher that binds ranks to some of its processors has all of them. */
void xlm_processors_with_parent(xlm_processor_set *set);
int xlm_processors_in(const xlm_processor_set *set);

#endif
