/* xlm-mpi: sentence-order prediction (ALBERT, Lan et al. 2020). SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Next to mlm, on its stream. A stage in this file cuts each sequence of n ≥ 2 sentences into two segments, at one of the n − 1
 * boundaries between sentences, drawn uniformly, and swaps the segments with probability 1/2. Tokens of the segment that is then
 * first have type 0, those of the other type 1. With h_s the state H[L] of the first token of sequence s, and y_s = 1 if its
 * segments were swapped, else 0, over the S sequences of two sentences or more,
 *
 *     L = −(1/S) Σ_s log softmax(W tanh(P h_s + p) + b)[y_s]           P: d x d, W: 2 x d
 *
 * P is the pooler of BERT and ALBERT; as in their pre-training, there is no dropout after it. A sequence of one sentence has no
 * order: it is left as it is, with type 0. Other objectives of the stream read the rearranged text too, also on held-out text. */
#include <xlm/loss.h>

#include <stdio.h>

static const char SWAPPED[] = "swapped"; /* annotation: 0 or 1 for each sequence; −1 for one of a single sentence */

/* ---- the stage ---- */

enum { DRAW_SWAP, DRAW_CUT };

static void reverse(xlm_stage_span *span, int32_t n)
{
    for (int32_t i = 0; i < n / 2; i++) {
        const xlm_stage_span other = span[i];
        span[i] = span[n - 1 - i];
        span[n - 1 - i] = other;
    }
}

static void arrange(xlm_stage *self, const xlm_stage_pass *pass, xlm_stage_text *text)
{
    int32_t *swapped = xlm_stage_annotate(pass, SWAPPED);
    (void)self;
    for (int32_t s = 0; s < text->sequences; s++) {
        xlm_stage_span *span = text->spans + text->offsets[s];
        const int32_t n = text->offsets[s + 1] - text->offsets[s];
        if (n < 2)
            continue; /* stays −1 */
        int32_t first = 1 + (int32_t)(xlm_stage_uniform(pass, text->keys[s], DRAW_CUT) * (n - 1)); /* sentences of segment 0 */
        swapped[s] = xlm_stage_uniform(pass, text->keys[s], DRAW_SWAP) < 0.5;
        if (swapped[s]) { /* reversing the whole, then each segment, swaps the segments */
            reverse(span, n);
            first = n - first;
            reverse(span, first);
            reverse(span + first, n - first);
        }
        for (int32_t i = 0; i < n; i++)
            span[i].side = i >= first;
    }
}

static const xlm_stage_annotation annotations[] = {{SWAPPED, XLM_AXIS_SEQUENCES}, {NULL, XLM_AXIS_TOKENS}};

static const xlm_stage_plugin stage = {
    .abi = XLM_STAGE_ABI,
    .name = "sop",
    .summary = "cut a text into two segments, and swap them in half of the texts",
    .annotations = annotations,
    .arrange = arrange,
};

/* ---- the objective ---- */

static bool sop_open(xlm_loss *self, char *message, size_t size)
{
    const xlm_loss_stream *stream = self->stream;
    if (!xlm_loss_stream_annotates(stream, SWAPPED))
        snprintf(message, size, "[stream %s] does not say which of its texts are swapped; it lacks this objective's stage",
                 stream->name);
    else if (!stream->joined)
        snprintf(message, size, "[stream %s] has one sentence in a sequence, which has no order; set join_sentences = true there",
                 stream->name);
    else {
        if (!self->setup->model->token_types)
            snprintf(message, size, "without token types the model does not see where the second segment begins; set token_types "
                     "= true in [model], as ALBERT has");
        return true;
    }
    return false;
}

static void sop_declare(xlm_loss *self, xlm_declaration *declaration)
{
    const int64_t d = self->setup->model->hidden_size;
    const xlm_view first = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_FIRST, .gradient = true,
                            .dropout = true};
    xlm_declare_view(declaration, &first);
    xlm_declare_weight(declaration, "pooler/weight", d, d);
    xlm_declare_bias(declaration, "pooler/bias", d);
    xlm_declare_weight(declaration, "classifier/weight", 2, d);
    xlm_declare_bias(declaration, "classifier/bias", 2);
    xlm_declare_metric(declaration, "accuracy");
}

static int64_t sop_count(xlm_loss *self, const xlm_pass *pass)
{
    const int32_t *swapped = xlm_batch_annotation(pass->batch, SWAPPED);
    int64_t n = 0;
    (void)self;
    for (int32_t s = 0; s < pass->batch->corrupted.sequences; s++)
        n += swapped[s] >= 0;
    return n;
}

static xlm_var *sop_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const int32_t *swapped = xlm_batch_annotation(pass->batch, SWAPPED);
    const uint64_t sequences = (uint64_t)pass->batch->corrupted.sequences;
    int32_t *index = xlm_tape_take(tape, sizeof *index * sequences), *label = xlm_tape_take(tape, sizeof *label * sequences);
    xlm_score *scores = xlm_tape_take(tape, sizeof *scores * sequences);
    int32_t n = 0;
    for (int32_t s = 0; s < pass->batch->corrupted.sequences; s++)
        if (swapped[s] >= 0) {
            index[n] = s;
            label[n++] = swapped[s];
        }
    xlm_var *h = xlm_rows(tape, xlm_pass_view(pass, 0)->states, index, n); /* n x d */
    xlm_var *pooled = xlm_tanh(tape, xlm_linear(tape, h, xlm_loss_param(self, tape, "pooler/weight"),
                                                xlm_loss_param(self, tape, "pooler/bias")));
    xlm_var *logits = xlm_linear(tape, pooled, xlm_loss_param(self, tape, "classifier/weight"),
                                 xlm_loss_param(self, tape, "classifier/bias")); /* n x 2 */
    xlm_var *mean = xlm_cross_entropy(tape, logits, label, scores);
    for (int32_t i = 0; i < n; i++)
        xlm_loss_metric(self, "accuracy", scores[i].correct, 1);
    return mean;
}

const xlm_loss_class xlm_loss_sop = {
    .abi = XLM_LOSS_ABI,
    .name = "sop",
    .summary = "predict whether the two segments of a text, swapped in half of the stream's texts, are in order (ALBERT)",
    .needs_stream = true,
    .stage = &stage,
    .open = sop_open,
    .declare = sop_declare,
    .count = sop_count,
    .loss = sop_loss,
};
