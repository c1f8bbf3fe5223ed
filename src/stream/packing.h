/* xlm-mpi: spans of text laid out as a packed batch. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_STREAM_PACKING_H
#define XLM_STREAM_PACKING_H

#include "stream/stage.h"

/* Allocate a batch in the arena and fill in its text from sequences->tokens: <s> before each sequence, </s> after each span,
 * positions from 0. There is room to predict every row. restart: the second side of a pair has its own <s>, and its positions
 * begin at 0 again. Sets the row of each span. Errors: those of xlm_batch_layout_take. */
bool xlm_pack(const xlm_source *source, const xlm_sequences *sequences, bool restart, xlm_arena *arena, xlm_batch_layout *batch,
              GError **error);

#endif
