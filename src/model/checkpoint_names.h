/* xlm-mpi: names of the checkpoints in a directory. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_MODEL_CHECKPOINT_NAMES_H
#define XLM_MODEL_CHECKPOINT_NAMES_H

#include <glib.h>
#include <stdint.h>

/* checkpoint-<step, 8 digits>.h5; g_free. */
char *xlm_checkpoint_name(int64_t step);
/* directory/checkpoint-<step>.h5; g_free. */
char *xlm_checkpoint_path(const char *directory, int64_t step);
/* The step of that name of a file; -1: it is not that of a checkpoint. */
int64_t xlm_checkpoint_step_of(const char *name);
/* Steps (int64_t) of the checkpoints in a directory, ascending; empty if it does not exist. g_array_unref. NULL with EX_NOINPUT or
 * EX_NOPERM if it cannot be listed: then nothing is known of what it has. */
GArray *xlm_checkpoint_steps(const char *directory, GError **error);

#endif
