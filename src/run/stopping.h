/* xlm-mpi: what a run does after it was asked to stop. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * SIGINT, SIGTERM and SIGUSR1 to any rank end the run after the current step, with a checkpoint (run/run.c). This module does
 * what cannot wait for the end of the step: a thread receives signals immediately (base/signals.h), tells the user, and has a
 * snapshot of the state taken if the launcher will kill the ranks before the step ends (checkpoint/snapshot.h). The same thread
 * renews the lock of the output directory, which this module holds. */
#ifndef XLM_RUN_STOPPING_H
#define XLM_RUN_STOPPING_H

#include "checkpoint/output_lock.h"
#include "checkpoint/snapshot.h"

typedef struct xlm_stopping xlm_stopping;

/* Collective. Lock the output directory, which must exist, and start the thread. Call it after xlm_signals_watch(). finishes, and
 * NULL with EX_CANTCREAT or EX_TEMPFAIL: as xlm_output_lock_take(). */
xlm_stopping *xlm_stopping_open(const xlm_comm *comm, const char *directory, bool finishes, GError **error);
/* Unlock the directory. NULL is allowed. */
void xlm_stopping_close(xlm_stopping *stopping);

/* Collective. From now on the launcher may kill the rank at any time, and a run can resume from this state, whose pointers are
 * borrowed. validated: as in xlm_snapshot_open(); command: as in its setup. */
void xlm_stopping_protect(xlm_stopping *stopping, const xlm_run_state *state, int64_t validated, const char *command);
/* The snapshot that the main thread must keep informed; NULL: no snapshots are taken. stopping may be NULL. */
xlm_snapshot *xlm_stopping_snapshot(xlm_stopping *stopping);

/* Collective. EX_CANTCREAT when another run has taken the directory over, so that this run must not write there any more. */
bool xlm_stopping_may_write(xlm_stopping *stopping, GError **error);

#endif
