/* xlm-mpi: an objective from outside, for tests: were the two parts of a text swapped? (ALBERT, Lan et al. 2020)
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * L = −mean_s log softmax(W h_s + b)[swapped_s], h_s the last state of <s>: a linear classifier with two classes, of the
 * sequences that the stage sentence-order.c has annotated with 0 or 1. */
#include <xlm/loss.h>

#include <stdio.h>

static bool order_open(xlm_loss *self, char *message, size_t size)
{
    if (xlm_loss_stream_annotates(self->stream, "swapped"))
        return true;
    snprintf(message, size, "[stream %s] does not say which texts are swapped; add a section [stage NAME] with plugin = "
             "./sentence-order.so and stream = %s", self->stream->name, self->stream->name);
    return false;
}

static void order_declare(xlm_loss *self, xlm_declaration *declaration)
{
    const xlm_view first = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_FIRST, .gradient = true,
                            .dropout = true};
    xlm_declare_view(declaration, &first);
    xlm_declare_weight(declaration, "weight", 2, self->setup->model->hidden_size);
    xlm_declare_bias(declaration, "bias", 2);
    xlm_declare_metric(declaration, "accuracy");
}

static int64_t order_count(xlm_loss *self, const xlm_pass *pass)
{
    const int32_t *swapped = xlm_batch_annotation(pass->batch, "swapped");
    int64_t n = 0;
    (void)self;
    for (int32_t s = 0; s < pass->batch->corrupted.sequences; s++)
        n += swapped[s] >= 0;
    return n;
}

static xlm_var *order_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const int32_t *swapped = xlm_batch_annotation(pass->batch, "swapped");
    const uint64_t max_sequences = (uint64_t)pass->batch->corrupted.sequences;
    int32_t *sequence = xlm_tape_take(tape, sizeof *sequence * max_sequences);
    int32_t *label = xlm_tape_take(tape, sizeof *label * max_sequences);
    xlm_score *scores = xlm_tape_take(tape, sizeof *scores * max_sequences);
    int32_t n = 0;
    for (int32_t s = 0; s < pass->batch->corrupted.sequences; s++)
        if (swapped[s] >= 0) {
            sequence[n] = s;
            label[n++] = swapped[s];
        }
    xlm_var *h = xlm_rows(tape, xlm_pass_view(pass, 0)->states, sequence, n); /* n x d */
    xlm_var *logits = xlm_linear(tape, h, xlm_loss_param(self, tape, "weight"), xlm_loss_param(self, tape, "bias"));
    xlm_var *mean = xlm_cross_entropy(tape, logits, label, scores);
    for (int32_t i = 0; i < n; i++)
        xlm_loss_metric(self, "accuracy", scores[i].correct, 1);
    return mean;
}

extern const xlm_loss_class xlm_loss_order_prediction;
const xlm_loss_class xlm_loss_order_prediction = {
    .abi = XLM_LOSS_ABI,
    .name = "order-prediction",
    .summary = "whether the two parts of a text were swapped",
    .needs_stream = true,
    .open = order_open,
    .declare = order_declare,
    .count = order_count,
    .loss = order_loss,
};
