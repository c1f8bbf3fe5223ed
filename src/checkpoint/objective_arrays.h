/* xlm-mpi: what objectives declare of their own, in HDF5 files. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In checkpoints and step dumps alike: states as /objectives/<objective>/<name>, momentum averages as
 * /objectives/<objective>/average/<parameter>. Trained parameters are written with the model's (model/model_attributes.h). */
#ifndef XLM_CHECKPOINT_OBJECTIVE_ARRAYS_H
#define XLM_CHECKPOINT_OBJECTIVE_ARRAYS_H

#include "comm/comm.h"
#include "objective/state.h"
#include "store/store.h"
#include "tensor/parameters.h"

/* As numbers of a state are written. */
xlm_type xlm_state_store_type(const xlm_saved_state *state);
/* A state as a dataset. comm: of the store, each rank writes its share; NULL when the store is of one process. */
bool xlm_state_write(xlm_store *store, const xlm_comm *comm, const xlm_saved_state *state, GError **error);
/* Its values from the file; EX_DATAERR when they are of another number or type. */
bool xlm_state_read(const xlm_store *store, const xlm_saved_state *state, void *values, GError **error);

/* n states from a checkpoint, by a process that has no run. EX_DATAERR with the file where it has none. */
bool xlm_states_read(const char *path, int n, const xlm_saved_state *states, GError **error);

/* The group of an objective's average; g_free. */
char *xlm_average_group(const char *objective);
/* An objective's average has this parameter: it has the model's and those of the objective itself. */
bool xlm_average_has(const char *objective, const xlm_parameter *parameter);

#endif
