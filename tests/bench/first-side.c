/* xlm-mpi: an objective for benchmarks: the first side of each pair encoded with gradient, and nothing besides.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * L = the mean of all numbers of H[L] at the <s> of the first sides. */
#include <xlm/loss.h>

static void declare(xlm_loss *self, xlm_declaration *declaration)
{
    static const xlm_view view = {.text = XLM_TEXT_ORIGINAL, .side = XLM_SIDE_FIRST, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_FIRST,
                                  .gradient = true,
                                  .dropout = true};
    (void)self;
    xlm_declare_view(declaration, &view);
}

static int64_t count(xlm_loss *self, const xlm_pass *pass)
{
    (void)self;
    return pass->batch->original.sequences;
}

static xlm_var *loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    (void)self;
    return xlm_mean(tape, xlm_pass_view(pass, 0)->states);
}

const xlm_loss_class xlm_loss_first_side = {
    .abi = XLM_LOSS_ABI,
    .name = "first-side",
    .summary = "the first side of pairs, encoded",
    .needs_stream = true,
    .declare = declare,
    .count = count,
    .loss = loss,
};
