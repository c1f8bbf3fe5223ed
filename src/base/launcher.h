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
    pid_t daemon;     /* the ancestor of this process that is Open MPI's daemon; 0 if none was found */
    bool hidden;      /* there is a daemon, but it was not found: the rank is in a container of its own */
    bool in_front;    /* the daemon is mpiexec itself, whose standard error the user reads */
    bool waits;       /* odls_base_sigkill_timeout makes it wait longer than by default before each signal */
} xlm_launcher;

/* Looks at all ancestors of this process, because wrappers (a shell, numactl, valgrind) may be in between. */
xlm_launcher xlm_launcher_find(void);

/* Makes sure that MPICH's mpiexec ends with the exit code of this rank. One rank of each node calls it after a signal, just
 * before it ends. After MPICH 4.0 or earlier has passed on a signal, it takes the exit code to be 0 if it learns of the rank's
 * end only after the output of all ranks of the node was closed. So a child process keeps this rank's output open a little longer
 * than the rank lives. Under other launchers this does nothing. */
void xlm_launcher_secure_exit_code(void);

#endif
