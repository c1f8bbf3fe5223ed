/* xlm-mpi: translation of the model's own translations (Sennrich et al. 2016; Lample et al. 2018).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `label` translates each sentence y of the stream into another language with the present parameters, without dropout or
 * gradient: greedily, or by sampling. The translation x has at most 1.3 |y| + 5 tokens. From it the model learns to write y:
 *
 *     L = −mean_t log p(y_t+1 | D[top]_t)
 *
 * over all tokens of y except the last, where D are the states of the decoder, which reads y and attends to the encoder's H[L] of
 * x. This is the loss of seq2seq with source x and target y. Held-out sentences are always translated greedily. Two such objectives
 * of one stream draw other samples. */
#include <xlm/loss.h>
#include <xlm/search.h>

#include <stddef.h>
#include <stdio.h>

enum { ORIGINAL, SOURCE, TARGET };
enum { DRAW_LANGUAGE, DRAW_SEED }; /* numbers of xlm_pass_uniform */

struct back_translation {
    char **source_languages;
    double temperature;
    int64_t top_k;
    double label_smoothing;
};

static const xlm_option back_translation_options[] = {
    {"source_languages", XLM_OPTION_LIST, NULL, 0, 0, NULL,
     "languages that the sentences are translated into, to be translated back; one is drawn for each, not its own",
     offsetof(struct back_translation, source_languages)},
    {"temperature", XLM_OPTION_REAL, "0", 0, 100, NULL,
     "translate by sampling from p^(1/temperature), where it is at least 0.001; 0: greedily, taking the most probable token each "
     "time",
     offsetof(struct back_translation, temperature)},
    {"top_k", XLM_OPTION_INT, "0", 0, 1e9, NULL, "sample among this many most probable tokens; 0: among all",
     offsetof(struct back_translation, top_k)},
    XLM_LABEL_SMOOTHING_OPTION(offsetof(struct back_translation, label_smoothing)), XLM_OPTION_END};

static int32_t language_id(const xlm_loss_setup *setup, const char *name)
{
    for (int32_t i = 0; i < setup->model->languages; i++)
        if (strcmp(setup->languages[i], name) == 0)
            return i;
    return -1;
}

static int list_length(char *const *list)
{
    int n = 0;
    while (list[n] != NULL)
        n++;
    return n;
}

/* Is there a language in the list that sentences of this language can be translated into? */
static bool has_other(char *const *list, const char *language)
{
    while (*list != NULL && strcmp(*list, language) == 0)
        list++;
    return *list != NULL;
}

static bool languages_are_known(xlm_loss *self, char *message, size_t size)
{
    char *const *list = ((const struct back_translation *)self->state)->source_languages;
    for (int i = 0; list[i] != NULL; i++) {
        if (language_id(self->setup, list[i]) < 0) {
            snprintf(message, size, "source_languages: the corpus has no language %s", list[i]);
            return false;
        }
        for (int k = 0; k < i; k++)
            if (strcmp(list[i], list[k]) == 0) {
                snprintf(message, size, "source_languages has %s twice", list[i]);
                return false;
            }
    }
    for (const char *const *own = self->stream->components; own != NULL && *own != NULL; own++)
        if (!has_other(list, *own)) {
            snprintf(message, size, "[stream %s] has text in %s, and source_languages has no other language to translate it into",
                     self->stream->name, *own);
            return false;
        }
    return true;
}

static bool back_translation_open(xlm_loss *self, char *message, size_t size)
{
    const struct back_translation *b = self->state;
    const xlm_loss_stream *stream = self->stream;
    const xlm_model_config *model = self->setup->model;
    if (model->head == XLM_HEAD_NONE)
        snprintf(message, size, "the model has no head for words; set head = bert or xlm in [model]");
    else if (!xlm_decoder_knows_language(model, self->setup->specials))
        snprintf(message, size, "without language embeddings or tokens the decoder cannot know into which language to translate; "
                 "set language_embeddings = true or language_tokens = true in [model]");
    else if (stream->parallel)
        snprintf(message, size, "[stream %s] has pairs, and back-translation is of text without translation; set type = "
                 "monolingual there, or plugin = seq2seq here", stream->name);
    else if (stream->joined)
        snprintf(message, size, "a sequence of [stream %s] can hold several sentences; set join_sentences = false there",
                 stream->name);
    else if (b->temperature > 0 && b->temperature < 1e-3) /* logits / temperature would leave the range of float */
        snprintf(message, size, "temperature = %g: must be 0, or from 0.001 to 100", b->temperature);
    else if (b->top_k > 0 && b->temperature == 0)
        snprintf(message, size, "top_k is for samples, and temperature = 0 makes none; set temperature = 1");
    else if (b->top_k > model->vocabulary)
        snprintf(message, size, "top_k = %lld is more than the vocabulary has, %lld", (long long)b->top_k,
                 (long long)model->vocabulary);
    else
        return languages_are_known(self, message, size);
    return false;
}

static void back_translation_declare(xlm_loss *self, xlm_declaration *declaration)
{
    static const xlm_view views[] = {
        [ORIGINAL] = {.text = XLM_TEXT_ORIGINAL, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_ALL},
        [SOURCE] = {.text = XLM_TEXT_MADE, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_ALL, .gradient = true, .dropout = true},
        [TARGET] = {.text = XLM_TEXT_ORIGINAL, .stack = XLM_STACK_DECODER, .memory = SOURCE, .layer = XLM_TOP_LAYER,
                    .rows = XLM_ROWS_ALL, .gradient = true, .dropout = true},
    };
    xlm_declare_text(declaration, self->setup->model->positions);
    for (int i = 0; i <= TARGET; i++)
        xlm_declare_view(declaration, &views[i]);
    xlm_declare_word_metrics(declaration, ((const struct back_translation *)self->state)->label_smoothing);
    xlm_declare_metric(declaration, "length_ratio");
}

/* Draws one of the languages of the list other than the sentence's own. */
static int32_t draw_language(const xlm_loss *self, const xlm_pass *pass, xlm_row_key key, int32_t own)
{
    char *const *list = ((const struct back_translation *)self->state)->source_languages;
    const int n = list_length(list);
    int others = 0;
    for (int i = 0; i < n; i++)
        others += language_id(self->setup, list[i]) != own;
    int32_t left = (int32_t)(xlm_pass_uniform(pass, key, DRAW_LANGUAGE) * others);
    for (int i = 0; i < n; i++) {
        const int32_t id = language_id(self->setup, list[i]);
        if (id != own && left-- == 0)
            return id;
    }
    return own; /* never reached: open refuses streams with such sentences */
}

static int32_t *take(xlm_tape *tape, int32_t n) { return xlm_tape_take(tape, sizeof(int32_t) * (uint64_t)n); }

/* Maximum length of the translation of n words: 1.3 n + 5 tokens, but with <s> and </s> no more than the model has positions. */
static int32_t max_tokens(const xlm_loss *self, int32_t words)
{
    const int64_t wanted = (int64_t)words * 13 / 10 + 5, room = self->setup->model->positions - 2;
    return (int32_t)(wanted < room ? wanted : room);
}

/* The number of tokens of a sequence that are of its text: of what they stand for, unknown ones too. */
static int32_t count_words(const xlm_text *text, int32_t sequence)
{
    int32_t n = 0;
    for (int32_t row = text->offsets[sequence]; row < text->offsets[sequence + 1]; row++)
        n += xlm_is_text(text->specials, text->ids[row]) || text->ids[row] == text->specials->id[XLM_UNK];
    return n;
}

/* Of the samples of this objective: draws of a search know the step and the sentence, but not who asks. */
static uint64_t search_seed(const xlm_loss *self, const xlm_pass *pass)
{
    const double drawn = xlm_pass_uniform(pass, (xlm_row_key){0}, DRAW_SEED);
    return self->setup->seed ^ (uint64_t)(drawn * 4294967296.0);
}

static const xlm_search_result *translate(const xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, const int32_t *languages)
{
    const struct back_translation *b = self->state;
    const xlm_encoded *original = xlm_pass_view(pass, ORIGINAL);
    const xlm_text *text = original->text;
    int32_t *longest = take(tape, text->sequences);
    xlm_row_key *keys = xlm_tape_take(tape, sizeof *keys * (uint64_t)text->sequences);
    for (int32_t s = 0; s < text->sequences; s++) {
        longest[s] = max_tokens(self, count_words(text, s));
        keys[s] = text->keys[text->offsets[s]];
    }
    const xlm_search_options options = {.beam = 1, .length_penalty = 1, .temperature = pass->held_out ? 0 : b->temperature,
                                        .top_k = b->top_k, .seed = search_seed(self, pass), .step = (uint64_t)pass->step};
    const xlm_search_input input = {.sentences = text->sequences, .memory = original->states, .memory_offsets = text->offsets,
                                    .languages = languages, .max_tokens = longest, .keys = keys};
    return xlm_search(pass->model, tape, text->specials, &options, &input);
}

/* Makes the translations a text, laid out like the source of a pair: <s>, the tokens, </s>. */
static void make_sources(xlm_tape *tape, const xlm_pass *pass, const xlm_search_result *results, const int32_t *languages)
{
    const xlm_text *text = &pass->batch->original;
    int32_t *offsets = take(tape, text->sequences + 1);
    offsets[0] = 0;
    for (int32_t s = 0; s < text->sequences; s++)
        offsets[s + 1] = offsets[s] + results[s].best[0].tokens + 2;
    int32_t *ids = take(tape, offsets[text->sequences]), *of_rows = take(tape, offsets[text->sequences]);
    for (int32_t s = 0; s < text->sequences; s++) {
        const xlm_hypothesis *best = &results[s].best[0];
        int32_t *row = ids + offsets[s];
        row[0] = text->specials->id[XLM_BOS];
        for (int32_t i = 0; i < best->tokens; i++)
            row[1 + i] = best->ids[i];
        row[1 + best->tokens] = text->specials->id[XLM_EOS];
        for (int32_t i = offsets[s]; i < offsets[s + 1]; i++)
            of_rows[i] = languages[s];
    }
    xlm_pass_make_text(pass, offsets, ids, of_rows, NULL);
}

static int64_t back_translation_label(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const xlm_text *text = &pass->batch->original;
    const int64_t terms = text->tokens - text->sequences;
    if (terms == 0)
        return 0;
    int32_t *languages = take(tape, text->sequences);
    for (int32_t s = 0; s < text->sequences; s++)
        languages[s] = draw_language(self, pass, text->keys[text->offsets[s]], text->languages[text->offsets[s]]);
    make_sources(tape, pass, translate(self, tape, pass, languages), languages);
    return terms;
}

static xlm_var *back_translation_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct back_translation *b = self->state;
    const xlm_encoded *source = xlm_pass_view(pass, SOURCE), *target = xlm_pass_view(pass, TARGET);
    const xlm_lm_settings settings = {.label_smoothing = xlm_pass_label_smoothing(pass, b->label_smoothing)};
    const int64_t n = target->text->tokens - target->text->sequences;
    xlm_score *scores = xlm_tape_take(tape, sizeof *scores * (uint64_t)n);
    xlm_var *mean = xlm_lm_next_tokens(pass->model, tape, XLM_STACK_DECODER, target->text, target->states, &settings, scores);
    xlm_loss_word_metrics(self, scores, n, settings.label_smoothing);
    xlm_loss_metric(self, "length_ratio", source->text->tokens - source->text->sequences, n);
    return mean;
}

const xlm_loss_class xlm_loss_back_translation = {
    .abi = XLM_LOSS_ABI,
    .name = "back-translation",
    .summary = "the decoder writes each sentence from the model's own translation of it into another language",
    .needs_stream = true,
    .options = back_translation_options,
    .state_size = sizeof(struct back_translation),
    .open = back_translation_open,
    .declare = back_translation_declare,
    .label = back_translation_label,
    .loss = back_translation_loss,
};
