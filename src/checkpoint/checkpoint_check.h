/* xlm-mpi: is a checkpoint whole, and is it of this job? SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the files that write and read checkpoints share. Nothing here is collective: one process has the file open. */
#ifndef XLM_CHECKPOINT_CHECKPOINT_CHECK_H
#define XLM_CHECKPOINT_CHECKPOINT_CHECK_H

#include "checkpoint/checkpoint.h"

/* The flat arrays of a run, as many as checkpoint_arrays: from CHECKPOINT_AVERAGES on those of averages. */
enum { CHECKPOINT_VALUES, CHECKPOINT_FIRST_MOMENT, CHECKPOINT_SECOND_MOMENT, CHECKPOINT_AVERAGES };
int checkpoint_arrays(const xlm_run_state *state);
/* The group that an array is in; g_free. */
char *checkpoint_group(const xlm_run_state *state, int array);
/* The file has this parameter in the array: averages are of the model and of their own objective. */
bool checkpoint_has(const xlm_run_state *state, int array, const xlm_parameter *p);

/* This rank's part of an array of moments or averages. */
float *checkpoint_own(const xlm_run_state *state, int array);

/* All of a file: format, that it fits the run, and every array, which is read into the scratch memory of `state`. *error is
 * set when the condition is not XLM_FILE_GOOD. */
xlm_file_condition checkpoint_check_file(const char *path, const xlm_run_state *state, GError **error);

/* values: of a saved state. */
bool checkpoint_read_state(const xlm_store *store, const xlm_saved_state *saved, void *values, GError **error);
/* One of the flat arrays: whole[size of the parameters]. Gaps between parameters are left as they are. */
bool checkpoint_read_whole(const xlm_store *store, const xlm_run_state *state, int array, float *whole, GError **error);

#endif
