/* xlm-mpi: the process that started this rank. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a rank has to do when it is asked to stop depends on who asks. Open MPI's daemons (mpiexec itself on its own node, orted
 * on the others; prterun and prted since version 5) end a job on Ctrl-C, SIGTERM or the loss of a rank by sending each rank
 * SIGCONT, SIGTERM a second later, and SIGKILL another second later; odls_base_sigkill_timeout is that second. MPICH's and
 * Slurm's launchers pass the signal on and leave the ranks time. */
#ifndef XLM_BASE_LAUNCHER_H
#define XLM_BASE_LAUNCHER_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct xlm_launcher {
    pid_t daemon;     /* Open MPI's daemon above this process, 0 when there is none in sight */
    bool hidden;      /* there is one, but not in sight: the rank is in a container of its own */
    bool in_front;    /* it is mpiexec itself, whose standard error the user reads */
    bool waits;       /* odls_base_sigkill_timeout makes it wait longer than by default before each signal */
} xlm_launcher;

/* Looked for among the ancestors of this process, so that wrappers (a shell, numactl, valgrind) may stand between. */
xlm_launcher xlm_launcher_find(void);

#endif
