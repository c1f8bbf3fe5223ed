/* xlm-mpi: writing the next step with all its numbers to a file, without dropout. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TRAIN_DUMP_STEP_H
#define XLM_TRAIN_DUMP_STEP_H

#include "train/workspace.h"

/* --dump-step: the step that follows `step` updates, without dropout, computed by rank 0 alone, to the file `path`
 * (train/dump.h). Collective. */
bool xlm_dump_step(const xlm_job *job, const xlm_workspace *workspace, int64_t step, const char *path, GError **error);

/* Logits of the first predicted rows, on the tape of the pass with these states of all layers. NULL if there are none. */
const xlm_var *xlm_dump_logits(const xlm_host *host, xlm_tape *tape, const xlm_batch *batch, xlm_var **hidden);

#endif
