/* xlm-mpi: an objective from outside, for tests: labels from the uncorrupted text. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * L = mean_t |h_t − t_t|² / d over a share of the masked positions: h are the states of the corrupted text, t those of the
 * uncorrupted text in the same model, without gradient. */
#include <xlm/loss.h>

#include <string.h>

struct distil {
    double share;
    int64_t layer;
};

/* The results of label for loss. */
struct labels {
    int64_t n;
    int32_t *rows;     /* [n] numbers of masked positions */
    xlm_real *targets; /* [n x d] */
};

static const xlm_option distil_options[] = {
    {"share", XLM_OPTION_REAL, "0.7", 0, 1, NULL, "of the masked positions that are compared", offsetof(struct distil, share)},
    {"layer", XLM_OPTION_INT, "1", 0, 1000, NULL, "layer whose states are compared", offsetof(struct distil, layer)},
    XLM_OPTION_END,
};

enum { CORRUPTED, ORIGINAL };

static void distil_declare(xlm_loss *self, xlm_declaration *declaration)
{
    const struct distil *distil = self->state;
    const xlm_view corrupted = {.text = XLM_TEXT_CORRUPTED, .layer = distil->layer, .rows = XLM_ROWS_PREDICTED, .gradient = true,
                                .dropout = true};
    const xlm_view original = {.text = XLM_TEXT_ORIGINAL, .layer = distil->layer, .rows = XLM_ROWS_PREDICTED};
    xlm_declare_view(declaration, &corrupted);
    xlm_declare_view(declaration, &original);
}

static int64_t distil_label(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct distil *distil = self->state;
    const xlm_batch *batch = pass->batch;
    const int64_t d = self->setup->model->hidden_size;
    struct labels *labels = xlm_pass_keep(pass, sizeof *labels);
    (void)tape;
    labels->n = 0;
    labels->rows = xlm_pass_keep(pass, sizeof *labels->rows * (uint64_t)(batch->predicted + 1));
    labels->targets = xlm_pass_keep(pass, sizeof *labels->targets * (uint64_t)((batch->predicted + 1) * d));
    for (int32_t i = 0; i < batch->predicted; i++) {
        if (xlm_pass_uniform(pass, batch->corrupted.keys[batch->predicted_rows[i]], 0) >= distil->share)
            continue;
        labels->rows[labels->n] = i;
        xlm_var_read(xlm_pass_view(pass, ORIGINAL)->states, i, 1, labels->targets + labels->n++ * d);
    }
    return labels->n;
}

static xlm_var *distil_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct labels *labels = pass->labels;
    xlm_var *h = xlm_rows(tape, xlm_pass_view(pass, CORRUPTED)->states, labels->rows, labels->n); /* n x d */
    xlm_var *apart = xlm_subtract(tape, h, xlm_constant(tape, labels->n, self->setup->model->hidden_size, labels->targets));
    return xlm_mean(tape, xlm_multiply(tape, apart, apart));
}

const xlm_loss_class xlm_loss_distil = {
    .abi = XLM_LOSS_ABI,
    .name = "distil",
    .summary = "states of corrupted text are to be those of the text",
    .needs_stream = true,
    .options = distil_options,
    .state_size = sizeof(struct distil),
    .declare = distil_declare,
    .label = distil_label,
    .loss = distil_loss,
};
