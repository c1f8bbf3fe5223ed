/* xlm-mpi: the directory of a run's checkpoints. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_CHECKPOINT_CHECKPOINT_FILES_H
#define XLM_CHECKPOINT_CHECKPOINT_FILES_H

#include "checkpoint/run_progress.h"
#include "comm/comm.h"

/* The checkpoints to keep. */
typedef struct xlm_checkpoint_kept {
    int64_t newest;                /* number of newest checkpoints */
    int64_t best;                  /* the checkpoint of this step; 0: none */
    const xlm_best_score *members; /* [max_members] checkpoints of these steps (checkpoint/checkpoint_mean.h); NULL with 0 */
    int64_t max_members;
} xlm_checkpoint_kept;

/* Collective. Let `latest` point at the checkpoint of `step`, and `best` at the best, and remove the others up to that step. */
bool xlm_checkpoint_point_latest(const xlm_comm *comm, const char *directory, int64_t step, const xlm_checkpoint_kept *kept,
                                 GError **error);
/* Collective. After resuming: let `best` point at the checkpoint of step `best`; with 0, or if that no longer exists, remove the
 * link. [out] there: the link points at a checkpoint. */
bool xlm_checkpoint_point_best(const xlm_comm *comm, const char *directory, int64_t best, bool *there, GError **error);

#endif
