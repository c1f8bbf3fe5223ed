/* xlm-mpi: spans of text laid out as a packed batch. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/packing.h"

#include <string.h>

/* Tokens between two spans that are read over rather than passed by, and the most that are read at a time. */
enum { GAP = 1024, MOST = 1 << 20 };

void xlm_packing_init(xlm_packing *packing)
{
    packing->spans = g_array_new(FALSE, FALSE, sizeof(xlm_span));
    packing->ends = g_array_new(FALSE, FALSE, sizeof(guint));
}

void xlm_packing_clear(xlm_packing *packing)
{
    g_clear_pointer(&packing->spans, g_array_unref);
    g_clear_pointer(&packing->ends, g_array_unref);
}

void xlm_packing_reset(xlm_packing *packing)
{
    g_array_set_size(packing->spans, 0);
    g_array_set_size(packing->ends, 0);
}

void xlm_packing_end_sequence(xlm_packing *packing) { g_array_append_val(packing->ends, packing->spans->len); }

static const xlm_span *span_at(const xlm_packing *packing, guint i)
{
    return &g_array_index(packing->spans, xlm_span, i);
}

static int64_t rows_of(const xlm_span *span) { return span->tokens + span->opens + 1; } /* <s>, </s> */

/* ---- what does not need the tokens ---- */

/* Everything about the rows of one span but its tokens. Returns the row behind it. */
static int32_t lay_span(xlm_batch_layout *l, const xlm_span *span, int32_t row, int32_t first_of_sequence,
                        uint32_t instance, int32_t *position)
{
    const int32_t end = row + (int32_t)rows_of(span);
    if (span->opens) {
        l->original[row] = l->specials->id[XLM_BOS];
        *position = 0;
    }
    l->original[end - 1] = l->specials->id[XLM_EOS];
    for (; row < end; row++) {
        l->positions[row] = (*position)++;
        l->text_languages[row] = span->text->language_id;
        l->types[row] = span->side;
        l->keys[row] = (xlm_row_key){instance, (uint32_t)(row - first_of_sequence)};
    }
    return row;
}

static void lay_out(const xlm_packing *packing, const uint32_t *instances, xlm_batch_layout *l)
{
    int32_t row = 0, position = 0;
    guint span = 0;
    for (guint s = 0; s < packing->ends->len; s++) {
        for (; span < g_array_index(packing->ends, guint, s); span++)
            row = lay_span(l, span_at(packing, span), row, l->offsets[s], instances[s], &position);
        l->offsets[s + 1] = row;
    }
}

/* ---- tokens ---- */

/* The first span behind `first` that does not lie in the same text shortly behind the one before it. */
static guint end_of_run(const xlm_packing *packing, guint first)
{
    const xlm_span *start = span_at(packing, first), *last = start;
    guint next = first + 1;
    for (; next < packing->spans->len; next++, last++) {
        const xlm_span *span = span_at(packing, next);
        const int64_t gap = span->start - (last->start + last->tokens);
        if (span->text != start->text || gap < 0 || gap > GAP || span->start + span->tokens - start->start > MOST)
            break;
    }
    return next;
}

/* Read spans [first, end), one run, and put them into their rows. Returns the row behind them, -1 on error. */
static int64_t read_run(const xlm_packing *packing, const xlm_corpus *corpus, guint first, guint end, int64_t row,
                        GArray *buffer, int32_t *original, GError **error)
{
    const xlm_span *start = span_at(packing, first), *last = span_at(packing, end - 1);
    const int64_t n = last->start + last->tokens - start->start;
    g_array_set_size(buffer, (guint)n);
    int32_t *ids = (int32_t *)(void *)buffer->data;
    if (!xlm_corpus_read_tokens(corpus, start->text, start->start, n, ids, error))
        return -1;
    for (const xlm_span *span = start; span <= last; span++) {
        memcpy(original + row + span->opens, ids + (span->start - start->start), sizeof *ids * (size_t)span->tokens);
        row += rows_of(span);
    }
    return row;
}

bool xlm_packing_read(const xlm_packing *packing, const xlm_corpus *corpus, const uint32_t *instances, xlm_arena *arena,
                      xlm_batch_layout *batch, GError **error)
{
    const guint spans = packing->spans->len;
    int64_t tokens = 0;
    for (guint i = 0; i < spans; i++)
        tokens += rows_of(span_at(packing, i));
    const xlm_special_tokens *specials = xlm_vocabulary_specials(xlm_corpus_vocabulary(corpus));
    if (!xlm_batch_layout_take(batch, arena, specials, packing->ends->len, tokens, tokens, error))
        return false;
    lay_out(packing, instances, batch);

    GArray *buffer = g_array_new(FALSE, FALSE, sizeof(int32_t));
    int64_t row = 0;
    for (guint i = 0, end; i < spans && row >= 0; i = end) {
        end = end_of_run(packing, i);
        row = read_run(packing, corpus, i, end, row, buffer, batch->original, error);
    }
    g_array_free(buffer, TRUE);
    return row >= 0;
}
