/* xlm-mpi: what objectives declare of their own, in HDF5 files. SPDX-License-Identifier: GPL-3.0-or-later */
#include "checkpoint/objective_arrays.h"

#include <string.h>

xlm_type xlm_state_store_type(const xlm_saved_state *state)
{
    static const xlm_type types[] = {[XLM_STATE_F32] = XLM_F32, [XLM_STATE_F64] = XLM_F64, [XLM_STATE_I64] = XLM_I64};
    return types[state->type];
}

bool xlm_state_read(const xlm_store *store, const xlm_saved_state *state, void *values, GError **error)
{
    const xlm_array array = {xlm_state_store_type(state), (uint64_t)state->n, 0};
    return xlm_store_read(store, state->path, array, 0, array.rows, values, error);
}

bool xlm_states_read(const char *path, int n, const xlm_saved_state *states, GError **error)
{
    g_autoptr(xlm_store) store = n > 0 ? xlm_store_open(path, error) : NULL;
    bool good = n == 0 || store != NULL;
    for (int k = 0; k < n && good; k++)
        good = xlm_state_read(store, &states[k], states[k].values, error);
    return good;
}

bool xlm_state_write(xlm_store *store, const xlm_saved_state *state, GError **error)
{
    const uint64_t n = (uint64_t)state->n;
    return xlm_store_dataset(store, state->path, xlm_state_store_type(state), 1, &n, XLM_STORE_CHECKED, error) &&
           xlm_store_write_whole(store, state->path, state->values, error);
}

char *xlm_average_group(const char *objective) { return g_strdup_printf("/objectives/%s/average", objective); }

bool xlm_average_has(const char *objective, const xlm_parameter *parameter)
{
    const char *rest = parameter->name + strlen("objectives/");
    return !g_str_has_prefix(parameter->name, "objectives/") ||
           (g_str_has_prefix(rest, objective) && rest[strlen(objective)] == '/');
}
