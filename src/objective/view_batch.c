/* xlm-mpi: the batches that views encode, made of a stream's. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "objective/views.h"
#include "tensor/tape.h"

static const xlm_batch *uncorrupted(xlm_tape *tape, const xlm_batch *batch)
{
    xlm_batch *b = XLM_TAPE_TAKE(tape, xlm_batch, 1);
    *b = *batch;
    b->ids = batch->original;
    b->languages = batch->text_languages;
    return b;
}

/* The arrays of a batch, before they are const. */
struct side {
    int32_t *offsets, *ids, *positions, *languages, *types, *predicted_rows, *targets;
    xlm_row_key *keys;
    int32_t rows, predicted;
};

static void append(struct side *to, int32_t id, int32_t language, uint32_t instance, int32_t first)
{
    const int32_t row = to->rows++, position = row - first;
    to->ids[row] = id;
    to->positions[row] = position;
    to->languages[row] = language;
    to->types[row] = 0;
    to->keys[row] = (xlm_row_key){instance, (uint32_t)position};
}

/* The rows of one sequence that are of this type, after <s>. *mask: number of the first predicted row of the batch that is not
 * yet passed by. */
static void append_sequence(struct side *to, const xlm_batch *batch, int32_t s, int32_t type, int32_t *mask)
{
    const int32_t bos = batch->specials->id[XLM_BOS];
    const int32_t first = to->rows, begin = batch->offsets[s], end = batch->offsets[s + 1];
    for (int32_t row = begin; row < end; row++) {
        const bool predicted = *mask < batch->predicted && batch->predicted_rows[*mask] == row;
        const int32_t number = *mask;
        *mask += predicted;
        if (batch->types[row] != type)
            continue;
        if (to->rows == first && batch->original[row] != bos)
            append(to, bos, batch->text_languages[row], batch->keys[row].instance, first);
        if (predicted) {
            to->predicted_rows[to->predicted] = to->rows;
            to->targets[to->predicted++] = batch->targets[number];
        }
        append(to, batch->original[row], batch->text_languages[row], batch->keys[row].instance, first);
    }
    if (to->rows == first && end > begin) /* a sequence without that side */
        append(to, bos, batch->text_languages[begin], batch->keys[begin].instance, first);
    to->offsets[s + 1] = to->rows;
}

static const xlm_batch *side_alone(xlm_tape *tape, const xlm_batch *batch, int32_t type)
{
    const int64_t most = (int64_t)batch->tokens + batch->sequences;
    struct side to = {
        .offsets = XLM_TAPE_TAKE(tape, int32_t, batch->sequences + 1),
        .ids = XLM_TAPE_TAKE(tape, int32_t, most), .positions = XLM_TAPE_TAKE(tape, int32_t, most),
        .languages = XLM_TAPE_TAKE(tape, int32_t, most), .types = XLM_TAPE_TAKE(tape, int32_t, most),
        .predicted_rows = XLM_TAPE_TAKE(tape, int32_t, most), .targets = XLM_TAPE_TAKE(tape, int32_t, most),
        .keys = XLM_TAPE_TAKE(tape, xlm_row_key, most),
    };
    int32_t mask = 0;
    to.offsets[0] = 0;
    for (int32_t s = 0; s < batch->sequences; s++)
        append_sequence(&to, batch, s, type, &mask);
    xlm_batch *b = XLM_TAPE_TAKE(tape, xlm_batch, 1);
    *b = (xlm_batch){
        .tokens = to.rows, .sequences = batch->sequences, .predicted = to.predicted, .offsets = to.offsets, .ids = to.ids,
        .original = to.ids, .positions = to.positions, .languages = to.languages, .text_languages = to.languages,
        .types = to.types, .keys = to.keys, .predicted_rows = to.predicted_rows, .targets = to.targets,
        .specials = batch->specials,
    };
    return b;
}

const xlm_batch *xlm_view_batch(xlm_tape *tape, const xlm_batch *batch, xlm_view_input input)
{
    switch (input) {
    case XLM_INPUT_ORIGINAL:
        return uncorrupted(tape, batch);
    case XLM_INPUT_FIRST:
        return side_alone(tape, batch, 0);
    case XLM_INPUT_SECOND:
        return side_alone(tape, batch, 1);
    default:
        return batch;
    }
}
