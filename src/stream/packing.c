/* xlm-mpi: spans of text laid out as a packed batch. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/packing.h"

static xlm_span *span_at(const xlm_sequences *sequences, guint i) { return &g_array_index(sequences->spans, xlm_span, i); }

/* Does <s> come before a span? */
static bool opens(const xlm_span *span, bool first, bool restart)
{
    return first || (restart && span->side != span[-1].side);
}

/* Write one span and the special tokens around it, beginning at `row`. Returns the row after them. open: <s> comes first.
 * [in, out] position: of the next token. */
static int32_t pack_span(xlm_batch_layout *batch, const xlm_span *span, const int32_t *tokens, bool open, int32_t row,
                         int32_t first_of_sequence, uint32_t instance, int32_t *position)
{
    const int32_t end = row + open + span->tokens + 1;
    if (open) {
        batch->unmasked[row] = batch->specials->id[XLM_BOS];
        *position = 0;
    }
    memcpy(batch->unmasked + row + open, tokens, sizeof *tokens * (size_t)span->tokens);
    batch->unmasked[end - 1] = batch->specials->id[XLM_EOS];
    for (; row < end; row++) {
        batch->positions[row] = (*position)++;
        batch->unswitched[row] = span->language;
        batch->types[row] = span->side;
        batch->keys[row] = (xlm_row_key){instance, (uint32_t)(row - first_of_sequence)};
    }
    return row;
}

static void pack(const xlm_sequences *sequences, bool restart, const int32_t *tokens, xlm_batch_layout *batch)
{
    int32_t row = 0, position = 0;
    guint i = 0;
    for (guint s = 0; s < sequences->ends->len; s++) {
        const guint first = i;
        for (; i < g_array_index(sequences->ends, guint, s); i++) {
            xlm_span *span = span_at(sequences, i);
            const bool open = opens(span, i == first, restart);
            span->row = row + open;
            row = pack_span(batch, span, tokens, open, row, batch->offsets[s],
                            g_array_index(sequences->instances, uint32_t, s), &position);
            tokens += span->tokens;
        }
        batch->offsets[s + 1] = row;
    }
}

bool xlm_pack(const xlm_source *source, const xlm_sequences *sequences, bool restart, xlm_arena *arena, xlm_batch_layout *batch,
              GError **error)
{
    int64_t rows = 0;
    guint i = 0;
    for (guint s = 0; s < sequences->ends->len; s++)
        for (const guint first = i; i < g_array_index(sequences->ends, guint, s); i++) {
            const xlm_span *span = span_at(sequences, i);
            rows += span->tokens + opens(span, i == first, restart) + 1;
        }
    if (!xlm_batch_layout_take(batch, arena, source->specials, sequences->ends->len, rows, rows, error))
        return false;
    pack(sequences, restart, sequences->tokens, batch);
    return true;
}
