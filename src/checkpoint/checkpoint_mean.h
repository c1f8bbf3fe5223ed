/* xlm-mpi: the mean of several checkpoints of a run. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A run that is validated (run/run.h) may end with the uniform mean of the parameters of some of the checkpoints that were
 * validated: the last ones (Vaswani et al. 2017, section 6.1), or those with the highest scores (as in "Model soups", Wortsman et
 * al. 2022, of one run). Which ones is known from step to step, is in every checkpoint as /task/averaged, and these
 * checkpoints are not removed. */
#ifndef XLM_CHECKPOINT_CHECKPOINT_MEAN_H
#define XLM_CHECKPOINT_CHECKPOINT_MEAN_H

#include "comm/comm.h"
#include "base/error.h"
#include "tensor/parameters.h"
#include "checkpoint/run_progress.h"

enum { XLM_CHECKPOINT_MEAN_MOST = 100 };

/* A member is the score and the step of a checkpoint. members[most] are in the order of steps, free places (step 0) last. */

/* How many there are. */
int64_t xlm_checkpoint_mean_members(const xlm_best_score *members, int64_t most);
/* A checkpoint was validated, of a later step than any before. Without a free place one member goes, or the new one: the oldest;
 * by_score the one with the lowest score, of several the newest. */
void xlm_checkpoint_mean_add(xlm_best_score *members, int64_t most, bool by_score, xlm_best_score validated);

/* Collective. Set the parameters to the mean of those in the members' checkpoints in a directory, each the sum in double
 * precision in the order of the steps, divided by their number. *averaged: how many; checkpoints that are not there any more are
 * left out with a warning. With none the parameters stay as they are; they are not defined after an error. Errors of
 * reading. */
bool xlm_checkpoint_mean(const xlm_comm *comm, const char *directory, const xlm_best_score *members, int64_t most,
                         xlm_parameters *parameters, int64_t *averaged, GError **error);

#endif
