/* xlm-mpi: the texts that views encode. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "objective/views.h"
#include "tensor/tape.h"

/* ---- one side of pairs ---- */

/* The text of one side while it is filled in, with its predicted rows. */
struct side {
    int32_t *offsets, *ids, *unmasked, *positions, *languages, *unswitched, *types, *predicted_rows, *targets;
    xlm_row_key *keys;
    int32_t rows, predicted;
};

/* Appends row `from` of the text, or <s> if that is -1. like: the row of the text that instance and language are taken from.
 * first: the row of `to` where the sequence begins. */
static void append(struct side *to, const xlm_text *text, int32_t from, int32_t like, int32_t first)
{
    const int32_t row = to->rows++, position = row - first, bos = text->specials->id[XLM_BOS];
    to->ids[row] = from >= 0 ? text->ids[from] : bos;
    to->unmasked[row] = from >= 0 ? text->unmasked[from] : bos;
    to->positions[row] = position;
    to->languages[row] = from >= 0 ? text->languages[from] : text->unswitched[like];
    to->unswitched[row] = text->unswitched[like];
    to->types[row] = 0;
    to->keys[row] = (xlm_row_key){text->keys[like].instance, (uint32_t)position};
}

/* Appends the rows of sequence s that are of this type, preceded by <s>. *next: index of the first predicted row of the text that
 * has not been reached yet. */
static void append_sequence(struct side *to, const xlm_view_source *whole, int32_t s, int32_t type, int32_t *next)
{
    const xlm_text *text = whole->text;
    const int32_t first = to->rows, begin = text->offsets[s], end = text->offsets[s + 1];
    for (int32_t row = begin; row < end; row++) {
        const bool predicted = *next < whole->predicted && whole->predicted_rows[*next] == row;
        const int32_t number = *next;
        *next += predicted;
        if (text->types[row] != type)
            continue;
        if (to->rows == first && text->unmasked[row] != text->specials->id[XLM_BOS])
            append(to, text, -1, row, first);
        if (predicted) {
            to->predicted_rows[to->predicted] = to->rows;
            to->targets[to->predicted++] = whole->targets[number];
        }
        append(to, text, row, row, first);
    }
    if (to->rows == first && end > begin) /* a sequence without that side */
        append(to, text, -1, begin, first);
    to->offsets[s + 1] = to->rows;
}

static xlm_view_source side_alone(xlm_tape *tape, const xlm_view_source *whole, int32_t type)
{
    const xlm_text *text = whole->text;
    const int64_t max_rows = (int64_t)text->tokens + text->sequences;
    struct side to = {
        .offsets = XLM_TAPE_TAKE(tape, int32_t, text->sequences + 1),
        .ids = XLM_TAPE_TAKE(tape, int32_t, max_rows), .unmasked = XLM_TAPE_TAKE(tape, int32_t, max_rows),
        .positions = XLM_TAPE_TAKE(tape, int32_t, max_rows), .languages = XLM_TAPE_TAKE(tape, int32_t, max_rows),
        .unswitched = XLM_TAPE_TAKE(tape, int32_t, max_rows), .types = XLM_TAPE_TAKE(tape, int32_t, max_rows),
        .predicted_rows = XLM_TAPE_TAKE(tape, int32_t, max_rows), .targets = XLM_TAPE_TAKE(tape, int32_t, max_rows),
        .keys = XLM_TAPE_TAKE(tape, xlm_row_key, max_rows),
    };
    int32_t next = 0;
    to.offsets[0] = 0;
    for (int32_t s = 0; s < text->sequences; s++)
        append_sequence(&to, whole, s, type, &next);
    xlm_text *side = XLM_TAPE_TAKE(tape, xlm_text, 1);
    *side = (xlm_text){
        .tokens = to.rows, .sequences = text->sequences, .offsets = to.offsets, .ids = to.ids, .unmasked = to.unmasked,
        .positions = to.positions, .languages = to.languages, .unswitched = to.unswitched, .types = to.types, .keys = to.keys,
        .specials = text->specials,
    };
    return (xlm_view_source){.text = side, .predicted = to.predicted, .predicted_rows = to.predicted_rows, .targets = to.targets};
}

/* ---- all texts ---- */

static const xlm_text *find_made(xlm_texts texts, const xlm_hosted *hosted)
{
    const int k = (int)(hosted - hosted->host->objective);
    if (texts.made == NULL || texts.made[k] == NULL)
        g_error("objective %s: it views the text that its label makes, and its label has made none", hosted->loss.name);
    return texts.made[k];
}

xlm_view_source xlm_view_find_source(xlm_tape *tape, xlm_texts texts, xlm_view_use use)
{
    const xlm_view *view = use.view;
    const xlm_batch *batch = texts.batch;
    if (view->text == XLM_TEXT_MADE)
        return (xlm_view_source){.text = find_made(texts, use.hosted)};
    xlm_view_source source = {
        .text = view->text == XLM_TEXT_ORIGINAL ? &batch->original : &batch->corrupted,
        .predicted = batch->predicted, .predicted_rows = batch->predicted_rows, .targets = batch->targets,
        .links = xlm_batch_find_annotation(batch, "links"),
    };
    if (!xlm_batch_has_rows_of(batch, source.text))
        source.predicted = 0, source.links = NULL;
    return view->side == XLM_SIDE_BOTH ? source : side_alone(tape, &source, view->side == XLM_SIDE_SECOND);
}
