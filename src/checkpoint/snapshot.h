/* xlm-mpi: a run's state saved while its ranks are being killed. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Open MPI's daemons kill the ranks two seconds after Ctrl-C, and nothing but a longer time-out, which holds up the killing and
 * the terminal alike, keeps them from it: too little for a step of a real model and its checkpoint. So each rank forks as soon
 * as the daemon begins (base/launcher.h). The child, in a session of its own where the daemon's signals do not reach it, has the
 * memory as it was (copied when written to), and writes what the rank owns of it to a part (checkpoint/rank_files.h) with nothing but
 * system calls: neither MPI nor HDF5 nor OpenMP works in it. When rank 0 is dead and all parts are there, rank 0's child becomes
 * the same program again, on its own and with --finish, which makes the ordinary checkpoint of the parts; DIRECTORY/stopped.log
 * has what it says. If it cannot, for lack of memory say, the parts stay, and the next start begins with that. A rank that lives
 * on writes its ordinary checkpoint and ends its child.
 *
 * All parts have to be of one step. A rank owns parts of the parameters and of both moments; they change in its own update
 * alone. So
 *   - between adding to the sum that all ranks must have before any of them updates, and the end of its own update, a rank takes
 *     no snapshot: one that is asked for waits (xlm_snapshot_hold, xlm_snapshot_release);
 *   - a rank that has a snapshot of the step says so in that sum, and all who learn of it take theirs before they update.
 * Either all are of the step before the update, or all of the one after. Parts say of which step they are, and are never mixed.
 *
 * Memory that network adapters have pinned is copied at the fork since Linux 5.12; before, a child could find it changed. No
 * parameter or moment is written by an adapter while a snapshot may be taken, but for those parameters that other ranks own.
 * Gradients and activations are left out of the children (base/pages.h).
 *
 * Functions take NULL for a run that takes no snapshots, and are not collective. */
#ifndef XLM_CHECKPOINT_SNAPSHOT_H
#define XLM_CHECKPOINT_SNAPSHOT_H

#include "checkpoint/checkpoint.h"
#include "checkpoint/output_lock.h"

typedef struct xlm_snapshot xlm_snapshot;

typedef struct xlm_snapshot_setup {
    const xlm_run_state *state; /* borrowed, with what it points to */
    const char *directory;      /* of the output */
    xlm_output_lock *lock;
    uint64_t run;               /* the same number on all ranks, another one for each start */
    int terminal;               /* where the user reads, a file descriptor; -1: nowhere */
} xlm_snapshot_setup;

/* The state is whole, of state->step and validated. Main thread. */
xlm_snapshot *xlm_snapshot_open(const xlm_snapshot_setup *setup, int64_t validated);
/* Discards what there is. */
void xlm_snapshot_close(xlm_snapshot *snapshot);

/* ---- main thread ---- */

/* From now on the state may change. true: there is a snapshot of this step, and the other ranks must take theirs. */
bool xlm_snapshot_hold(xlm_snapshot *snapshot);
/* Another rank has one of this step: take one too, although the state is held. */
void xlm_snapshot_join(xlm_snapshot *snapshot);
/* The state is that of `step`, and stays. */
void xlm_snapshot_release(xlm_snapshot *snapshot, int64_t step);
/* The model was validated after this step, and the states that say so are set. */
void xlm_snapshot_validated(xlm_snapshot *snapshot, int64_t step);

/* ---- any thread ---- */

/* The rank may be killed at any moment: take one now, or as soon as the state is released. */
void xlm_snapshot_take(xlm_snapshot *snapshot);
/* It lives: end the child and remove its part. */
void xlm_snapshot_discard(xlm_snapshot *snapshot);
/* Seconds since the snapshot that there is was taken, or -1. */
double xlm_snapshot_age(xlm_snapshot *snapshot);

/* In the program that was started to finish a stopped run (--finish): a line to the terminal of its user, if there is one. */
void xlm_snapshot_print_on_terminal(const char *line);

#endif
