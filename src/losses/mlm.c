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

static xlm_var *mlm_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    (void)self;
    return xlm_lm_cross_entropy(pass->model, tape, pass->masked, pass->batch->targets, pass->scores);
}

const xlm_loss_class xlm_loss_mlm = {
    .abi = XLM_LOSS_ABI,
    .name = "mlm",
    .summary = "masked language modelling; on a parallel stream, translation language modelling (tlm)",
    .needs_stream = true,
    .masked_only = true,
    .open = mlm_open,
    .loss = mlm_loss,
};
