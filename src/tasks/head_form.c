/* xlm-mpi: layers between the encoder and the last layer of a task. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/head_form.h"

void xlm_head_form_declare(xlm_loss *self, xlm_declaration *declaration, xlm_head_form form)
{
    const xlm_model_config *model = self->setup->model;
    const int64_t d = model->hidden_size;
    if (form == XLM_FORM_LINEAR)
        return;
    xlm_declare_weight(declaration, "dense_weight", d, d);
    if (form == XLM_FORM_DENSE || model->linear_biases)
        xlm_declare_bias(declaration, "dense_bias", d);
    if (form != XLM_FORM_DENSE_NORM)
        return;
    xlm_declare_gain(declaration, "norm_weight", d);
    if (model->norm_biases)
        xlm_declare_bias(declaration, "norm_bias", d);
}

xlm_var *xlm_head_form_apply(xlm_loss *self, xlm_tape *tape, xlm_var *h, xlm_head_form form, double dropout)
{
    const xlm_model_config *model = self->setup->model;
    if (form != XLM_FORM_DENSE_NORM)
        h = xlm_dropout(tape, h, dropout);
    if (form == XLM_FORM_LINEAR)
        return h;
    xlm_var *weight = xlm_loss_param(self, tape, "dense_weight");
    if (form == XLM_FORM_DENSE) {
        h = xlm_tanh(tape, xlm_linear(tape, h, weight, xlm_loss_param(self, tape, "dense_bias")));
    } else {
        xlm_var *bias = model->linear_biases ? xlm_loss_param(self, tape, "dense_bias") : NULL;
        xlm_var *shift = model->norm_biases ? xlm_loss_param(self, tape, "norm_bias") : NULL;
        h = xlm_activate(tape, (xlm_activation)model->activation, xlm_linear(tape, h, weight, NULL), bias);
        h = xlm_layer_norm(tape, h, xlm_loss_param(self, tape, "norm_weight"), shift, model->layer_norm_epsilon);
    }
    return xlm_dropout(tape, h, dropout);
}
