/* xlm-mpi: the classification head and its loss. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/class_head.h"

#include <math.h>

void xlm_class_declare(xlm_loss *self, xlm_declaration *declaration, int64_t classes, bool dense)
{
    static const xlm_view predicted = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_PREDICTED,
                                       .gradient = true, .dropout = true};
    const int64_t d = self->setup->model->hidden_size;
    xlm_declare_view(declaration, &predicted);
    if (dense) {
        xlm_declare_weight(declaration, "dense_weight", d, d);
        xlm_declare_bias(declaration, "dense_bias", d);
    }
    xlm_declare_weight(declaration, "weight", classes, d);
    xlm_declare_bias(declaration, "bias", classes);
}

/* What the last layer reads, N x d. */
static xlm_var *features(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, bool dense, double dropout)
{
    xlm_var *h = xlm_dropout(tape, xlm_pass_view(pass, 0)->states, dropout);
    if (!dense)
        return h;
    xlm_var *weight = xlm_loss_param(self, tape, "dense_weight"), *bias = xlm_loss_param(self, tape, "dense_bias");
    return xlm_dropout(tape, xlm_tanh(tape, xlm_linear(tape, h, weight, bias)), dropout);
}

xlm_var *xlm_class_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, bool dense, double dropout)
{
    xlm_var *h = features(self, tape, pass, dense, dropout);
    xlm_var *weight = xlm_loss_param(self, tape, "weight"), *bias = xlm_loss_param(self, tape, "bias");
    return xlm_vocab_cross_entropy(tape, h, weight, bias, pass->batch->targets, pass->batch->predicted, pass->scores);
}

void xlm_class_predict(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, bool dense, double *predictions)
{
    xlm_var *weight = xlm_loss_param(self, tape, "weight"), *bias = xlm_loss_param(self, tape, "bias");
    const xlm_var *z = xlm_linear(tape, features(self, tape, pass, dense, 0), weight, bias); /* N x classes */
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
