/* xlm-mpi: from which checkpoint a run took its first parameters. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_CHECKPOINT_START_RECORD_H
#define XLM_CHECKPOINT_START_RECORD_H

#include "comm/comm.h"
#include "store/store.h"

/* In a checkpoint: attributes of the group /start, which a run that drew its parameters does not have. */
typedef struct xlm_start_record {
    char *path;   /* as the job gives it; NULL: parameters were drawn */
    char *sha256; /* of the file */
    int64_t step; /* updates that had made it */
} xlm_start_record;

/* Collective as the store is. */
bool xlm_start_record_write(const xlm_start_record *record, xlm_store *store, GError **error);
/* Not collective. *record is overwritten and what was there is freed, also when the file has none. */
bool xlm_start_record_read(xlm_start_record *record, const xlm_store *store, GError **error);
/* Collective: rank 0's on all. */
void xlm_start_record_share(xlm_start_record *record, const xlm_comm *comm);
void xlm_start_record_clear(xlm_start_record *record);

#endif
