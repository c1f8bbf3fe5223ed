/* xlm-mpi: the directory of a run's checkpoints. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TRAIN_CHECKPOINT_FILES_H
#define XLM_TRAIN_CHECKPOINT_FILES_H

#include "comm/comm.h"

/* directory/checkpoint-<step>.h5; g_free. */
char *xlm_checkpoint_path(const char *directory, int64_t step);
/* Steps (int64_t) of the checkpoints in a directory, ascending; empty when there is no directory. g_array_unref. */
GArray *xlm_checkpoint_steps(const char *directory);
/* Collective. Let `latest` point at the checkpoint of `step`, and `best` at that of `best` (0: there is none), and remove the
 * oldest so that `keep` up to that step stay, and the best. */
bool xlm_checkpoint_point_latest(const xlm_comm *comm, const char *directory, int64_t step, int64_t best, int64_t keep,
                                 GError **error);
/* Collective. After a run has been resumed: let `best` point at the checkpoint of `best`; with 0, or when it is not there any
 * more, remove the link. *there: it points at one. */
bool xlm_checkpoint_point_best(const xlm_comm *comm, const char *directory, int64_t best, bool *there, GError **error);

#endif
