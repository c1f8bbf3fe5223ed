/* xlm-mpi: the head that tells classes apart, and its loss. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/class_head.h"

#include <math.h>

void xlm_class_declare(xlm_loss *self, xlm_declaration *declaration, int64_t classes, bool dense)
{
    static const xlm_view masked = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_PREDICTED,
                                    .gradient = true, .dropout = true};
    const int64_t d = self->setup->model->hidden_size;
    xlm_declare_view(declaration, &masked);
    if (dense) {
        xlm_declare_weight(declaration, "dense_weight", d, d);
        xlm_declare_bias(declaration, "dense_bias", d);
    }
    xlm_declare_weight(declaration, "weight", classes, d);
    xlm_declare_bias(declaration, "bias", classes);
}

struct hyperbolic {
    xlm_var *x, *y;
    xlm_real *value; /* tanh of x, n x d */
};

static void hyperbolic_backward(void *pointer)
{
    const struct hyperbolic *h = pointer;
    const int64_t n = xlm_var_rows(h->y) * xlm_var_cols(h->y);
    const xlm_real *dy = xlm_var_gradient(h->y);
    xlm_real *dx = xlm_var_input_gradient(h->x);
    for (int64_t i = 0; dx != NULL && i < n; i++)
        dx[i] += dy[i] * (1 - h->value[i] * h->value[i]);
}

/* y = tanh(x), element by element. x has only one row per sequence, so the cost is small compared with the encoder's. */
static xlm_var *hyperbolic_tangent(xlm_tape *tape, xlm_var *x)
{
    const int64_t rows = xlm_var_rows(x), cols = xlm_var_cols(x);
    struct hyperbolic *h = xlm_tape_take(tape, sizeof *h);
    *h = (struct hyperbolic){.x = x, .value = xlm_tape_take(tape, sizeof(xlm_real) * (uint64_t)(rows * cols))};
    xlm_var_read(x, 0, rows, h->value);
    for (int64_t i = 0; i < rows * cols; i++)
        h->value[i] = (xlm_real)tanh((double)h->value[i]);
    h->y = xlm_operator(tape, rows, cols, 1, &x, hyperbolic_backward, h);
    xlm_var_write(h->y, 0, rows, h->value);
    return h->y;
}

/* What the last layer reads, N x d. */
static xlm_var *features(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, bool dense, double dropout)
{
    xlm_var *h = xlm_dropout(tape, xlm_pass_view(pass, 0)->states, dropout);
    if (!dense)
        return h;
    xlm_var *weight = xlm_loss_param(self, tape, "dense_weight"), *bias = xlm_loss_param(self, tape, "dense_bias");
    return xlm_dropout(tape, hyperbolic_tangent(tape, xlm_linear(tape, h, weight, bias)), dropout);
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
