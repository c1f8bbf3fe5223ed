/* xlm-mpi: from which checkpoint a run took its first parameters. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_CHECKPOINT_START_RECORD_H
#define XLM_CHECKPOINT_START_RECORD_H

#include "comm/comm.h"
#include "store/store.h"

/* In a checkpoint these are attributes of the group /start, which is missing if the run drew its parameters. pair_form is that of
 * the checkpoint itself. */
typedef struct xlm_start_record {
    char *path;   /* as the job gives it; NULL: parameters were drawn */
    char *sha256; /* of the file */
    int64_t step; /* number of updates that it had */
    char *pair_form; /* in which pairs of sentences have been read so far (model/model_pair_form.h); NULL: none that is known */
} xlm_start_record;

/* Collective over the ranks of the store. */
bool xlm_start_record_write(const xlm_start_record *record, xlm_store *store, GError **error);
/* Not collective. Frees and overwrites *record, also when the file has no record. */
bool xlm_start_record_read(xlm_start_record *record, const xlm_store *store, GError **error);
/* Collective: copies rank 0's record to all ranks. */
void xlm_start_record_share(xlm_start_record *record, const xlm_comm *comm);
void xlm_start_record_clear(xlm_start_record *record);

#endif
