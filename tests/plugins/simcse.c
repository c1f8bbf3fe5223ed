/* xlm-mpi: an objective from outside, for tests: one text with two dropout masks (SimCSE, Gao et al. 2021).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * u_i and v_i are the last states of <s> of sequence i under two masks, divided by their norms; L = −mean_i log softmax_j(u_i·v_j/τ) at
 * j = i: the other sequences of the micro-batch are the negatives. */
#include <xlm/loss.h>

struct simcse {
    double temperature;
};

static const xlm_option simcse_options[] = {
    {"temperature", XLM_OPTION_REAL, "0.05", 0.001, 10, NULL, "cosines are divided by it", offsetof(struct simcse, temperature)},
    XLM_OPTION_END,
};

enum { ONE, OTHER };

static void simcse_declare(xlm_loss *self, xlm_declaration *declaration)
{
    xlm_view view = {.text = XLM_TEXT_ORIGINAL, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_FIRST, .gradient = true,
                     .dropout = true};
    (void)self;
    xlm_declare_view(declaration, &view);
    view.number = 1;
    xlm_declare_view(declaration, &view);
    xlm_declare_metric(declaration, "cosine");
}

static int64_t simcse_count(xlm_loss *self, const xlm_pass *pass)
{
    (void)self;
    return pass->batch->corrupted.sequences > 1 ? pass->batch->corrupted.sequences : 0;
}

static xlm_var *simcse_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct simcse *simcse = self->state;
    const int32_t n = pass->batch->corrupted.sequences;
    int32_t *own = xlm_tape_take(tape, sizeof *own * (uint64_t)n);
    for (int32_t i = 0; i < n; i++)
        own[i] = i;
    xlm_var *u = xlm_row_normalise(tape, xlm_pass_view(pass, ONE)->states);
    xlm_var *v = xlm_row_normalise(tape, xlm_pass_view(pass, OTHER)->states);
    xlm_var *cosines = xlm_linear(tape, u, v, NULL); /* n x n */
    for (int32_t i = 0; i < n; i++) {
        xlm_real *row = xlm_tape_take(tape, sizeof *row * (uint64_t)n);
        xlm_var_read(cosines, i, 1, row);
        xlm_loss_metric(self, "cosine", (double)row[i], 1);
    }
    return xlm_cross_entropy(tape, xlm_scale(tape, cosines, 1 / simcse->temperature), own, NULL);
}

const xlm_loss_class xlm_loss_simcse = {
    .abi = XLM_LOSS_ABI,
    .name = "simcse",
    .summary = "a sentence finds itself under another dropout mask",
    .needs_stream = true,
    .options = simcse_options,
    .state_size = sizeof(struct simcse),
    .declare = simcse_declare,
    .count = simcse_count,
    .loss = simcse_loss,
};
