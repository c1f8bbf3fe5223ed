/* xlm-mpi: causal language modelling (Conneau & Lample 2019). SPDX-License-Identifier: GPL-3.0-or-later
 *
 * L = −mean_t log p(w_t+1 | H[L]_t) over all tokens of a sequence except the last, with H[L] of the encoder with causal
 * attention, so that each token is predicted only from those before it. The text is read as it is, without masks. With label
 * smoothing the loss is that of xlm_vocab_smoothed_cross_entropy. */
#include <xlm/loss.h>

#include <stdio.h>

struct clm { double label_smoothing; };

static const xlm_option clm_options[] = {XLM_LABEL_SMOOTHING_OPTION(offsetof(struct clm, label_smoothing)), XLM_OPTION_END};

static bool clm_open(xlm_loss *self, char *message, size_t size)
{
    if (self->setup->model->head == XLM_HEAD_NONE)
        snprintf(message, size, "the model has no head for words; set head = bert or xlm in [model]");
    return self->setup->model->head != XLM_HEAD_NONE;
}

static void clm_declare(xlm_loss *self, xlm_declaration *declaration)
{
    static const xlm_view causal = {.text = XLM_TEXT_ORIGINAL, .causal = true, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_ALL,
                                    .gradient = true, .dropout = true};
    const struct clm *clm = self->state;
    xlm_declare_view(declaration, &causal);
    xlm_declare_word_metrics(declaration, clm->label_smoothing);
}

static int64_t clm_count(xlm_loss *self, const xlm_pass *pass)
{
    (void)self;
    return pass->batch->original.tokens - pass->batch->original.sequences;
}

static xlm_var *clm_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct clm *clm = self->state;
    const xlm_encoded *view = xlm_pass_view(pass, 0);
    const xlm_lm_settings settings = {.label_smoothing = xlm_pass_label_smoothing(pass, clm->label_smoothing)};
    const int64_t n = clm_count(self, pass);
    xlm_score *scores = xlm_tape_take(tape, sizeof *scores * (uint64_t)n);
    xlm_var *mean = xlm_lm_next_tokens(pass->model, tape, XLM_STACK_ENCODER, view->text, view->states, &settings, scores);
    xlm_loss_word_metrics(self, scores, n, settings.label_smoothing);
    return mean;
}

const xlm_loss_class xlm_loss_clm = {
    .abi = XLM_LOSS_ABI,
    .name = "clm",
    .summary = "causal language modelling: predict each token from those before it",
    .needs_stream = true,
    .options = clm_options,
    .state_size = sizeof(struct clm),
    .open = clm_open,
    .declare = clm_declare,
    .count = clm_count,
    .loss = clm_loss,
};
