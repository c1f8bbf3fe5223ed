/* xlm-mpi: the classification head and its loss. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/class_head.h"

#include <math.h>

void xlm_class_declare(xlm_loss *self, xlm_declaration *declaration, const xlm_class_head *head)
{
    const xlm_view view = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER,
                           .rows = head->mean ? XLM_ROWS_ALL : XLM_ROWS_PREDICTED, .gradient = true, .dropout = true};
    xlm_declare_view(declaration, &view);
    xlm_head_form_declare(self, declaration, head->form);
    xlm_declare_weight(declaration, "weight", head->classes, self->setup->model->hidden_size);
    xlm_declare_bias(declaration, "bias", head->classes);
}

/* What the last layer reads, N x d. */
static xlm_var *features(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, const xlm_class_head *head, double dropout)
{
    const xlm_text *text = &pass->batch->corrupted;
    xlm_var *h = xlm_pass_view(pass, 0)->states;
    if (head->mean)
        h = xlm_sequence_mean(tape, h, text->offsets, text->sequences, NULL);
    return xlm_head_form_apply(self, tape, h, head->form, dropout);
}

xlm_var *xlm_class_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, const xlm_class_head *head)
{
    xlm_var *h = features(self, tape, pass, head, head->dropout);
    xlm_var *weight = xlm_loss_param(self, tape, "weight"), *bias = xlm_loss_param(self, tape, "bias");
    return xlm_vocab_cross_entropy(tape, h, weight, bias, pass->batch->targets, pass->batch->predicted, pass->scores);
}

void xlm_class_predict(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, const xlm_class_head *head, double *predictions)
{
    xlm_var *weight = xlm_loss_param(self, tape, "weight"), *bias = xlm_loss_param(self, tape, "bias");
    const xlm_var *z = xlm_linear(tape, features(self, tape, pass, head, 0), weight, bias); /* N x classes */
    const int64_t rows = xlm_var_rows(z), classes = xlm_var_cols(z);
    xlm_real *row = xlm_tape_take(tape, sizeof *row * (uint64_t)classes);
    for (int64_t i = 0; i < rows; i++, predictions += classes) {
        double largest = -INFINITY, sum = 0;
        xlm_var_read(z, i, 1, row);
        for (int64_t k = 0; k < classes; k++)
            largest = fmax(largest, (double)row[k]);
        for (int64_t k = 0; k < classes; k++)
            sum += predictions[k] = exp((double)row[k] - largest);
        for (int64_t k = 0; k < classes; k++)
            predictions[k] /= sum;
    }
}
