/* xlm-mpi: the next step laid open in a file, dropout off. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_RUN_DUMP_STEP_H
#define XLM_RUN_DUMP_STEP_H

#include "train/workspace.h"

/* --dump-step: the step that follows `step` updates, dropout off, computed by rank 0 alone, into the file `path` (run/dump.h).
 * Collective. */
bool xlm_dump_step(const xlm_job *job, const xlm_workspace *workspace, int64_t step, const char *path, GError **error);

#endif
