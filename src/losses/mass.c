/* xlm-mpi: masked sequence to sequence pre-training (MASS, Song et al. 2019). SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The stream masks a fragment of each sentence (mask_unit = fragment, mask = 0.5), in one span or in several. The decoder
 * predicts the tokens w_t of the fragment from the tokens w_t−1 before them and from what the encoder reads of the rest:
 *
 *     L = −(1/M) Σ_t log p(w_t | D[top]_t)
 *
 * The decoder reads the M tokens w_t−1, unmasked, at the positions that they have in the sentence. It attends to H[L] of the
 * corrupted text at the rows that are not <mask>. A sentence in which nothing is masked, such as one of fewer than 5 tokens, has
 * no terms. */
#include <xlm/loss.h>

#include <stddef.h>
#include <stdio.h>

enum { SOURCE, TARGET };

struct mass { double label_smoothing; };

static const xlm_option mass_options[] = {XLM_LABEL_SMOOTHING_OPTION(offsetof(struct mass, label_smoothing)), XLM_OPTION_END};

static bool mass_open(xlm_loss *self, char *message, size_t size)
{
    const xlm_loss_stream *stream = self->stream;
    if (self->setup->model->head == XLM_HEAD_NONE)
        snprintf(message, size, "the model has no head for words; set head = bert or xlm in [model]");
    else if (stream->parallel)
        snprintf(message, size, "[stream %s] has pairs, and fragments are of single sentences; set type = monolingual there",
                 stream->name);
    else if (stream->joined)
        snprintf(message, size, "a sequence of [stream %s] can hold several sentences; set join_sentences = false there",
                 stream->name);
    else if (stream->noise)
        snprintf(message, size, "[stream %s] has noise, and fragments are of the text as it was read; remove noise_shuffle, "
                 "noise_drop, noise_blank and stages with noise there", stream->name);
    else if (stream->mask == 0 || !stream->fragment)
        snprintf(message, size, "[stream %s] masks no fragments; set mask = 0.5 and mask_unit = fragment there", stream->name);
    else {
        if (stream->mask < 0.3)
            snprintf(message, size, "mask = %g of [stream %s] makes short fragments, less than a third of a sentence; MASS has "
                     "mask = 0.5", stream->mask, stream->name);
        return true;
    }
    return false;
}

static void mass_declare(xlm_loss *self, xlm_declaration *declaration)
{
    static const xlm_view source = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_UNMASKED,
                                    .gradient = true, .dropout = true};
    static const xlm_view target = {.text = XLM_TEXT_MADE, .stack = XLM_STACK_DECODER, .memory = SOURCE, .layer = XLM_TOP_LAYER,
                                    .rows = XLM_ROWS_ALL, .gradient = true, .dropout = true};
    xlm_declare_text(declaration, self->setup->model->positions);
    xlm_declare_view(declaration, &source);
    xlm_declare_view(declaration, &target);
    xlm_declare_word_metrics(declaration, ((const struct mass *)self->state)->label_smoothing);
}

/* What is predicted. */
struct terms {
    int32_t n;
    int32_t *rows;    /* [n] of the decoder's text, ascending */
    int32_t *targets; /* [n] */
};

/* The decoder's text as it grows. */
struct made {
    int32_t n, *offsets, *ids, *languages, *positions;
};

/* Appends the token of a row of the text, unmasked and at its own position. */
static void append(struct made *to, const xlm_text *text, int32_t row)
{
    to->ids[to->n] = text->unmasked[row];
    to->languages[to->n] = text->unswitched[row];
    to->positions[to->n++] = text->positions[row];
}

static int32_t *take(xlm_tape *tape, int32_t n) { return xlm_tape_take(tape, sizeof(int32_t) * (uint64_t)(n > 0 ? n : 1)); }

static int64_t mass_label(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const xlm_batch *batch = pass->batch;
    const xlm_text *text = &batch->corrupted;
    const int32_t max = batch->predicted + text->sequences;
    struct made made = {.offsets = take(tape, text->sequences + 1), .ids = take(tape, max), .languages = take(tape, max),
                        .positions = take(tape, max)};
    struct terms *terms = xlm_pass_keep(pass, sizeof *terms);
    *terms = (struct terms){0, xlm_pass_keep(pass, sizeof(int32_t) * (uint64_t)max),
                            xlm_pass_keep(pass, sizeof(int32_t) * (uint64_t)max)};
    (void)self;
    made.offsets[0] = 0;
    for (int32_t s = 0, k = 0; s < text->sequences; s++) {
        for (; k < batch->predicted && batch->predicted_rows[k] < text->offsets[s + 1]; k++) {
            if (batch->predicted_rows[k] == text->offsets[s]) /* <s>, which a stage has chosen: nothing is before it */
                continue;
            terms->rows[terms->n] = made.n;
            terms->targets[terms->n++] = batch->targets[k];
            append(&made, text, batch->predicted_rows[k] - 1);
        }
        if (made.n == made.offsets[s]) /* no sequence of a text is empty; this token predicts nothing */
            append(&made, text, text->offsets[s]);
        made.offsets[s + 1] = made.n;
    }
    if (terms->n > 0)
        xlm_pass_make_text(pass, made.offsets, made.ids, made.languages, made.positions);
    return terms->n;
}

static xlm_var *mass_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct mass *mass = self->state;
    const struct terms *terms = pass->labels;
    const xlm_lm_settings settings = {.label_smoothing = xlm_pass_label_smoothing(pass, mass->label_smoothing)};
    const xlm_encoded *target = xlm_pass_view(pass, TARGET);
    xlm_score *scores = xlm_tape_take(tape, sizeof *scores * (uint64_t)terms->n);
    xlm_var *h = terms->n < target->text->tokens ? xlm_rows(tape, target->states, terms->rows, terms->n) : target->states;
    xlm_var *mean = xlm_lm_cross_entropy(pass->model, tape, XLM_STACK_DECODER, h, terms->targets, &settings, scores);
    xlm_loss_word_metrics(self, scores, terms->n, settings.label_smoothing);
    return mean;
}

const xlm_loss_class xlm_loss_mass = {
    .abi = XLM_LOSS_ABI,
    .name = "mass",
    .summary = "the decoder predicts a masked fragment of each sentence (MASS)",
    .needs_stream = true,
    .options = mass_options,
    .state_size = sizeof(struct mass),
    .open = mass_open,
    .declare = mass_declare,
    .label = mass_label,
    .loss = mass_loss,
};
