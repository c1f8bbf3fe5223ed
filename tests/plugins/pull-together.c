/* xlm-mpi: an objective from outside, for tests: written against the installed headers alone.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * L = −(1/M) Σ_i cos(P h_i + b, E[w_i]): a projection of its own pulls the masked positions' states towards the embeddings of the
 * words that were there. Shows options, own parameters, state in the checkpoint, a metric, a custom operator, and how to refuse a
 * job. */
#include <xlm/loss.h>

#include <stddef.h>
#include <stdio.h>

struct pull {
    int64_t layer;
    double sharpness;
    char *unused_word;
    double steps; /* kept in checkpoints */
};

static const xlm_option pull_options[] = {
    {"layer", XLM_OPTION_INT, "-1", -1, 1000, NULL, "hidden states of this layer; -1: the last", offsetof(struct pull, layer)},
    {"sharpness", XLM_OPTION_REAL, "1", 0.1, 10, NULL, "factor of the cosine", offsetof(struct pull, sharpness)},
    {"word", XLM_OPTION_TEXT, "", 0, 0, NULL, "must be in the vocabulary when given", offsetof(struct pull, unused_word)},
    XLM_OPTION_END,
};

static bool pull_open(xlm_loss *self, char *message, size_t size)
{
    const struct pull *pull = self->state;
    if (pull->layer <= self->setup->model->layers)
        return true;
    snprintf(message, size, "layer = %lld, but the model has %lld layers", (long long)pull->layer,
             (long long)self->setup->model->layers);
    return false;
}

static void pull_declare(xlm_loss *self, xlm_declaration *declaration)
{
    struct pull *pull = self->state;
    const xlm_model_config *model = self->setup->model;
    const int64_t e = model->embedding_size;
    const xlm_view masked = {.text = XLM_TEXT_CORRUPTED, .layer = pull->layer < 0 ? XLM_TOP_LAYER : pull->layer,
                             .rows = XLM_ROWS_PREDICTED, .gradient = true, .dropout = true};
    xlm_declare_view(declaration, &masked);
    xlm_declare_weight(declaration, "projection/weight", e, model->hidden_size);
    xlm_declare_bias(declaration, "projection/bias", e);
    xlm_declare_state(declaration, "steps", XLM_STATE_F64, &pull->steps, 1);
    xlm_declare_metric(declaration, "cosine");
    xlm_declare_metric(declaration, "never");
}

/* y = 1·x, by an operator of the plugin's own. */
struct copy {
    xlm_var *from, *to;
};

static void copy_backward(void *state)
{
    const struct copy *copy = state;
    const xlm_real *dy = xlm_var_gradient(copy->to);
    xlm_real *dx = xlm_var_input_gradient(copy->from);
    for (int64_t i = 0; dx != NULL && i < xlm_var_rows(copy->to) * xlm_var_cols(copy->to); i++)
        dx[i] += dy[i];
}

static xlm_var *copy(xlm_tape *tape, xlm_var *x)
{
    struct copy *state = xlm_tape_take(tape, sizeof *state);
    const int64_t rows = xlm_var_rows(x), cols = xlm_var_cols(x);
    xlm_real *row = xlm_tape_take(tape, sizeof *row * (uint64_t)cols);
    state->from = x;
    state->to = xlm_operator(tape, rows, cols, 1, &x, copy_backward, state);
    for (int64_t i = 0; i < rows; i++) {
        xlm_var_read(x, i, 1, row);
        xlm_var_write(state->to, i, 1, row);
    }
    return state->to;
}

static xlm_var *pull_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct pull *pull = self->state;
    const xlm_batch *batch = pass->batch;
    xlm_var *h = xlm_pass_view(pass, 0)->states; /* M x d */
    xlm_var *projected = xlm_linear(tape, copy(tape, h), xlm_loss_param(self, tape, "projection/weight"),
                                    xlm_loss_param(self, tape, "projection/bias")); /* M x e */
    xlm_var *words = xlm_rows(tape, xlm_param(tape, "embeddings/word/weight"), batch->targets, batch->predicted);
    xlm_var *cosines = xlm_cosine(tape, projected, words); /* M x 1 */
    double sum = 0;
    for (int64_t i = 0; i < xlm_var_rows(cosines); i++) {
        xlm_real cosine;
        xlm_var_read(cosines, i, 1, &cosine);
        sum += (double)cosine;
    }
    xlm_loss_metric(self, "cosine", sum, xlm_var_rows(cosines));
    return xlm_scale(tape, xlm_mean(tape, cosines), -pull->sharpness);
}

static void pull_after_update(xlm_loss *self, int64_t step)
{
    struct pull *pull = self->state;
    pull->steps = (double)step + 1;
}

const xlm_loss_class xlm_loss_pull_together = {
    .abi = XLM_LOSS_ABI,
    .name = "pull-together",
    .summary = "pull masked positions towards the embeddings of their words",
    .needs_stream = true,
    .options = pull_options,
    .state_size = sizeof(struct pull),
    .open = pull_open,
    .declare = pull_declare,
    .loss = pull_loss,
    .after_update = pull_after_update,
};
