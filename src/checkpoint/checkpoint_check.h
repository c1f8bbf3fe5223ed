/* xlm-mpi: is a checkpoint valid, and does it belong to this job? SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Code shared by writing and reading checkpoints. One process has the file open; only functions that share something are
 * collective. */
#ifndef XLM_CHECKPOINT_CHECKPOINT_CHECK_H
#define XLM_CHECKPOINT_CHECKPOINT_CHECK_H

#include "checkpoint/checkpoint.h"

/* The flat arrays of a run, xlm_checkpoint_arrays of them; from CHECKPOINT_AVERAGES on, those of averages. */
enum { CHECKPOINT_VALUES, CHECKPOINT_FIRST_MOMENT, CHECKPOINT_SECOND_MOMENT, CHECKPOINT_AVERAGES };
int xlm_checkpoint_arrays(const xlm_run_state *state);
/* The group of an array; g_free. */
char *checkpoint_group(const xlm_run_state *state, int array);
/* Does the file have this parameter in the array? All are in the values; frozen ones have no moments, and are their averages.
 * Averages have the parameters of the model and of their own objective. */
bool checkpoint_has(const xlm_run_state *state, int array, const xlm_parameter *p);

/* The attribute of /optimiser with the number of parameters that were frozen; none without any. */
#define CHECKPOINT_FROZEN "frozen"

/* This rank's part of an array of moments or averages. */
float *checkpoint_own(const xlm_run_state *state, int array);

/* Where an array is read whole: the values of the parameters themselves, others in the scratch memory. */
float *checkpoint_whole(const xlm_run_state *state, int array);
/* Collective. Give all ranks an array that rank 0 has whole: the values, or their own part of others. from: of the values, only
 * elements from this one on. */
void checkpoint_share_array(const xlm_comm *comm, const xlm_run_state *state, int array, int64_t from);
/* Collective. Give all ranks the saved states of rank 0. */
void checkpoint_share_states(const xlm_comm *comm, const xlm_run_state *state);

/* Check a whole file: its format, whether it fits the run, and every array, by reading it into the scratch memory of `state`.
 * *error is set when the result is not XLM_FILE_GOOD. */
xlm_file_condition checkpoint_check_file(const char *path, const xlm_run_state *state, GError **error);

/* Read the values of a saved state. */
bool checkpoint_read_state(const xlm_store *store, const xlm_saved_state *saved, void *values, GError **error);
/* Read one of the flat arrays: whole[size of the parameters]. Gaps between parameters are not changed. In the scratch memory,
 * frozen parameters are read and not kept. */
bool checkpoint_read_whole(const xlm_store *store, const xlm_run_state *state, int array, float *whole, GError **error);

#endif
