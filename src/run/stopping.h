/* xlm-mpi: what a run does from the moment it is asked to stop. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * SIGINT, SIGTERM and SIGUSR1 to any rank end the run after the step under way, with a checkpoint (run/run.c). Here is what
 * cannot wait for the end of the step: a thread that hears signals at once (base/signals.h), so that the user reads in the same
 * moment that the signal has come, and so that a snapshot of the state is taken where the launcher will kill the ranks before
 * the step is done (checkpoint/snapshot.h). The same thread gives the signs of life of the output directory's lock, which is held
 * here. */
#ifndef XLM_RUN_STOPPING_H
#define XLM_RUN_STOPPING_H

#include "checkpoint/output_lock.h"
#include "checkpoint/snapshot.h"

typedef struct xlm_stopping xlm_stopping;

/* Collective. Lock the output directory, which exists, and start the thread; after xlm_signals_watch(). finishes: as
 * xlm_output_lock_take(). NULL with EX_CANTCREAT or
 * EX_TEMPFAIL as xlm_output_lock_take(). */
xlm_stopping *xlm_stopping_open(const xlm_comm *comm, const char *directory, bool finishes, GError **error);
/* Give the directory free. NULL is allowed. */
void xlm_stopping_close(xlm_stopping *stopping);

/* Collective. From now on the rank may be killed at any time by its launcher: the state, whose pointers are borrowed, is what a
 * run resumes from. validated: as in xlm_snapshot_open(). */
void xlm_stopping_protect(xlm_stopping *stopping, const xlm_run_state *state, int64_t validated);
/* The snapshot that the main thread has to keep informed; NULL: none is ever taken. stopping may be NULL. */
xlm_snapshot *xlm_stopping_snapshot(xlm_stopping *stopping);

/* Collective. EX_CANTCREAT when another run has taken the directory over, so that nothing may be written there any more. */
bool xlm_stopping_may_write(xlm_stopping *stopping, GError **error);

#endif
