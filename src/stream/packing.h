/* xlm-mpi: spans of text laid out as a packed batch. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_STREAM_PACKING_H
#define XLM_STREAM_PACKING_H

#include <xlm/batch.h>

#include "base/arena.h"
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

/* Read the tokens and fill in all of *batch except what masking decides: `ids`, `masked_rows` and `targets` are memory
 * for it ([T] each), `masked` is 0. instances: [sequences] what the row keys get. Everything is the arena's.
 * Errors: EX_DATAERR for tokens that are not in the vocabulary; EX_CONFIG when there are more tokens than a batch can
 * count; what reading the corpus says. */
bool xlm_packing_read(const xlm_packing *packing, const xlm_corpus *corpus, const uint32_t *instances,
                      xlm_arena *arena, xlm_batch *batch, GError **error);

#endif
