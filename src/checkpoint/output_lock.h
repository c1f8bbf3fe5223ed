/* xlm-mpi: one run at a time in an output directory. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * DIRECTORY/lock names the run that writes there: program, host, process, when it was started, the batch system's job. It is
 * created under another name and linked into place, which is exclusive also on network file systems. Its modification time is
 * updated every half minute to show that the run is active. Another run finds the lock
 *   held      when that process is there on this host, or when it runs elsewhere and was active within five minutes;
 *   stale     when the process is gone (or its number was given to another one since), when it ran elsewhere and was not
 *             active for five minutes, or when Slurm no longer has its job: it is taken over, and the log says from whom;
 *   finishing when the run's ranks were killed but a process still writes its checkpoint (checkpoint/snapshot.h): it is waited for.
 * The other name is lock.HOST.PROCESS; one that a killed run left is removed by the run that takes the lock next, where a lock of the
 * same text and age would be stale.
 * All times are those of the file server's clock, because the clocks of hosts may differ. */
#ifndef XLM_CHECKPOINT_OUTPUT_LOCK_H
#define XLM_CHECKPOINT_OUTPUT_LOCK_H

#include <sys/types.h>

#include "comm/comm.h"

typedef struct xlm_output_lock xlm_output_lock;

/* Collective. finishes: this process only finishes the checkpoint of a stopped run, and others wait for it. Rank 0 takes the
 * lock; on other ranks the functions below do nothing. NULL with EX_CANTCREAT when another run holds the directory or the lock
 * cannot be made, read or replaced; with EX_TEMPFAIL when this run was asked to stop while it waited. */
xlm_output_lock *xlm_output_lock_take(const xlm_comm *comm, const char *directory, bool finishes, GError **error);
/* Remove the lock if it still is this run's. NULL is allowed. */
void xlm_output_lock_release(xlm_output_lock *lock);

/* Call it often: it renews the lock if the last renewal was half a minute ago. */
void xlm_output_lock_refresh(xlm_output_lock *lock);
/* Has another run taken the lock over, for example after this one was stopped for minutes? Then it must not write any more. */
bool xlm_output_lock_is_lost(xlm_output_lock *lock);
/* The process that finishes the run's checkpoint when this one is killed; 0: none. */
void xlm_output_lock_name_writer(xlm_output_lock *lock, pid_t writer);
/* DIRECTORY/lock. */
const char *xlm_output_lock_path(const xlm_output_lock *lock);

#endif
