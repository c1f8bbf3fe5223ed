/* xlm-mpi: a batch that the stages of a stream are filling in. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/batch_layout.h"

bool xlm_batch_layout_take(xlm_batch_layout *layout, xlm_arena *arena, const xlm_special_tokens *specials, int64_t sequences,
                           int64_t tokens, int64_t predicted, GError **error)
{
    if (tokens > INT32_MAX || predicted > INT32_MAX)
        return xlm_error_set(error, EX_CONFIG,
                             "a batch of %" G_GINT64_FORMAT " sequences has %" G_GINT64_FORMAT " tokens, of which "
                             "%" G_GINT64_FORMAT " may be predicted; the most is %d; lower batch or length", sequences, tokens,
                             predicted, INT32_MAX);
    *layout = (xlm_batch_layout){
        .arena = arena, .tokens = (int32_t)tokens, .sequences = (int32_t)sequences, .specials = specials,
        .offsets = XLM_TAKE(arena, int32_t, sequences + 1), .ids = XLM_TAKE(arena, int32_t, tokens),
        .unmasked = XLM_TAKE(arena, int32_t, tokens),   .positions = XLM_TAKE(arena, int32_t, tokens),
        .unswitched = XLM_TAKE(arena, int32_t, tokens), .types = XLM_TAKE(arena, int32_t, tokens),
        .keys = XLM_TAKE(arena, xlm_row_key, tokens),       .predicted_rows = XLM_TAKE(arena, int32_t, predicted),
        .targets = XLM_TAKE(arena, int32_t, predicted),
    };
    layout->languages = layout->unswitched;
    layout->offsets[0] = 0;
    return true;
}

static void copy(int32_t *to, const int32_t *from, int32_t n) { memcpy(to, from, sizeof *to * (size_t)n); }

/* The text of the layout, with these ids and languages. */
static xlm_text text_of(const xlm_batch_layout *layout, const int32_t *ids, const int32_t *languages)
{
    return (xlm_text){
        .tokens = layout->tokens,       .sequences = layout->sequences,   .offsets = layout->offsets,
        .ids = ids,                     .unmasked = layout->unmasked,     .positions = layout->positions,
        .languages = languages,         .unswitched = layout->unswitched, .types = layout->types,
        .keys = layout->keys,           .specials = layout->specials,
    };
}

xlm_text xlm_batch_layout_original(const xlm_batch_layout *layout) { return text_of(layout, layout->unmasked, layout->unswitched); }

void xlm_batch_layout_begin_corruption(xlm_batch_layout *layout, const xlm_text *original)
{
    copy(layout->ids, layout->unmasked, layout->tokens);
    layout->original = original != NULL ? *original : xlm_batch_layout_original(layout);
    layout->noise = original != NULL;
}

void xlm_batch_layout_switch(xlm_batch_layout *layout)
{
    layout->languages = XLM_TAKE(layout->arena, int32_t, layout->tokens);
    copy(layout->languages, layout->unswitched, layout->tokens);
}

static void attach(xlm_batch_layout *layout, const char *name, xlm_axis axis, const int32_t *values, int32_t length, int32_t width)
{
    xlm_annotation *annotation = XLM_TAKE(layout->arena, xlm_annotation, 1);
    *annotation = (xlm_annotation){name, axis, values, layout->annotations, length, width};
    layout->annotations = annotation;
}

static int32_t axis_length(const xlm_batch_layout *layout, xlm_axis axis)
{
    return axis == XLM_AXIS_TOKENS ? layout->tokens : axis == XLM_AXIS_SEQUENCES ? layout->sequences : layout->predicted;
}

void xlm_batch_layout_attach(xlm_batch_layout *layout, const char *name, xlm_axis axis, const int32_t *values)
{
    attach(layout, name, axis, values, axis_length(layout, axis), 1);
}

int32_t *xlm_batch_layout_annotate(xlm_batch_layout *layout, const char *name, xlm_axis axis)
{
    int32_t *values = XLM_TAKE(layout->arena, int32_t, axis_length(layout, axis));
    xlm_batch_layout_attach(layout, name, axis, values);
    return values;
}

int32_t *xlm_batch_layout_annotate_own(xlm_batch_layout *layout, const char *name, int32_t length, int32_t width)
{
    int32_t *values = XLM_TAKE(layout->arena, int32_t, (int64_t)length * width);
    attach(layout, name, XLM_AXIS_OWN, values, length, width);
    return values;
}

xlm_batch xlm_batch_of_layout(const xlm_batch_layout *layout)
{
    return (xlm_batch){
        .original = layout->original,
        .noise = layout->noise,
        .corrupted = text_of(layout, layout->ids, layout->languages),
        .predicted = layout->predicted,
        .predicted_rows = layout->predicted_rows,
        .targets = layout->targets,
        .annotations = layout->annotations,
    };
}
