/* xlm-mpi: the mean of several checkpoints of a run. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A run with a validation (run/validation.h) may end with the uniform mean of the parameters of several validated checkpoints:
 * the last ones (Vaswani et al. 2017, section 6.1), or those with the highest scores (as in "Model soups", Wortsman et al. 2022, but of
 * one run). The members are updated after each validation and saved in every checkpoint as /task/averaged; their checkpoints are
 * not removed. */
#ifndef XLM_CHECKPOINT_CHECKPOINT_MEAN_H
#define XLM_CHECKPOINT_CHECKPOINT_MEAN_H

#include "checkpoint/checkpoint.h"

enum { XLM_CHECKPOINT_MEAN_MAX = 100 };

/* A member is the score and the step of a checkpoint. members[max_members] are in the order of steps, with free places (step 0)
 * last. */

/* The number of members. */
int64_t xlm_checkpoint_mean_members(const xlm_best_score *members, int64_t max_members);
/* Add a checkpoint that was validated, of a later step than all before. If there is no free place, one is dropped, perhaps the
 * new one: the oldest, or, by_score, the one with the lowest score (of several, the newest). */
void xlm_checkpoint_mean_add(xlm_best_score *members, int64_t max_members, bool by_score, xlm_best_score validated);

/* Collective. Set the parameters to the mean of those in the members' checkpoints in a directory: the sum in double precision in
 * the order of the steps, divided by their number. Missing checkpoints are left out with a warning. [out] averaged: their number;
 * if 0, the parameters do not change. After an error the parameters are undefined. Errors of reading. */
bool xlm_checkpoint_mean(const xlm_comm *comm, const char *directory, const xlm_best_score *members, int64_t max_members,
                         xlm_parameters *parameters, int64_t *averaged, GError **error);

#endif
