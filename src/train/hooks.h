/* xlm-mpi: the hooks of objectives around a step that need communication. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TRAIN_HOOKS_H
#define XLM_TRAIN_HOOKS_H

#include "train/workspace.h"

/* Compute labels of those of input[n] that have been counted. training: dropout is on. seed, step: of the draws. Overwrites the
 * workspace's gradient if there are averages, and is collective then. */
void xlm_make_labels(const xlm_workspace *workspace, bool training, uint64_t seed, int64_t step, xlm_pass_input *input,
                     int64_t n);

/* Collective. Gathers the rows that objectives have published in this step on all ranks, [objectives], for xlm_host_finish_step.
 * alike: all ranks have computed the same micro-batch, so its rows are taken only once. */
GByteArray **xlm_gather_published(const xlm_comm *comm, xlm_host *host, bool alike);
void xlm_free_published(const xlm_host *host, GByteArray **published);

/* The sums of n passes, each made by one rank and 0 on the others, become known to all ranks; and whether any rank has set a flag.
 * Collective, one message. flags: [count] */
void xlm_exchange_sums(const xlm_comm *comm, xlm_sums *sums, int64_t n, bool *flags, int count);

#endif
