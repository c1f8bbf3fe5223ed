/* xlm-mpi: the directory of a run's checkpoints. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_CHECKPOINT_CHECKPOINT_FILES_H
#define XLM_CHECKPOINT_CHECKPOINT_FILES_H

#include "checkpoint/run_progress.h"
#include "comm/comm.h"

/* Which checkpoints stay. */
typedef struct xlm_checkpoint_kept {
    int64_t newest;                /* the newest ones, this many */
    int64_t best;                  /* that of this step; 0: none */
    const xlm_best_score *members; /* [most_members] and those of these steps (checkpoint/checkpoint_mean.h); NULL with 0 */
    int64_t most_members;
} xlm_checkpoint_kept;

/* Collective. Let `latest` point at the checkpoint of `step`, and `best` at the best, and remove those up to that step that are
 * not to be kept. */
bool xlm_checkpoint_point_latest(const xlm_comm *comm, const char *directory, int64_t step, const xlm_checkpoint_kept *kept,
                                 GError **error);
/* Collective. After a run has been resumed: let `best` point at the checkpoint of `best`; with 0, or when it is not there any
 * more, remove the link. *there: it points at one. */
bool xlm_checkpoint_point_best(const xlm_comm *comm, const char *directory, int64_t best, bool *there, GError **error);

#endif
