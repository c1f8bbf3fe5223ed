/* xlm-mpi: the process that outlives a killed rank. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internals of checkpoint/snapshot.h. After the fork the child may only call what is allowed in a signal handler, because other
 * threads may have held any lock at that moment. So everything that it needs is prepared before. */
#ifndef XLM_CHECKPOINT_SNAPSHOT_INTERNAL_H
#define XLM_CHECKPOINT_SNAPSHOT_INTERNAL_H

#include <stdnoreturn.h>

#include "checkpoint/rank_files.h"
#include "checkpoint/snapshot.h"

/* The variable with the number of the terminal's file descriptor, for the program that finishes the run. */
#define XLM_SNAPSHOT_TERMINAL "XLM_SNAPSHOT_TERMINAL"

typedef struct xlm_snapshot_child {
    const float *values, *masters, *moments[2]; /* whole; own elements, one share after the other; masters may be NULL */
    const xlm_saved_average *average; /* [header.arrays - CHECKPOINT_AVERAGES] */
    const char *states;
    xlm_rank_file_header header;
    bool one_node;
    int terminal;       /* -1: none */
    pid_t parent;
    char *directory, *log, *lock; /* paths */
    char *part, *writing;         /* of this rank, for header.step */
    char *program, **arguments, **environment; /* of the program that finishes the run */
    char *name;         /* in messages, like the next */
    const char *command;
} xlm_snapshot_child;

/* states: [header.states] bytes, borrowed like all in setup. */
void xlm_snapshot_child_plan(xlm_snapshot_child *child, const xlm_snapshot_setup *setup, const char *states);
void xlm_snapshot_child_unplan(xlm_snapshot_child *child);
/* Called just before the fork. */
void xlm_snapshot_child_prepare(xlm_snapshot_child *child, const xlm_rank_file_header *header);
/* The child from the fork to its end. */
noreturn void xlm_snapshot_child_run(const xlm_snapshot_child *child);
/* Called by the parent after the child has ended: remove its files. */
void xlm_snapshot_child_clean(const xlm_snapshot_child *child);

#endif
