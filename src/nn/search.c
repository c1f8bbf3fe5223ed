/* xlm-mpi: greedy search, beam search, sampling. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rows of a step are all unfinished hypotheses of all sentences, those of a sentence next to one another. A hypothesis has
 * the list of its tokens and, for each of its inputs (<s> and the tokens), the row of the cache that keeps its key and value.
 * Hypotheses with the same beginning share rows; a row that is in no list is used again. */
#include <xlm/search.h>

#include <glib.h>
#include <math.h>
#include <string.h>

#include "nn/decoder_cache.h"
#include "nn/model_parts.h"
#include "nn/search_input.h"
#include "nn/search_rows.h"
#include "tensor/tape.h"
#include "tensor/variable.h"

/* Unfinished hypotheses. Each list has room for search.room numbers. */
struct rows {
    int32_t n;
    int32_t *sentence;        /* [n] ascending */
    int32_t *sample;          /* [n] number of the hypothesis within its sentence */
    double *log_probability;  /* [n] */
    int32_t *ids;             /* [n x room] tokens so far */
    int32_t *kept;            /* [n x room] rows of the cache */
};

struct sentence {
    int32_t finished;
    xlm_hypothesis *best; /* [K] highest score first */
};

struct search {
    const xlm_model *model;
    xlm_tape *tape;
    const xlm_search_options *options;
    const xlm_search_input *input;
    const xlm_special_tokens *specials;
    xlm_decoder_cache *cache;
    int64_t room;              /* maximum length of a list: the maximum number of tokens, plus one */
    int64_t cache_rows;
    int64_t *first_row;        /* [S] the first row of the cache that hypotheses of a sentence may take */
    bool *used;                /* [cache_rows] */
    struct rows now, next;
    struct sentence *sentence; /* [S] */
    int32_t length;            /* number of tokens that every unfinished hypothesis has so far */
    xlm_row_choice choice;
    /* For the present step. */
    int32_t *written;                /* [rows] the row of the cache for the present input */
    int32_t *positions, *inputs, *languages, *token_lengths, *memory_lengths; /* [rows] */
    const int32_t **token_rows, **memory_rows;                                /* [rows] */
    int32_t *memory_order;           /* [rows of the memory] 0, 1, … */
    xlm_real *states;                /* [rows x d] */
    xlm_continuation *continuations; /* [rows x choice.n] */
    int64_t *counts;                 /* [rows] number of them */
    int32_t first;                   /* row of the step that the first row of the present logits belongs to */
};

static bool is_sampling(const struct search *s) { return s->options->temperature > 0; }

/* A continuation of one of the hypotheses of a sentence. */
struct candidate {
    int32_t row, id;
    double log_probability; /* of the whole hypothesis */
};

/* ---- finished hypotheses ---- */

static double score_of(const struct search *s, double log_probability, int64_t tokens)
{
    return log_probability / pow((double)tokens + 1, s->options->length_penalty);
}

static void finish(struct search *s, const struct candidate *c)
{
    struct sentence *sentence = &s->sentence[s->now.sentence[c->row]];
    xlm_hypothesis h = {.tokens = s->length, .log_probability = c->log_probability,
                        .score = score_of(s, c->log_probability, s->length)};
    int64_t at = is_sampling(s) ? s->now.sample[c->row] : sentence->finished;
    while (!is_sampling(s) && at > 0 && sentence->best[at - 1].score < h.score)
        at--;
    if (at >= s->options->beam)
        return;
    int32_t *ids = XLM_TAPE_TAKE(s->tape, int32_t, s->length);
    if (s->length > 0)
        memcpy(ids, s->now.ids + c->row * s->room, sizeof *ids * (size_t)s->length);
    h.ids = ids;
    if (sentence->finished < s->options->beam)
        sentence->finished++;
    if (!is_sampling(s))
        memmove(sentence->best + at + 1, sentence->best + at, sizeof h * (size_t)(sentence->finished - 1 - at));
    sentence->best[at] = h;
}

/* Can an unfinished hypothesis of the next step with this log-probability, which can only fall, still get a higher score? It will
 * have at least one token more than now, and at most the maximum number. */
static bool can_reach(const struct search *s, int32_t sentence, double log_probability, double score)
{
    const int64_t longest = s->input->max_tokens[sentence], next = MIN(s->length + 1, longest);
    return MAX(score_of(s, log_probability, longest), score_of(s, log_probability, next)) > score;
}

/* ---- the next rows ---- */

static int by_probability(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->log_probability != y->log_probability)
        return x->log_probability > y->log_probability ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void keep(struct search *s, const struct candidate *c)
{
    struct rows *next = &s->next;
    const int32_t n = next->n++;
    next->sentence[n] = s->now.sentence[c->row];
    next->sample[n] = s->now.sample[c->row];
    next->log_probability[n] = c->log_probability;
    memcpy(next->ids + n * s->room, s->now.ids + c->row * s->room, sizeof *next->ids * (size_t)s->length);
    memcpy(next->kept + n * s->room, s->now.kept + c->row * s->room, sizeof *next->kept * (size_t)(s->length + 1));
    next->ids[n * s->room + s->length] = c->id;
}

/* Lists the continuations of rows first … end − 1, those of one sentence: the choice.n most probable ones, the most probable
 * first; when sampling, all in the order of the rows. Returns their number. */
static int64_t gather_candidates(const struct search *s, int32_t first, int32_t end, struct candidate *candidates)
{
    int64_t n = 0;
    for (int32_t row = first; row < end; row++)
        for (int64_t i = 0; i < s->counts[row]; i++) {
            const xlm_continuation *c = &s->continuations[row * s->choice.n + i];
            candidates[n++] = (struct candidate){row, c->id, s->now.log_probability[row] + c->log_probability};
        }
    if (is_sampling(s))
        return n;
    qsort(candidates, (size_t)n, sizeof *candidates, by_probability);
    return MIN(n, s->choice.n);
}

/* Has the search for a sentence ended, whose unfinished hypotheses are the rows of the next step from `start` on? */
static bool is_done(const struct search *s, int32_t number, int32_t start)
{
    const struct sentence *sentence = &s->sentence[number];
    const int64_t beam = s->options->beam;
    if (s->next.n == start || is_sampling(s) || sentence->finished < beam)
        return s->next.n == start;
    return beam == 1 || s->options->early_stopping ||
           !can_reach(s, number, s->next.log_probability[start], sentence->best[beam - 1].score);
}

static void continue_sentence(struct search *s, int32_t first, int32_t end, struct candidate *candidates)
{
    const int32_t start = s->next.n;
    const int64_t n = gather_candidates(s, first, end, candidates);
    for (int64_t i = 0; i < n && s->next.n - start < s->options->beam; i++) {
        if (candidates[i].id == s->specials->id[XLM_EOS])
            finish(s, &candidates[i]);
        else
            keep(s, &candidates[i]);
    }
    if (is_done(s, s->now.sentence[first], start))
        s->next.n = start;
}

static void continue_all(struct search *s)
{
    g_autofree struct candidate *candidates = g_new(struct candidate, s->options->beam * s->choice.n);
    s->next.n = 0;
    for (int32_t row = 0; row < s->now.n;) {
        int32_t end = row + 1;
        while (end < s->now.n && s->now.sentence[end] == s->now.sentence[row])
            end++;
        continue_sentence(s, row, end, candidates);
        row = end;
    }
    const struct rows done = s->now;
    s->now = s->next;
    s->next = done;
    s->length++;
}

/* ---- a step ---- */

/* Finds a row of the cache for each input, among those that are in no list of an unfinished hypothesis. Rows of a sentence are
 * near one another, so that the processor can read ahead in attention. */
static void find_cache_rows(struct search *s)
{
    memset(s->used, 0, sizeof *s->used * (size_t)s->cache_rows);
    for (int32_t row = 0; row < s->now.n; row++)
        for (int32_t i = 0; i < s->length; i++)
            s->used[s->now.kept[row * s->room + i]] = true;
    int64_t next = 0;
    for (int32_t row = 0; row < s->now.n; row++) {
        if (row == 0 || s->now.sentence[row] != s->now.sentence[row - 1])
            next = s->first_row[s->now.sentence[row]];
        while (s->used[next])
            next++;
        s->written[row] = (int32_t)next++;
        s->now.kept[row * s->room + s->length] = s->written[row];
    }
}

static void prepare_rows(struct search *s)
{
    find_cache_rows(s);
    for (int32_t row = 0; row < s->now.n; row++) {
        const int32_t sentence = s->now.sentence[row], *memory = s->input->memory_offsets + sentence;
        s->inputs[row] = s->length == 0 ? s->specials->id[XLM_BOS] : s->now.ids[row * s->room + s->length - 1];
        s->positions[row] = s->length;
        s->languages[row] = s->input->languages[sentence];
        s->token_rows[row] = s->now.kept + row * s->room;
        s->token_lengths[row] = s->length + 1;
        const int32_t unseen = xlm_unseen_memory(&s->model->config, memory[1] - memory[0]);
        s->memory_rows[row] = s->memory_order + memory[0] + unseen;
        s->memory_lengths[row] = memory[1] - memory[0] - unseen;
    }
}

static void compute_states(xlm_tape *tape, void *data)
{
    struct search *s = data;
    const xlm_decoder_step step = {
        .n = s->now.n, .ids = s->inputs, .positions = s->positions, .languages = s->languages,
        .rows = {.write = s->written, .tokens = s->token_rows, .token_lengths = s->token_lengths, .memory = s->memory_rows,
                 .memory_lengths = s->memory_lengths},
    };
    const xlm_var *states = xlm_decoder_cache_step(s->cache, &step);
    if (!xlm_tape_is_of_shapes(tape))
        memcpy(s->states, states->value, sizeof(xlm_real) * (size_t)(states->rows * states->cols));
}

static int64_t logit_rows(const struct search *s) { return MIN(s->now.n - s->first, s->model->config.vocabulary_chunk); }

static void find_continuations(xlm_tape *tape, void *data)
{
    struct search *s = data;
    const int64_t n = logit_rows(s), d = s->model->config.hidden_size, v = s->model->config.vocabulary;
    xlm_var *h = xlm_constant_in_place(tape, n, d, s->states + s->first * d);
    xlm_var *logits = xlm_lm_logits(s->model, tape, XLM_STACK_DECODER, h);
    if (xlm_tape_is_of_shapes(tape))
        return;
#pragma omp parallel for schedule(dynamic, 1) if (n * v > XLM_PARALLEL)
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = s->first + i;
        const int32_t sentence = s->now.sentence[row];
        const xlm_row_request request = {
            .end = s->length >= s->input->max_tokens[sentence], .sample = (uint32_t)s->now.sample[row],
            .position = (uint32_t)s->length, .key = s->input->keys != NULL ? s->input->keys[sentence] : (xlm_row_key){0}};
        s->counts[row] = xlm_search_continue_row(&s->choice, &request, v, logits->value + i * v,
                                                 s->continuations + row * s->choice.n);
    }
}

/* In an estimate, every text becomes as long as allowed, and every sentence always has K unfinished hypotheses. */
static void plan_continuations(struct search *s)
{
    const int32_t ordinary = (int32_t)(s->model->config.vocabulary - s->specials->distinct);
    for (int32_t row = 0; row < s->now.n; row++) {
        const bool end = s->length >= s->input->max_tokens[s->now.sentence[row]];
        s->counts[row] = end ? 1 : MIN(s->choice.n, ordinary);
        for (int64_t i = 0; i < s->counts[row]; i++)
            s->continuations[row * s->choice.n + i] = (xlm_continuation){
                .id = end ? s->specials->id[XLM_EOS] : xlm_ordinary_id(s->specials, (int32_t)i), .log_probability = 0};
    }
}

/* The first token of a text that may have one is that of its language, whatever the logits are. */
static void begin_with_languages(struct search *s)
{
    for (int32_t row = 0; row < s->now.n; row++) {
        const int32_t sentence = s->now.sentence[row];
        if (s->input->max_tokens[sentence] == 0)
            continue;
        s->continuations[row * s->choice.n] = (xlm_continuation){
            .id = xlm_language_token(s->specials, s->input->languages[sentence]), .log_probability = 0};
        s->counts[row] = 1;
    }
}

static void make_step(struct search *s)
{
    prepare_rows(s);
    xlm_tape_work_inside(s->tape, compute_states, s);
    for (s->first = 0; s->first < s->now.n; s->first += (int32_t)logit_rows(s))
        xlm_tape_work_inside(s->tape, find_continuations, s);
    if (xlm_tape_is_of_shapes(s->tape))
        plan_continuations(s);
    if (s->length == 0 && s->specials->languages > 0)
        begin_with_languages(s);
    continue_all(s);
}

/* ---- the whole ---- */

static struct rows take_rows(xlm_tape *tape, int64_t n, int64_t room)
{
    return (struct rows){.sentence = XLM_TAPE_TAKE(tape, int32_t, n), .sample = XLM_TAPE_TAKE(tape, int32_t, n),
                         .log_probability = XLM_TAPE_TAKE(tape, double, n), .ids = XLM_TAPE_TAKE(tape, int32_t, n * room),
                         .kept = XLM_TAPE_TAKE(tape, int32_t, n * room)};
}

static void take_memory(struct search *s)
{
    const int32_t sentences = s->input->sentences;
    const int64_t beam = s->options->beam, rows = sentences * beam, memory = s->input->memory->rows;
    int64_t longest = 0;
    for (int32_t i = 0; i < sentences; i++)
        longest = MAX(longest, s->input->max_tokens[i]);
    s->room = longest + 1;
    s->cache_rows = xlm_search_cache_rows(s->options, s->input);
    s->used = XLM_TAPE_TAKE(s->tape, bool, s->cache_rows);
    s->first_row = XLM_TAPE_TAKE(s->tape, int64_t, sentences);
    for (int32_t i = 0; i < sentences; i++)
        s->first_row[i] = i == 0 ? 0 : s->first_row[i - 1] + xlm_search_cache_rows_of(s->options, s->input, i - 1);
    s->now = take_rows(s->tape, rows, s->room);
    s->next = take_rows(s->tape, rows, s->room);
    s->sentence = XLM_TAPE_TAKE(s->tape, struct sentence, sentences);
    for (int32_t i = 0; i < sentences; i++)
        s->sentence[i] = (struct sentence){.best = XLM_TAPE_TAKE(s->tape, xlm_hypothesis, beam)};
    int32_t **const arrays[] = {&s->written, &s->positions, &s->inputs, &s->languages, &s->token_lengths, &s->memory_lengths};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        *arrays[i] = XLM_TAPE_TAKE(s->tape, int32_t, rows);
    s->token_rows = XLM_TAPE_TAKE(s->tape, const int32_t *, rows);
    s->memory_rows = XLM_TAPE_TAKE(s->tape, const int32_t *, rows);
    s->memory_order = XLM_TAPE_TAKE(s->tape, int32_t, memory);
    for (int64_t i = 0; i < memory; i++)
        s->memory_order[i] = (int32_t)i;
    s->states = XLM_TAPE_NUMBERS(s->tape, xlm_real, rows * s->model->config.hidden_size);
    s->continuations = XLM_TAPE_TAKE(s->tape, xlm_continuation, rows * s->choice.n);
    s->counts = XLM_TAPE_TAKE(s->tape, int64_t, rows);
}

/* Begins each sentence with one hypothesis without tokens, or with one for each sample. */
static void begin(struct search *s)
{
    const int64_t each = is_sampling(s) ? s->options->beam : 1;
    for (int32_t i = 0; i < s->input->sentences; i++)
        for (int32_t k = 0; k < each; k++) {
            s->now.sentence[s->now.n] = i;
            s->now.sample[s->now.n] = k;
            s->now.log_probability[s->now.n++] = 0;
        }
}

static const xlm_search_result *results_of(const struct search *s)
{
    xlm_search_result *results = XLM_TAPE_TAKE(s->tape, xlm_search_result, s->input->sentences);
    for (int32_t i = 0; i < s->input->sentences; i++)
        results[i] = (xlm_search_result){.n = s->sentence[i].finished, .best = s->sentence[i].best};
    return results;
}

const xlm_search_result *xlm_search(const xlm_model *model, xlm_tape *tape, const xlm_special_tokens *specials,
                                    const xlm_search_options *options, const xlm_search_input *input)
{
    xlm_search_check(model, specials, options, input);
    const bool samples = options->temperature > 0;
    struct search s = {.model = model, .tape = tape, .options = options, .input = input, .specials = specials,
                       .choice = {.specials = specials, .options = options,
                                  .n = samples || options->beam == 1 ? 1 : 2 * options->beam}};
    const xlm_tape_mode before = xlm_tape_get_mode(tape);
    xlm_tape_mode mode = before;
    mode.gradient = mode.training = false;
    mode.rows_alone = true;
    xlm_tape_set_mode(tape, mode);
    take_memory(&s);
    s.cache = xlm_decoder_cache_new(model, tape, s.cache_rows, input->memory);
    for (begin(&s); s.now.n > 0;)
        make_step(&s);
    xlm_tape_set_mode(tape, before);
    return results_of(&s);
}

uint64_t xlm_search_bytes(const xlm_model *model, const xlm_tape *tape, const xlm_special_tokens *specials,
                          const xlm_search_options *options, const xlm_search_input *input)
{
    xlm_tape *shapes = xlm_tape_new_of_shapes_like(tape);
    xlm_search_input planned = *input;
    xlm_tape_begin(shapes, NULL, false, 0, 0);
    planned.memory = xlm_constant_in_place(shapes, input->memory_offsets[input->sentences], model->config.hidden_size,
                                           XLM_NO_NUMBERS);
    xlm_search(model, shapes, specials, options, &planned);
    const uint64_t bytes = xlm_tape_peak_bytes(shapes);
    xlm_tape_free(shapes);
    return bytes;
}
