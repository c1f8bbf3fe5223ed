/* xlm-mpi: sentences translated by an encoder and a decoder. SPDX-License-Identifier: GPL-3.0-or-later */
#include "translation/translate.h"

#include <math.h>
#include <string.h>

#include "comm/turns.h"
#include "tensor/parameters.h"
#include "tensor/tape.h"
#include "tensor/variable.h"
#include "translation/batches.h"
#include "translation/results.h"
#include "translation/state_links.h"
#include "translation/token_links.h"

const xlm_translation_options xlm_translation_defaults = {
    .search = {.beam = 1, .length_penalty = 1}, .n_best = 1, .length_ratio = 1.5, .length_constant = 10, .batch_tokens = 16384,
};

/* ---- before it starts ---- */

int64_t xlm_translation_longest(const xlm_model *model) { return xlm_model_get_config(model)->positions - 2; }

bool xlm_translation_check(const xlm_model *model, const xlm_special_tokens *specials, const xlm_translation_options *options,
                           GError **error)
{
    const xlm_model_config *c = xlm_model_get_config(model);
    const int64_t ordinary = c->vocabulary - specials->distinct;
    if (c->decoder_layers == 0)
        return xlm_error_set(error, EX_DATAERR, "the model has no decoder; train one with decoder_layers in [model] and an "
                             "objective such as seq2seq");
    if (c->head == XLM_HEAD_NONE)
        return xlm_error_set(error, EX_DATAERR, "the model has no language-modelling head (it is fine-tuned); use the checkpoint "
                             "that it was made from");
    if (c->positions < 3)
        return xlm_error_set(error, EX_DATAERR, "the model has %" G_GINT64_FORMAT " positions, and <s>, a token and </s> take 3",
                             c->positions);
    if (options->search.beam > ordinary && !(options->search.temperature > 0))
        return xlm_error_set(error, EX_USAGE, "a beam of %" G_GINT64_FORMAT " is larger than the vocabulary, which has %"
                             G_GINT64_FORMAT " tokens that are not special", options->search.beam, ordinary);
    if (options->search.top_k > c->vocabulary)
        return xlm_error_set(error, EX_USAGE, "the %" G_GINT64_FORMAT " most probable tokens are more than the vocabulary has, %"
                             G_GINT64_FORMAT, options->search.top_k, c->vocabulary);
    if (options->n_best > options->search.beam)
        return xlm_error_set(error, EX_USAGE, "%" G_GINT64_FORMAT " translations of a sentence are more than the beam, %"
                             G_GINT64_FORMAT, options->n_best, options->search.beam);
    const bool by_states = options->links_by == XLM_LINKS_BY_STATES;
    const int64_t layers = by_states ? c->layers : c->decoder_layers;
    if (options->links_by != XLM_LINKS_NONE && options->link_layer > layers)
        return xlm_error_set(error, EX_USAGE, "layer %" G_GINT64_FORMAT ": the %s has %" G_GINT64_FORMAT " layers",
                             options->link_layer, by_states ? "encoder" : "decoder", layers);
    return true;
}

/* Maximum number of ids of a translation. */
static int32_t max_tokens_of(const xlm_translator *t, int64_t ids)
{
    const double longest = floor(t->options->length_ratio * (double)ids + (double)t->options->length_constant);
    return (int32_t)MIN(longest, (double)(xlm_model_get_config(t->model)->positions - 1));
}

/* Tokens that a sentence counts for in a batch. */
static int64_t cost_of(const xlm_translator *t, int64_t ids)
{
    const int64_t hypotheses = t->options->search.beam * (max_tokens_of(t, ids) + 1);
    return ids == 0 ? 0 : MAX(hypotheses, ids + 2);
}

/* ---- one batch ---- */

struct batch {
    const xlm_translator *translator;
    xlm_text text;                /* of the encoder */
    const int32_t *to, *max_tokens; /* [sequences] */
    const xlm_row_key *keys;      /* [sequences] */
    xlm_real *states;             /* [tokens x d] of the encoder's top layer */
};

static xlm_row_key key_of(uint64_t number) { return (xlm_row_key){(uint32_t)number, (uint32_t)(number >> 32)}; }

/* Sentences with these numbers, as an encoder's text. */
static void lay_out(const xlm_translation_sources *sources, int64_t n, const int64_t *numbers, struct batch *b)
{
    const xlm_translator *t = b->translator;
    xlm_tape *tape = t->tape;
    int32_t *offsets = XLM_TAPE_TAKE(tape, int32_t, n + 1), *to = XLM_TAPE_TAKE(tape, int32_t, n);
    int32_t *max_tokens = XLM_TAPE_TAKE(tape, int32_t, n);
    xlm_row_key *keys = XLM_TAPE_TAKE(tape, xlm_row_key, n);
    offsets[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t s = numbers[i], ids = sources->offsets[s + 1] - sources->offsets[s];
        offsets[i + 1] = offsets[i] + (int32_t)ids + 2;
        to[i] = sources->to[s];
        max_tokens[i] = max_tokens_of(t, ids);
        keys[i] = key_of(sources->first + (uint64_t)s);
    }
    const int32_t rows = offsets[n];
    int32_t *id = XLM_TAPE_TAKE(tape, int32_t, rows), *positions = XLM_TAPE_TAKE(tape, int32_t, rows);
    int32_t *languages = XLM_TAPE_TAKE(tape, int32_t, rows), *types = XLM_TAPE_TAKE(tape, int32_t, rows);
    memset(types, 0, sizeof *types * (size_t)rows);
    for (int64_t i = 0; i < n; i++) {
        const int32_t first = offsets[i], last = offsets[i + 1] - 1;
        id[first] = t->specials->id[XLM_BOS];
        memcpy(id + first + 1, sources->ids + sources->offsets[numbers[i]], sizeof *id * (size_t)(last - first - 1));
        id[last] = t->specials->id[XLM_EOS];
        for (int32_t row = first; row <= last; row++) {
            positions[row] = row - first;
            languages[row] = sources->from[numbers[i]];
        }
    }
    b->to = to;
    b->max_tokens = max_tokens;
    b->keys = keys;
    b->text = (xlm_text){.tokens = rows, .sequences = (int32_t)n, .offsets = offsets, .ids = id, .unmasked = id,
                         .positions = positions, .languages = languages, .unswitched = languages, .types = types,
                         .specials = t->specials};
}

static void encode(xlm_tape *tape, void *data)
{
    struct batch *b = data;
    const xlm_model *model = b->translator->model;
    const int64_t layers = xlm_model_get_config(model)->layers;
    const xlm_var *h = xlm_model_encode(model, tape, &b->text, false, XLM_TOP_LAYER, NULL, 0)[layers];
    if (!xlm_tape_is_of_shapes(tape))
        memcpy(b->states, h->value, sizeof *b->states * (size_t)(h->rows * h->cols));
}

/* The states of the encoder. The same bits however many sentences there are; the memory of the encoder's layers is given back. */
static xlm_var *encode_batch(struct batch *b)
{
    xlm_tape *tape = b->translator->tape;
    const int64_t d = xlm_model_get_config(b->translator->model)->hidden_size;
    const xlm_tape_mode before = xlm_tape_get_mode(tape);
    xlm_tape_mode mode = before;
    mode.rows_alone = true;
    b->states = XLM_TAPE_NUMBERS(tape, xlm_real, b->text.tokens * d);
    xlm_tape_set_mode(tape, mode);
    xlm_tape_work_inside(tape, encode, b);
    xlm_tape_set_mode(tape, before);
    return xlm_constant_in_place(tape, b->text.tokens, d, b->states);
}

/* [sequences] results, and the memory that they are of. */
static const xlm_search_result *search(struct batch *b, xlm_var **memory)
{
    const xlm_translator *t = b->translator;
    *memory = encode_batch(b);
    const xlm_search_input input = {.sentences = b->text.sequences, .memory = *memory, .memory_offsets = b->text.offsets,
                                    .languages = b->to, .max_tokens = b->max_tokens, .keys = b->keys};
    return xlm_search(t->model, t->tape, t->specials, &t->options->search, &input);
}

/* The translations that are kept, with their links. [out] sentence: which of the batch each is of; total: their number. */
static xlm_translation *choose(const struct batch *b, const xlm_search_result *results, xlm_var *memory, int32_t **sentence,
                               int32_t *total)
{
    const xlm_translator *t = b->translator;
    const int64_t most = b->text.sequences * t->options->n_best;
    xlm_translation *chosen = XLM_TAPE_TAKE(t->tape, xlm_translation, most);
    int32_t n = 0;
    *sentence = XLM_TAPE_TAKE(t->tape, int32_t, most);
    for (int32_t s = 0; s < b->text.sequences; s++)
        for (int32_t k = 0; k < MIN(results[s].n, t->options->n_best); k++) {
            const xlm_hypothesis *h = &results[s].best[k];
            (*sentence)[n] = s;
            chosen[n++] = (xlm_translation){.tokens = h->tokens, .ids = h->ids, .log_probability = h->log_probability,
                                            .score = h->score};
        }
    const xlm_link_input links = {.translations = n, .translation = chosen, .sentence = *sentence, .languages = b->to,
                                  .source = &b->text, .memory = memory, .memory_offsets = b->text.offsets};
    if (t->options->links_by == XLM_LINKS_BY_ATTENTION)
        xlm_token_links_find(t->model, t->tape, t->specials, t->options, &links);
    else if (t->options->links_by == XLM_LINKS_BY_STATES)
        xlm_state_links_find(t->model, t->tape, t->specials, t->options, &links);
    *total = n;
    return chosen;
}

/* A pass over the sentences with these numbers. own: gets the translations; NULL: only the memory matters. Returns the number of ids
 * that were written. */
static int64_t translate_batch(const xlm_translator *t, const xlm_translation_sources *sources, int64_t n, const int64_t *numbers,
                               xlm_own_translations *own)
{
    struct batch b = {.translator = t};
    xlm_var *memory;
    int32_t *sentence, total;
    int64_t tokens = 0;
    xlm_tape_begin(t->tape, NULL, false, t->options->search.seed, t->options->search.step);
    lay_out(sources, n, numbers, &b);
    const xlm_search_result *results = search(&b, &memory);
    const xlm_translation *chosen = choose(&b, results, memory, &sentence, &total);
    for (int32_t i = 0; i < total; i++) {
        tokens += chosen[i].tokens;
        if (own != NULL)
            xlm_own_translations_add(own, numbers[sentence[i]], &chosen[i]);
    }
    return tokens;
}

/* ---- all ---- */

/* A pass over n sentences of so many ids on a tape of shapes. Returns its bytes, or those of a pass before that took more. */
static uint64_t plan_sentences(const xlm_translator *translator, xlm_tape *shapes, int64_t n, int64_t ids)
{
    xlm_translator t = *translator;
    g_autofree int64_t *offsets = g_new(int64_t, n + 1), *numbers = g_new(int64_t, n);
    g_autofree int32_t *id = g_new(int32_t, n * ids), *language = g_new0(int32_t, n);
    offsets[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        numbers[i] = i;
        offsets[i + 1] = offsets[i] + ids;
    }
    for (int64_t i = 0; i < n * ids; i++)
        id[i] = t.specials->id[XLM_UNK];
    const xlm_translation_sources sources = {.sentences = n, .offsets = offsets, .ids = id, .from = language, .to = language};
    t.tape = shapes;
    translate_batch(&t, &sources, n, numbers, NULL);
    return xlm_tape_peak_bytes(shapes);
}

enum { PLANNED_SENTENCES = 64 };

/* Bytes of the sentences of a batch beyond PLANNED_SENTENCES. What a pass takes does not grow faster than their number. */
static uint64_t plan_others(const xlm_translator *t, int64_t n, int64_t ids)
{
    const int64_t some = PLANNED_SENTENCES, half = some / 2;
    if (n <= some)
        return 0;
    xlm_tape *shapes = xlm_tape_new_of_shapes_like(t->tape);
    const uint64_t fewer = plan_sentences(t, shapes, half, ids), more = plan_sentences(t, shapes, some, ids);
    xlm_tape_free(shapes);
    return (more - fewer) / (uint64_t)half * (uint64_t)(n - some);
}

uint64_t xlm_translation_bytes(const xlm_translator *t, int64_t longest)
{
    /* Few long sentences take more of some memory, many short ones of other. */
    xlm_tape *shapes = xlm_tape_new_of_shapes_like(t->tape);
    uint64_t some = 0, others = 0;
    for (int64_t ids = 1; some == 0 || ids / 2 < longest; ids *= 2) {
        const int64_t length = MIN(ids, longest), n = MAX(t->options->batch_tokens / cost_of(t, length), 1);
        some = plan_sentences(t, shapes, MIN(n, PLANNED_SENTENCES), length);
        others = MAX(others, plan_others(t, n, length));
    }
    xlm_tape_free(shapes);
    return (some + others) / 16 * 17; /* buffers of sentences of unlike lengths serve one another less well */
}

xlm_translation_set *xlm_translate(const xlm_translator *t, const xlm_translation_sources *sources)
{
    g_autofree int64_t *cost = g_new(int64_t, MAX(sources->sentences, 1));
    xlm_own_translations own = xlm_own_translations_new();
    xlm_sentence_batches b;
    int64_t sentences = 0, tokens = 0;
    for (int64_t s = 0; s < sources->sentences; s++) {
        const int64_t ids = sources->offsets[s + 1] - sources->offsets[s];
        g_assert(ids <= xlm_translation_longest(t->model));
        cost[s] = cost_of(t, ids);
    }
    xlm_sentence_batches_make(sources->sentences, cost, t->options->batch_tokens, t->comm->ranks, &b);
    xlm_turns *turns = xlm_turns_open(t->comm, b.batches, b.cost);
    for (int64_t i; (i = xlm_turns_next(turns)) >= 0;) {
        const int64_t n = b.first[i + 1] - b.first[i];
        tokens += translate_batch(t, sources, n, b.sentence + b.first[i], &own);
        sentences += n;
        if (t->progress != NULL)
            t->progress(t->progress_data, sentences, tokens);
    }
    xlm_turns_close(turns);
    xlm_translation_set *all = xlm_own_translations_merge(&own, t->comm, sources->sentences);
    xlm_sentence_batches_clear(&b);
    xlm_own_translations_clear(&own);
    return all;
}

/* ---- attention ---- */

const xlm_real *xlm_translation_attention(const xlm_translator *t, const xlm_translation_sources *sources, int64_t sentence,
                                          const xlm_translation *translation, int64_t layer)
{
    struct batch b = {.translator = t};
    xlm_translation shown = *translation;
    const int32_t first = 0;
    xlm_tape_begin(t->tape, NULL, false, t->options->search.seed, t->options->search.step);
    lay_out(sources, 1, &sentence, &b);
    const xlm_link_input input = {.translations = 1, .translation = &shown, .sentence = &first, .languages = b.to,
                                  .memory = encode_batch(&b), .memory_offsets = b.text.offsets};
    return xlm_token_links_weights(t->model, t->tape, t->specials, layer, &input)[0];
}

uint64_t xlm_translation_attention_bytes(const xlm_translator *translator, int64_t longest, int64_t layer)
{
    xlm_translator planned = *translator;
    const int64_t offsets[2] = {0, longest};
    const int32_t language = 0, tokens = max_tokens_of(translator, longest);
    g_autofree int32_t *ids = g_new(int32_t, MAX(longest, tokens));
    for (int64_t i = 0; i < MAX(longest, tokens); i++)
        ids[i] = translator->specials->id[XLM_UNK];
    const xlm_translation_sources sources = {.sentences = 1, .offsets = offsets, .ids = ids, .from = &language, .to = &language};
    const xlm_translation translation = {.tokens = tokens, .ids = ids};
    planned.tape = xlm_tape_new_of_shapes_like(translator->tape);
    xlm_translation_attention(&planned, &sources, 0, &translation, layer);
    const uint64_t bytes = xlm_tape_peak_bytes(planned.tape);
    xlm_tape_free(planned.tape);
    return bytes;
}
