/* xlm-mpi: spans of text laid out as a packed batch. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_STREAM_PACKING_H
#define XLM_STREAM_PACKING_H

#include "stream/batch_layout.h"
#include "stream/instances.h"

/* Sequences to be laid out: sequence s has spans [ends[s-1], ends[s]). */
typedef struct xlm_packing {
    GArray *spans; /* xlm_span */
    GArray *ends;  /* guint */
} xlm_packing;

void xlm_packing_init(xlm_packing *packing);
void xlm_packing_clear(xlm_packing *packing);
/* Forget all spans, keep the memory. */
void xlm_packing_reset(xlm_packing *packing);
/* The spans appended since the last call are a sequence. */
void xlm_packing_end_sequence(xlm_packing *packing);

/* Take a batch in the arena, read the tokens and fill in the text; all of it may be predicted. instances: [sequences] what the
 * row keys get. Errors: EX_DATAERR for tokens that are not in the vocabulary; those of xlm_batch_layout_take and of reading the
 * corpus. */
bool xlm_packing_read(const xlm_packing *packing, const xlm_corpus *corpus, const uint32_t *instances, xlm_arena *arena,
                      xlm_batch_layout *batch, GError **error);

#endif
