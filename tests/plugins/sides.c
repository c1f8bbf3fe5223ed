/* xlm-mpi: an objective from outside, for tests: the two sides of pairs, each encoded alone.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * L = −mean_s cos(u_s, v_s): u and v are the means of the last hidden states over the text of either side. */
#include <xlm/loss.h>

enum { FIRST, SECOND };

static void sides_declare(xlm_loss *self, xlm_declaration *declaration)
{
    xlm_view view = {.text = XLM_TEXT_ORIGINAL, .side = XLM_SIDE_FIRST, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_ALL,
                     .gradient = true, .dropout = true};
    (void)self;
    xlm_declare_view(declaration, &view);
    view.side = XLM_SIDE_SECOND;
    xlm_declare_view(declaration, &view);
}

static int64_t sides_count(xlm_loss *self, const xlm_pass *pass)
{
    (void)self;
    return pass->batch->corrupted.sequences;
}

static xlm_var *mean_of_side(xlm_tape *tape, const xlm_encoded *side)
{
    const xlm_text *text = side->text;
    return xlm_sequence_mean(tape, side->states, text->offsets, text->sequences, xlm_text_rows(tape, text));
}

static xlm_var *sides_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    (void)self;
    xlm_var *first = mean_of_side(tape, xlm_pass_view(pass, FIRST)), *second = mean_of_side(tape, xlm_pass_view(pass, SECOND));
    return xlm_scale(tape, xlm_mean(tape, xlm_cosine(tape, first, second)), -1);
}

const xlm_loss_class xlm_loss_sides = {
    .abi = XLM_LOSS_ABI,
    .name = "sides",
    .summary = "the sides of a pair are to be alike",
    .needs_stream = true,
    .declare = sides_declare,
    .count = sides_count,
    .loss = sides_loss,
};
