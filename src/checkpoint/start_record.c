/* xlm-mpi: from which checkpoint a run took its first parameters. SPDX-License-Identifier: GPL-3.0-or-later */
#include "checkpoint/start_record.h"

#include "model/model_pair_form.h"

static const char GROUP[] = "/start";

bool xlm_start_record_write(const xlm_start_record *record, xlm_store *store, GError **error)
{
    return record->path == NULL || (xlm_store_set_text(store, GROUP, "path", record->path, error) &&
                                    xlm_store_set_int(store, GROUP, "step", record->step, error) &&
                                    xlm_store_set_text(store, GROUP, "sha256", record->sha256, error));
}

bool xlm_start_record_read(xlm_start_record *record, const xlm_store *store, GError **error)
{
    xlm_start_record_clear(record);
    const bool none = !xlm_store_has(store, GROUP);
    return (none || ((record->path = xlm_store_get_text(store, GROUP, "path", error)) != NULL &&
                     xlm_store_get_int(store, GROUP, "step", &record->step, error) &&
                     (record->sha256 = xlm_store_get_text(store, GROUP, "sha256", error)) != NULL)) &&
           xlm_model_pair_form_read(store, &record->pair_form, error);
}

void xlm_start_record_share(xlm_start_record *record, const xlm_comm *comm)
{
    xlm_comm_broadcast_text(comm, &record->path);
    xlm_comm_broadcast_text(comm, &record->sha256);
    xlm_comm_broadcast_text(comm, &record->pair_form);
    xlm_comm_broadcast(comm, 0, &record->step, sizeof record->step);
}

void xlm_start_record_clear(xlm_start_record *record)
{
    g_free(record->path);
    g_free(record->sha256);
    g_free(record->pair_form);
    *record = (xlm_start_record){0};
}
