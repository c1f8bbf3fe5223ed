/* xlm-mpi: translation and denoising auto-encoding with an encoder and a decoder. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * L = −mean_t log p(y_t+1 | D[top]_t) over all tokens of the target y except the last, where D are the states of the decoder,
 * which reads the target with causal attention and attends to the encoder's H[L] of the source. The stream decides what source
 * and target are:
 *
 *   type parallel             source: the first side of a pair; target: the second (Vaswani et al. 2017). With noise on the
 *                             stream, the source is the first side after it
 *   type monolingual, noise   source: the text after noise; target: the text (Lample et al. 2018)
 *
 * The language embeddings of the target, or its first input, tell the decoder which language to write. With label smoothing the
 * loss is that of xlm_vocab_smoothed_cross_entropy. */
#include <xlm/loss.h>

#include <stdio.h>
#include <string.h>

struct seq2seq { double label_smoothing; };

static const xlm_option seq2seq_options[] = {XLM_LABEL_SMOOTHING_OPTION(offsetof(struct seq2seq, label_smoothing)),
                                             XLM_OPTION_END};

enum { SOURCE, TARGET };

/* Is the stream's text translated into more than one language? Names of pairs are "en-de". */
static bool has_several_targets(const xlm_loss_stream *stream)
{
    if (!stream->parallel || stream->components == NULL || stream->components[0] == NULL)
        return false;
    const char *const *pair = stream->components, *target = strchr(pair[0], '-');
    while (*pair != NULL && target != NULL && strchr(*pair, '-') != NULL && strcmp(strchr(*pair, '-'), target) == 0)
        pair++;
    return stream->drawn_sides || *pair != NULL;
}

static bool seq2seq_open(xlm_loss *self, char *message, size_t size)
{
    const xlm_loss_stream *stream = self->stream;
    const xlm_model_config *model = self->setup->model;
    if (model->head == XLM_HEAD_NONE)
        snprintf(message, size, "the model has no head for words; set head = bert or xlm in [model]");
    else if (!stream->parallel && !stream->noise)
        snprintf(message, size, "[stream %s] has neither pairs to translate nor noise to undo; set type = parallel, or "
                 "noise_shuffle, noise_drop or noise_blank there", stream->name);
    else if (stream->noise && stream->mask > 0)
        snprintf(message, size, "it reads the corrupted text of [stream %s], which has masks beside noise; set mask = 0 there, and "
                 "noise_blank for blanks", stream->name);
    else {
        if (has_several_targets(stream) && !xlm_decoder_knows_language(model, self->setup->specials))
            snprintf(message, size, "[stream %s] has translations into several languages, and without language embeddings or "
                     "tokens the decoder cannot know into which; set language_embeddings = true or language_tokens = true in "
                     "[model]", stream->name);
        else if (stream->parallel && stream->several_pairs)
            snprintf(message, size, "a sequence of [stream %s] can hold several pairs, which are translated together; set "
                     "form = bert for one at a time", stream->name);
        return true;
    }
    return false;
}

static void seq2seq_declare(xlm_loss *self, xlm_declaration *declaration)
{
    const bool pairs = self->stream->parallel;
    const xlm_view source = {
        .text = self->stream->noise ? XLM_TEXT_CORRUPTED : XLM_TEXT_ORIGINAL, .side = pairs ? XLM_SIDE_FIRST : XLM_SIDE_BOTH,
        .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_ALL, .gradient = true, .dropout = true,
    };
    const xlm_view target = {
        .text = XLM_TEXT_ORIGINAL, .side = pairs ? XLM_SIDE_SECOND : XLM_SIDE_BOTH, .stack = XLM_STACK_DECODER, .memory = SOURCE,
        .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_ALL, .gradient = true, .dropout = true,
    };
    xlm_declare_view(declaration, &source);
    xlm_declare_view(declaration, &target);
    xlm_declare_word_metrics(declaration, ((const struct seq2seq *)self->state)->label_smoothing);
}

/* Number of tokens of the target except <s>, with which each of its sequences begins. */
static int64_t seq2seq_count(xlm_loss *self, const xlm_pass *pass)
{
    const xlm_text *text = &pass->batch->original;
    const int32_t bos = text->specials->id[XLM_BOS];
    int64_t n = 0;
    for (int32_t s = 0; s < text->sequences; s++) {
        bool first = true;
        for (int32_t i = text->offsets[s]; i < text->offsets[s + 1]; i++) {
            if (self->stream->parallel && text->types[i] != 1)
                continue;
            n += !first || text->ids[i] != bos;
            first = false;
        }
    }
    return n;
}

static xlm_var *seq2seq_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct seq2seq *seq2seq = self->state;
    const xlm_encoded *target = xlm_pass_view(pass, TARGET);
    const xlm_lm_settings settings = {.label_smoothing = xlm_pass_label_smoothing(pass, seq2seq->label_smoothing)};
    const int64_t n = seq2seq_count(self, pass);
    xlm_score *scores = xlm_tape_take(tape, sizeof *scores * (uint64_t)n);
    xlm_var *mean = xlm_lm_next_tokens(pass->model, tape, XLM_STACK_DECODER, target->text, target->states, &settings, scores);
    xlm_loss_word_metrics(self, scores, n, settings.label_smoothing);
    return mean;
}

const xlm_loss_class xlm_loss_seq2seq = {
    .abi = XLM_LOSS_ABI,
    .name = "seq2seq",
    .summary = "the decoder translates the first side of pairs into the second, or undoes the noise of a text",
    .needs_stream = true,
    .options = seq2seq_options,
    .state_size = sizeof(struct seq2seq),
    .open = seq2seq_open,
    .declare = seq2seq_declare,
    .count = seq2seq_count,
    .loss = seq2seq_loss,
};
