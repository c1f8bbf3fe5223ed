/* xlm-mpi: which sentences a corpus that is there holds out, for text like its own.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/earlier_split.h"

bool xlm_earlier_split_read(xlm_earlier_split *split, const xlm_store *store, GError **error)
{
    static const char *const paths[2] = {"/assigned/held_out", "/assigned/left_out"};
    *split = (xlm_earlier_split){0};
    if (!xlm_store_get_int(store, "/", "seed", &split->seed, error) ||
        !xlm_store_get_real(store, "/", "held_out_share", &split->held_out, error))
        return false;
    if (split->seed < 0 || !(split->held_out >= 0 && split->held_out < 1))
        return xlm_error_set(error, EX_DATAERR, "%s: seed %" G_GINT64_FORMAT ", held_out_share %g; the corpus is damaged",
                             xlm_store_path(store), split->seed, split->held_out);
    for (int i = 0; i < 2 && xlm_store_has(store, paths[0]); i++) {
        xlm_array array = {XLM_U64, XLM_ANY, 0};
        split->assigned[i] = xlm_store_read_all(store, paths[i], &array, error);
        split->counts[i] = array.rows;
        if (split->assigned[i] == NULL)
            return false;
    }
    return true;
}

void xlm_earlier_split_clear(xlm_earlier_split *split)
{
    g_free(split->assigned[0]);
    g_free(split->assigned[1]);
    *split = (xlm_earlier_split){0};
}

void xlm_earlier_split_recall(const xlm_earlier_split *split, int64_t seed, double held_out, xlm_assignments *assignments)
{
    if (split->assigned[0] == NULL || split->seed != seed || split->held_out != held_out)
        return;
    xlm_assignments_recall(assignments, XLM_ASSIGNED_HELD_OUT, split->counts[0], split->assigned[0]);
    xlm_assignments_recall(assignments, XLM_ASSIGNED_NEITHER, split->counts[1], split->assigned[1]);
}
