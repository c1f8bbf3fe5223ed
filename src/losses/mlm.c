/* xlm-mpi: masked language modelling (Devlin et al. 2019), tlm on a parallel stream (Conneau & Lample 2019).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * L = −(1/M) Σ_t log p(w_t | H[L]_t) over the M masked positions; the stream decides what is masked. */
#include <xlm/loss.h>

#include <stdio.h>

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
    (void)self;
    xlm_declare_view(declaration, &masked);
}

static xlm_var *mlm_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    (void)self;
    return xlm_lm_cross_entropy(pass->model, tape, xlm_pass_view(pass, 0)->states, pass->batch->targets, pass->scores);
}

const xlm_loss_class xlm_loss_mlm = {
    .abi = XLM_LOSS_ABI,
    .name = "mlm",
    .summary = "masked language modelling; on a parallel stream, translation language modelling (tlm)",
    .needs_stream = true,
    .open = mlm_open,
    .declare = mlm_declare,
    .loss = mlm_loss,
};
