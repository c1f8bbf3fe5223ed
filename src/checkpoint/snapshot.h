/* xlm-mpi: a run's state saved while its ranks are being killed. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Open MPI's daemons kill the ranks two seconds after Ctrl-C, too soon for a step of a real model and its checkpoint. Only a
 * longer time-out prevents this, and it delays both the killing and the terminal. So each rank forks as soon as the daemon begins
 * (base/launcher.h). The child has its own session, where the daemon's signals do not reach it, and the memory at the time of the
 * fork (copied on write). It writes the rank's part of the state to a file (checkpoint/rank_files.h) only by system calls,
 * because MPI, HDF5 and OpenMP do not work in it. When rank 0 is dead and all parts are there, rank 0's child becomes the same
 * program again, on its own and with --finish, which makes the ordinary checkpoint of the parts; DIRECTORY/stopped.log has what
 * it says. If it cannot, for lack of memory say, the parts stay, and the next start begins with that. A rank that lives on writes
 * its ordinary checkpoint and ends its child.
 *
 * All parts must have the same step. A rank owns parts of the parameters and of both moments; only its own update changes them.
 * So
 *   - between adding to the sum that all ranks must have before any of them updates, and the end of its own update, a rank takes
 *     no snapshot: one that is asked for waits (xlm_snapshot_hold, xlm_snapshot_release);
 *   - a rank that has a snapshot of the step says so in that sum, and all who learn of it take theirs before they update.
 * So all snapshots have the step before the update, or all have the step after it. Parts record their step, and are never mixed.
 *
 * Since Linux 5.12 memory that network adapters have pinned is copied at the fork; before, a child could find it changed. While a
 * snapshot may be taken, an adapter writes only those parameters that other ranks own, and no moments. Children get no copy of
 * gradients and activations (base/pages.h).
 *
 * Functions take NULL for a run that takes no snapshots, and are not collective. */
#ifndef XLM_CHECKPOINT_SNAPSHOT_H
#define XLM_CHECKPOINT_SNAPSHOT_H

#include "checkpoint/checkpoint.h"
#include "checkpoint/output_lock.h"

typedef struct xlm_snapshot xlm_snapshot;

typedef struct xlm_snapshot_setup {
    const xlm_run_state *state; /* borrowed, with everything that it points to */
    const char *directory;      /* of the output */
    xlm_output_lock *lock;
    uint64_t run;               /* the same number on all ranks, a different one for each start */
    int terminal;               /* file descriptor of the user's terminal; -1: none */
    const char *command;        /* in messages: what the user may start to go on, "the same command"; static */
} xlm_snapshot_setup;

/* The state must be complete and have the step state->step. Called by the main thread. */
xlm_snapshot *xlm_snapshot_open(const xlm_snapshot_setup *setup, int64_t validated);
/* Discards an existing snapshot. */
void xlm_snapshot_close(xlm_snapshot *snapshot);

/* ---- main thread ---- */

/* From now on the state may change. Returns true if there is a snapshot of this step, so that the other ranks must take
 * theirs. */
bool xlm_snapshot_hold(xlm_snapshot *snapshot);
/* Another rank has a snapshot of this step: take one too, although the state is held. */
void xlm_snapshot_join(xlm_snapshot *snapshot);
/* The state is that of `step`, and does not change for now. */
void xlm_snapshot_release(xlm_snapshot *snapshot, int64_t step);
/* The model was validated after this step, and the states that record this are set. */
void xlm_snapshot_validated(xlm_snapshot *snapshot, int64_t step);

/* ---- any thread ---- */

/* The rank may be killed at any moment: take one now, or as soon as the state is released. */
void xlm_snapshot_take(xlm_snapshot *snapshot);
/* The rank continues: end the child and remove its part. */
void xlm_snapshot_discard(xlm_snapshot *snapshot);
/* Seconds since the existing snapshot was taken; -1: there is none. */
double xlm_snapshot_age(xlm_snapshot *snapshot);

/* In the program that was started to finish a stopped run (--finish): a line to the terminal of its user, if there is one. */
void xlm_snapshot_print_on_terminal(const char *line);

#endif
