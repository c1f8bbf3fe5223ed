/* xlm-mpi: the states and averages of objectives in HDF5 files. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In checkpoints and step dumps alike: states as /objectives/<objective>/<name>, momentum averages as
 * /objectives/<objective>/average/<parameter>. Trained parameters are written with the model's (model/model_attributes.h). */
#ifndef XLM_CHECKPOINT_OBJECTIVE_ARRAYS_H
#define XLM_CHECKPOINT_OBJECTIVE_ARRAYS_H

#include "comm/comm.h"
#include "objective/state.h"
#include "store/store.h"
#include "tensor/parameters.h"

/* The type of a state in a file. */
xlm_type xlm_state_store_type(const xlm_saved_state *state);
/* Write a state, the same on every rank of the store, as a dataset. */
bool xlm_state_write(xlm_store *store, const xlm_saved_state *state, GError **error);
/* Read its values; EX_DATAERR when their number or type differs. */
bool xlm_state_read(const xlm_store *store, const xlm_saved_state *state, void *values, GError **error);

/* Read n states from a checkpoint, by a process without a run. EX_DATAERR with the file if one is missing. */
bool xlm_states_read(const char *path, int n, const xlm_saved_state *states, GError **error);

/* The group of an objective's average; g_free. */
char *xlm_average_group(const char *objective);
/* Does an objective's average have this parameter? It has those of the model and of the objective itself. */
bool xlm_average_has(const char *objective, const xlm_parameter *parameter);

#endif
