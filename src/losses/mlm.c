/* xlm-mpi: masked language modelling (Devlin et al. 2019), tlm on a parallel stream (Conneau & Lample 2019).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * L = −(1/M) Σ_t log p(w_t | H[L]_t) over the M masked positions; the stream decides what is masked. With label smoothing the
 * loss is that of xlm_vocab_smoothed_cross_entropy. */
#include <xlm/loss.h>

#include <stdio.h>

struct mlm { double label_smoothing; };

static const xlm_option mlm_options[] = {XLM_LABEL_SMOOTHING_OPTION(offsetof(struct mlm, label_smoothing)), XLM_OPTION_END};

static bool mlm_open(xlm_loss *self, char *message, size_t size)
{
    if (self->setup->model->head == XLM_HEAD_NONE)
        snprintf(message, size, "the model has no head for words; set head = bert or xlm in [model]");
    return self->setup->model->head != XLM_HEAD_NONE;
}

static void mlm_declare(xlm_loss *self, xlm_declaration *declaration)
{
    static const xlm_view masked = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_PREDICTED,
                                    .gradient = true, .dropout = true};
    const struct mlm *mlm = self->state;
    xlm_declare_view(declaration, &masked);
    if (mlm->label_smoothing > 0)
        xlm_declare_training_metric(declaration, "cross_entropy");
}

static xlm_var *mlm_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct mlm *mlm = self->state;
    const xlm_lm_settings settings = {.label_smoothing = xlm_pass_label_smoothing(pass, mlm->label_smoothing)};
    const int32_t n = pass->batch->predicted;
    xlm_score *scores = pass->scores;
    if (scores == NULL && settings.label_smoothing > 0)
        scores = xlm_tape_take(tape, sizeof *scores * (uint64_t)n);
    xlm_var *mean = xlm_lm_cross_entropy(pass->model, tape, XLM_STACK_ENCODER, xlm_pass_view(pass, 0)->states,
                                         pass->batch->targets, &settings, scores);
    for (int32_t i = 0; i < n && settings.label_smoothing > 0; i++)
        xlm_loss_metric(self, "cross_entropy", scores[i].loss, 1);
    return mean;
}

const xlm_loss_class xlm_loss_mlm = {
    .abi = XLM_LOSS_ABI,
    .name = "mlm",
    .summary = "masked language modelling; on a parallel stream, translation language modelling (tlm)",
    .needs_stream = true,
    .options = mlm_options,
    .state_size = sizeof(struct mlm),
    .open = mlm_open,
    .declare = mlm_declare,
    .loss = mlm_loss,
};
