/* xlm-mpi: what the system knows of a process. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_BASE_PROCESS_H
#define XLM_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct xlm_process {
    char name[17];     /* of the program, its first 15 bytes */
    pid_t parent, group;
    unsigned terminal; /* device number of its terminal; 0: none */
    pid_t foreground;  /* the foreground process group of that terminal; -1: none */
    /* Clock ticks from the start of the system to that of the process: distinguishes processes that had the same number one after
     * another. */
    uint64_t started;
} xlm_process;

/* Like fork(), but does not run the handlers of other libraries (pthread_atfork), which may wait for locks that threads of the
 * parent hold. The child may only call what is allowed in a signal handler. */
pid_t xlm_process_fork(void);
/* Close all file descriptors from `first` on. Allowed in such a child. */
void xlm_process_close_files(int first);

/* Returns false if there is no such process on this system, or if it has ended and only waits for its parent. */
bool xlm_process_look_up(pid_t process, xlm_process *found);

#endif
