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

/* Looked for among the ancestors of this process, so that wrappers (a shell, numactl, valgrind) may be between. */
xlm_launcher xlm_launcher_find(void);

/* By one rank of each node, just before it ends, after a signal: makes sure that MPICH's mpiexec ends with the rank's exit code.
 * MPICH 4.0 and earlier, once they have passed on a signal, count a rank as ended with 0 when they learn of its end only after
 * the output of all ranks of the node was closed. So a child process keeps this rank's output open a little longer than the rank
 * lives. Nothing happens under other launchers. */
void xlm_launcher_secure_exit_code(void);

#endif
