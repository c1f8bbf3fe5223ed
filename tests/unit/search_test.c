/* xlm-mpi: greedy search, beam search and sampling against definitions that compute everything again for each token.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Built twice: search_test in double, search_float_test as the programs are. */
#include "model_fixture.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xlm/search.h>

#include "gemm/packed.h"
#include "nn/search_rows.h"
#include "tensor/parameters.h"
#include "tensor/variable.h"

#ifdef XLM_DOUBLE
static const double TOLERANCE = 1e-9;
#else
static const double TOLERANCE = 1e-4;
#endif

enum { V = 37, D = 24, SENTENCES = 6, MEMORY = 26, LONGEST = 12 };
static const int32_t memory_offsets[SENTENCES + 1] = {0, 1, 6, 15, 18, 22, MEMORY};
static const int32_t languages[SENTENCES] = {0, 1, 1, 0, 1, 0};
static const int32_t max_tokens[SENTENCES] = {LONGEST, 9, 0, 1, 12, 7};
static const xlm_row_key keys[SENTENCES] = {{3, 0}, {4, 0}, {5, 0}, {6, 0}, {7, 0}, {8, 0}};
static xlm_special_tokens specials = {.id = {0, 1, 2, 3, 4}, .distinct = 5, .ascending = {0, 1, 2, 3, 4}};

static xlm_model_config make_config(bool share, bool language, int64_t head)
{
    xlm_model_config c = defaults();
    c.layers = 1;
    c.decoder_layers = 2;
    c.hidden_size = D;
    c.attention_heads = 3;
    c.feed_forward_size = 40;
    c.positions = LONGEST + 1;
    c.vocabulary = V;
    c.languages = 2;
    c.vocabulary_chunk = 4;
    c.share_layers = share;
    c.language_embeddings = language;
    c.language_tokens = !language;
    c.head = head;
    c.dropout = c.attention_dropout = 0.3; /* not used in a search */
    return c;
}

static void make_memory(xlm_real memory[MEMORY * D])
{
    for (int i = 0; i < MEMORY * D; i++)
        memory[i] = (xlm_real)number(77, i);
}

/* The sentences numbered by `order`, packed in that order. */
struct packed {
    int32_t n, offsets[SENTENCES + 1], languages[SENTENCES], max_tokens[SENTENCES];
    xlm_row_key keys[SENTENCES];
    xlm_real memory[MEMORY * D];
};

static struct packed pack(int32_t n, const int32_t *order)
{
    struct packed p = {.n = n};
    xlm_real all[MEMORY * D];
    make_memory(all);
    for (int32_t i = 0; i < n; i++) {
        const int32_t s = order[i], rows = memory_offsets[s + 1] - memory_offsets[s];
        memcpy(p.memory + p.offsets[i] * D, all + memory_offsets[s] * D, sizeof(xlm_real) * (size_t)(rows * D));
        p.offsets[i + 1] = p.offsets[i] + rows;
        p.languages[i] = languages[s];
        p.max_tokens[i] = max_tokens[s];
        p.keys[i] = keys[s];
    }
    return p;
}

static const xlm_search_result *search(const struct setup *s, xlm_tape *tape, const struct packed *p, const xlm_search_options *o)
{
    xlm_var *memory = xlm_constant(tape, p->offsets[p->n], D, p->memory);
    const xlm_search_input input = {.sentences = p->n, .memory = memory, .memory_offsets = p->offsets, .languages = p->languages,
                                    .max_tokens = p->max_tokens, .keys = p->keys};
    return xlm_search(s->model, tape, &specials, o, &input);
}

/* ---- the definition ---- */

/* log p of each token after a beginning, computed from nothing; special tokens but </s> are -INFINITY. */
static void next_token(const struct setup *s, int32_t sentence, const int32_t *ids, int32_t n, double *log_p)
{
    int32_t row[LONGEST + 1], positions[LONGEST + 1], language[LONGEST + 1], types[LONGEST + 1] = {0};
    const int32_t tokens = n + 1, offsets[2] = {0, tokens}, rows = memory_offsets[sentence + 1] - memory_offsets[sentence];
    const int32_t to[2] = {0, rows}, last = n;
    xlm_real memory[MEMORY * D], logits[V];
    make_memory(memory);
    for (int32_t i = 0; i < tokens; i++) {
        row[i] = i == 0 ? specials.id[XLM_BOS] : ids[i - 1];
        positions[i] = i;
        language[i] = languages[sentence];
    }
    const xlm_text text = {.tokens = tokens, .sequences = 1, .offsets = offsets, .ids = row, .unmasked = row,
                           .positions = positions, .languages = language, .unswitched = language, .types = types,
                           .specials = &specials};
    xlm_tape *tape = xlm_tape_new(s->parameters);
    xlm_tape_begin(tape, NULL, false, 1, 1);
    xlm_var *m = xlm_constant(tape, rows, D, memory + memory_offsets[sentence] * D);
    xlm_var **hidden = xlm_model_decode(s->model, tape, &text, m, to, XLM_TOP_LAYER, &last, 1);
    xlm_var_read(xlm_lm_logits(s->model, tape, XLM_STACK_DECODER, hidden[s->config.decoder_layers]), 0, 1, logits);
    double sum = 0;
    for (int i = 0; i < V; i++)
        sum += exp((double)logits[i]);
    const bool begins = n == 0 && max_tokens[sentence] > 0 && specials.languages > 0; /* with the token of its language alone */
    for (int i = 0; i < V; i++) {
        const bool never = (xlm_is_special(&specials, i) && i != specials.id[XLM_EOS]) || xlm_is_language_token(&specials, i);
        log_p[i] = never || begins ? -(double)INFINITY : (double)logits[i] - log(sum);
    }
    if (begins)
        log_p[specials.language[languages[sentence]]] = 0;
    xlm_tape_free(tape);
}

struct text {
    int32_t n, ids[LONGEST + 1];
    double log_p, score;
};

static int by_log_p(const void *a, const void *b)
{
    const struct text *x = a, *y = b;
    return (x->log_p < y->log_p) - (x->log_p > y->log_p);
}

static int by_score(const void *a, const void *b)
{
    const struct text *x = a, *y = b;
    return (x->score < y->score) - (x->score > y->score);
}

/* The finished texts of a beam search as include/xlm/search.h defines it, best first; returns their number. */
static int define_beam(const struct setup *s, int32_t sentence, const xlm_search_options *o, struct text *finished)
{
    enum { MAX_BEAM = 8 };
    const int beam = (int)o->beam;
    struct text open[MAX_BEAM] = {{0}}, *all = g_new(struct text, MAX_BEAM * V);
    int n = 1, ended = 0;
    for (int32_t length = 0; n > 0; length++) {
        int candidates = 0;
        for (int k = 0; k < n; k++) {
            double log_p[V];
            next_token(s, sentence, open[k].ids, length, log_p);
            for (int i = 0; i < V; i++)
                if (isfinite(log_p[i]) && (length < max_tokens[sentence] || i == specials.id[XLM_EOS])) {
                    struct text t = open[k];
                    t.log_p += log_p[i];
                    t.ids[length] = i;
                    t.n = length + 1;
                    all[candidates++] = t;
                }
        }
        qsort(all, (size_t)candidates, sizeof *all, by_log_p);
        n = 0;
        for (int c = 0; c < candidates && c < 2 * beam && n < beam; c++) {
            if (all[c].ids[length] != specials.id[XLM_EOS]) {
                open[n++] = all[c];
                continue;
            }
            all[c].n = length;
            all[c].score = all[c].log_p / pow(length + 1, o->length_penalty);
            finished[ended++] = all[c];
            qsort(finished, (size_t)ended, sizeof *finished, by_score);
            ended = MIN(ended, beam);
            if (beam == 1)
                break;
        }
        if (beam == 1 && ended == 1)
            break;
        double reachable = -(double)INFINITY;
        for (int32_t end = length + 1; n > 0 && end <= max_tokens[sentence]; end++)
            reachable = fmax(reachable, open[0].log_p / pow(end + 1, o->length_penalty));
        if (ended == beam && (o->early_stopping || reachable <= finished[beam - 1].score))
            break;
    }
    g_free(all);
    return ended;
}

static void expect_same(const struct text *wanted, const xlm_hypothesis *found)
{
    assert_int_equal(found->tokens, wanted->n);
    assert_memory_equal(found->ids, wanted->ids, sizeof *found->ids * (size_t)wanted->n);
    assert_true(fabs(found->log_probability - wanted->log_p) < TOLERANCE);
    assert_true(fabs(found->score - wanted->score) < TOLERANCE);
}

/* Add to the logit of </s>. */
static void favour_end(const struct setup *s, double amount)
{
    const int bias = xlm_parameters_find(s->parameters, "lm_head/bias");
    const int64_t start = xlm_parameters_get(s->parameters, bias)->start;
    xlm_parameters_values(s->parameters)[start + specials.id[XLM_EOS]] += (xlm_real)amount;
}

static const int32_t in_order[SENTENCES] = {0, 1, 2, 3, 4, 5}, backwards[SENTENCES] = {5, 4, 3, 2, 1, 0};

static void compare(const struct setup *s, const xlm_search_options *o)
{
    xlm_tape *tape = xlm_tape_new(s->parameters);
    const struct packed p = pack(SENTENCES, in_order);
    xlm_tape_begin(tape, NULL, true, 1, 1);
    const xlm_search_result *results = search(s, tape, &p, o);
    for (int32_t i = 0; i < SENTENCES; i++) {
        struct text wanted[16];
        assert_int_equal(results[i].n, define_beam(s, i, o, wanted));
        for (int32_t k = 0; k < results[i].n; k++)
            expect_same(&wanted[k], &results[i].best[k]);
    }
    xlm_tape_free(tape);
}

static void test_texts_begin_with_tokens_of_languages(void **state)
{
    (void)state;
    static const int32_t tokens[] = {21, 9};
    const xlm_special_tokens before = specials;
    struct setup s = open_setup(make_config(false, false, XLM_HEAD_BERT), 0.5);
    specials.languages = 2, specials.language = tokens, specials.first_language = 9, specials.last_language = 21;
    for (int64_t beam = 1; beam <= 5; beam += 2) {
        const xlm_search_options o = {.beam = beam, .length_penalty = 1};
        compare(&s, &o);
    }
    specials = before;
    close_setup(&s);
}

static void test_searches_find_what_the_definition_finds(void **state)
{
    (void)state;
    static const struct { int64_t beam; double penalty; bool early; } cases[] = {
        {1, 1, false}, {2, 1, false}, {5, 1, false}, {5, 0, false}, {5, 2.5, false}, {3, -0.5, false}, {5, 1, true},
        {8, 0.6, true},
    };
    for (int model = 0; model < 6; model++) {
        xlm_model_config c = make_config(model == 1, model != 2, model == 2 ? XLM_HEAD_XLM : XLM_HEAD_BERT);
        c.share_embeddings = model != 1;
        if (model == 4) { /* pre-LN, rotary, gated, without biases */
            c.norm = XLM_NORM_PRE, c.first_norm = c.norm_biases = c.linear_biases = false;
            c.final_norm = c.gated_feed_forward = true;
            c.position_type = XLM_POSITIONS_ROTARY;
        } else if (model == 5) { /* as Marian */
            c.embedding_norm = false, c.scale_embeddings = true;
            c.position_type = XLM_POSITIONS_SINUSOIDAL_HALVES, c.activation = XLM_SWISH, c.encode_bos = false;
        }
        struct setup s = open_setup(c, 0.5);
        favour_end(&s, model); /* texts end early or late */
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
            const xlm_search_options o = {.beam = cases[i].beam, .length_penalty = cases[i].penalty,
                                          .early_stopping = cases[i].early};
            compare(&s, &o);
        }
        close_setup(&s);
    }
}

/* ---- independence of the batch ---- */

static void expect_same_bits(const xlm_search_result *a, const xlm_search_result *b)
{
    assert_int_equal(a->n, b->n);
    for (int32_t k = 0; k < a->n; k++) {
        assert_int_equal(a->best[k].tokens, b->best[k].tokens);
        assert_memory_equal(a->best[k].ids, b->best[k].ids, sizeof(int32_t) * (size_t)a->best[k].tokens);
        assert_true(a->best[k].log_probability == b->best[k].log_probability);
        assert_true(a->best[k].score == b->best[k].score);
    }
}

/* Sentences alone, in order and backwards, on a tape with these products. */
static void compare_batches(const struct setup *s, const xlm_search_options *o, bool packs, xlm_precision precision)
{
    xlm_tape *one = xlm_tape_new(s->parameters), *two = xlm_tape_new(s->parameters), *three = xlm_tape_new(s->parameters);
    xlm_tape *const tapes[] = {one, two, three};
    const struct packed forwards = pack(SENTENCES, in_order), reversed = pack(SENTENCES, backwards);
    for (size_t i = 0; i < G_N_ELEMENTS(tapes); i++)
        xlm_tape_multiply_by(tapes[i], packs, precision);
    xlm_tape_begin(one, NULL, false, 1, 1);
    xlm_tape_begin(two, NULL, false, 1, 1);
    const xlm_search_result *a = search(s, one, &forwards, o), *b = search(s, two, &reversed, o);
    for (int32_t i = 0; i < SENTENCES; i++) {
        const struct packed alone = pack(1, &i);
        expect_same_bits(&a[i], &b[SENTENCES - 1 - i]);
        xlm_tape_begin(three, NULL, false, 1, 1);
        expect_same_bits(&a[i], search(s, three, &alone, o));
    }
    for (size_t i = 0; i < G_N_ELEMENTS(tapes); i++)
        xlm_tape_free(tapes[i]);
}

/* With all kinds of products that there are. */
static void compare_products(const struct setup *s, const xlm_search_options *o)
{
    compare_batches(s, o, false, XLM_FLOAT32);
    for (xlm_precision precision = XLM_FLOAT32; precision < XLM_PRECISIONS; precision++)
        if (xlm_packed_lacks(precision) == NULL)
            compare_batches(s, o, true, precision);
    g_setenv("XLM_BF16_EMULATE", "1", TRUE);
    if (xlm_packed_lacks(XLM_BFLOAT16) == NULL)
        compare_batches(s, o, true, XLM_BFLOAT16);
    g_unsetenv("XLM_BF16_EMULATE");
}

static void test_a_sentence_does_not_depend_on_the_others(void **state)
{
    (void)state;
    const xlm_search_options options[] = {
        {.beam = 1, .length_penalty = 1}, {.beam = 5, .length_penalty = 1}, {.beam = 3, .temperature = 0.7, .seed = 5},
        {.beam = 2, .temperature = 1.5, .top_k = 4, .seed = 5},
    };
    xlm_model_config large = make_config(false, true, XLM_HEAD_BERT);
    large.feed_forward_size = 8000; /* so that a row is a small product, and two are not */
    const xlm_model_config config[] = {make_config(false, true, XLM_HEAD_BERT), large};
    for (size_t m = 0; m < G_N_ELEMENTS(config); m++) {
        struct setup s = open_setup(config[m], 0.5);
        for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
            compare_products(&s, &options[i]);
        close_setup(&s);
    }
}

/* ---- sampling ---- */

/* The frequencies of first tokens, and the probabilities of whole texts. */
static void compare_samples(const struct setup *s, double temperature, int64_t top_k)
{
    enum { SAMPLES = 1000, ROUNDS = 8 };
    const int32_t sentence = 1;
    const struct packed p = pack(1, &sentence);
    double log_p[V], weight[V], sum = 0, counts[V + 1] = {0};
    next_token(s, sentence, NULL, 0, log_p);
    for (int i = 0; i < V; i++) {
        int higher = 0;
        for (int j = 0; j < V; j++)
            higher += log_p[j] > log_p[i];
        weight[i] = top_k == 0 || higher < top_k ? exp(log_p[i] / temperature) : 0;
        sum += weight[i];
    }
    xlm_tape *tape = xlm_tape_new(s->parameters);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const xlm_search_options o = {.beam = SAMPLES, .length_penalty = 1, .temperature = temperature, .top_k = top_k, .seed = 9,
                                      .step = round};
        xlm_tape_begin(tape, NULL, false, 1, 1);
        const xlm_search_result *r = search(s, tape, &p, &o);
        assert_int_equal(r->n, SAMPLES);
        for (int k = 0; k < SAMPLES; k++) {
            const xlm_hypothesis *h = &r->best[k];
            counts[h->tokens > 0 ? h->ids[0] : specials.id[XLM_EOS]] += 1.0 / (SAMPLES * ROUNDS);
            double whole = 0, next[V];
            for (int32_t i = 0; i <= h->tokens && k == 0; i++) {
                next_token(s, sentence, h->ids, i, next);
                whole += next[i < h->tokens ? h->ids[i] : specials.id[XLM_EOS]];
            }
            assert_true(k > 0 || fabs(whole - h->log_probability) < TOLERANCE);
        }
    }
    for (int i = 0; i < V; i++) {
        const double wanted = weight[i] / sum;
        assert_true(fabs(counts[i] - wanted) < 5 * sqrt(wanted * (1 - wanted) / (SAMPLES * ROUNDS)) + 1e-12);
    }
    xlm_tape_free(tape);
}

static void test_samples_have_the_probabilities(void **state)
{
    (void)state;
    struct setup s = open_setup(make_config(false, true, XLM_HEAD_BERT), 0.3);
    compare_samples(&s, 1, 0);
    compare_samples(&s, 0.6, 0);
    compare_samples(&s, 1.4, 6);
    close_setup(&s);
}

/* A special token that is far more probable than all words, at a low temperature: words are sampled as if it were not there. */
static void test_samples_do_not_depend_on_forbidden_tokens(void **state)
{
    (void)state;
    const xlm_search_options options = {.beam = 1, .temperature = 0.1, .seed = 3};
    const xlm_row_choice choice = {.specials = &specials, .options = &options, .n = 1};
    int words[2] = {0};
    for (uint32_t sample = 0; sample < 200; sample++) {
        xlm_real logits[V];
        xlm_continuation found;
        for (int i = 0; i < V; i++)
            logits[i] = -300;
        logits[specials.id[XLM_MASK]] = 200;
        logits[7] = 1;
        logits[9] = (xlm_real)0.9; /* e times less probable at this temperature */
        assert_int_equal(xlm_search_continue_row(&choice, &(xlm_row_request){.sample = sample}, V, logits, &found), 1);
        assert_true(found.id == 7 || found.id == 9);
        assert_true(fabs(found.log_probability - ((found.id == 7 ? 1 : 0.9) - 200)) < 1e-3);
        words[found.id == 9]++;
    }
    assert_in_range(words[1], 34, 74); /* 200 / (1 + e) = 53.8, three standard deviations to either side */
}

/* ---- estimates ---- */

static void test_an_estimate_takes_what_the_longest_texts_take(void **state)
{
    (void)state;
    struct setup s = open_setup(make_config(false, true, XLM_HEAD_BERT), 0.5);
    favour_end(&s, -1000);
    const struct packed p = pack(SENTENCES, in_order);
    xlm_tape *tape = xlm_tape_new(s.parameters), *shapes = xlm_tape_new_of_shapes(s.parameters);
    for (int64_t beam = 1; beam <= 4; beam += 3) {
        const xlm_search_options o = {.beam = beam, .length_penalty = 1};
        xlm_tape_begin(tape, NULL, false, 1, 1);
        const xlm_search_result *real = search(&s, tape, &p, &o);
        assert_int_equal(real[0].best[0].tokens, max_tokens[0]);
        xlm_tape_begin(shapes, NULL, false, 1, 1);
        const xlm_search_result *planned = search(&s, shapes, &p, &o);
        assert_int_equal(planned[0].best[0].tokens, max_tokens[0]);
        const uint64_t peak = xlm_tape_peak_bytes(tape);
        assert_int_equal(peak, xlm_tape_peak_bytes(shapes));
        const xlm_search_input input = {.sentences = p.n, .memory_offsets = p.offsets, .languages = p.languages,
                                        .max_tokens = p.max_tokens};
        const uint64_t bytes = xlm_search_bytes(s.model, tape, &specials, &o, &input), memory = sizeof(xlm_real) * MEMORY * D;
        assert_in_range(bytes, peak - memory - 64, peak - memory);
    }
    xlm_tape_free(tape);
    xlm_tape_free(shapes);
    close_setup(&s);
}

/* ---- what is refused ---- */

/* A change of what is right, and a part of the message. */
struct mistake {
    const char *message;
    void (*change)(xlm_model_config *, xlm_search_options *, xlm_search_input *);
};

static xlm_special_tokens of_mistakes;

#define MISTAKE(name, change) \
    static void name(xlm_model_config *config, xlm_search_options *options, xlm_search_input *input) \
    { \
        (void)config, (void)options, (void)input; \
        change; \
    }
static const int32_t gap[] = {0, 3, 3}, other_start[] = {1, 3, 5}, other_end[] = {0, 3, 4}, far[] = {0, LANGUAGES},
                     before[] = {-1, 0}, long_text[] = {3, LONGEST + 1}, negative[] = {-1, 3};
MISTAKE(no_decoder, config->decoder_layers = 0)
MISTAKE(no_head, config->head = XLM_HEAD_NONE)
MISTAKE(no_sentence, input->sentences = 0)
MISTAKE(no_beam, options->beam = 0)
MISTAKE(wide_beam, options->beam = XLM_MAX_BEAM + 1)
MISTAKE(beam_of_vocabulary, options->beam = V + 1)
MISTAKE(cold, options->temperature = -1)
MISTAKE(no_temperature, options->temperature = (double)NAN)
MISTAKE(negative_top, options->top_k = -1)
MISTAKE(large_top, options->top_k = V + 1)
MISTAKE(no_penalty, options->length_penalty = (double)INFINITY)
MISTAKE(no_keys, options->temperature = 1)
MISTAKE(empty_memory, input->memory_offsets = gap)
MISTAKE(late_memory, input->memory_offsets = other_start)
MISTAKE(short_memory, input->memory_offsets = other_end)
MISTAKE(far_language, input->languages = far)
MISTAKE(early_language, input->languages = before)
MISTAKE(beyond_positions, input->max_tokens = long_text)
MISTAKE(negative_length, input->max_tokens = negative)
MISTAKE(other_special, of_mistakes.id[XLM_MASK] = V)

/* So many that the rows of the cache cannot be numbered. */
static void many_sentences(xlm_model_config *config, xlm_search_options *options, xlm_search_input *input)
{
    const int32_t n = G_MAXINT32 / XLM_MAX_BEAM / LONGEST + 1;
    int32_t *numbers = g_new0(int32_t, 3 * n + 1), *in = numbers + n + 1, *longest = in + n;
    for (int32_t i = 0; i < n; i++) {
        numbers[i + 1] = i + 1;
        longest[i] = LONGEST - 1;
    }
    (void)config;
    options->beam = XLM_MAX_BEAM;
    options->temperature = 1;
    *input = (xlm_search_input){.sentences = n, .memory_offsets = numbers, .languages = in, .max_tokens = longest,
                                .keys = g_new0(xlm_row_key, n)};
}

static const struct mistake mistakes[] = {
    {"no decoder", no_decoder}, {"no head", no_head}, {"0 sentences", no_sentence}, {"beam is 0", no_beam},
    {"from 1 to 1000", wide_beam}, {"vocabulary has 37", beam_of_vocabulary}, {"temperature", cold},
    {"temperature", no_temperature}, {"special token 37", other_special}, {"fewer sentences", many_sentences},
    {"top_k is -1", negative_top}, {"top_k is 38", large_top}, {"length penalty", no_penalty}, {"no keys", no_keys},
    {"rows 3 to 3", empty_memory}, {"rows 1 to 5", late_memory}, {"rows 0 to 4", short_memory}, {"language 2", far_language},
    {"language -1", early_language}, {"13 tokens", beyond_positions}, {"-1 tokens", negative_length},
};

static void make_mistake(const struct mistake *mistake)
{
    static const int32_t offsets[] = {0, 3, 5}, in[] = {0, 1}, longest[] = {3, 4};
    of_mistakes = specials;
    xlm_model_config config = make_config(false, true, XLM_HEAD_BERT);
    xlm_search_options options = {.beam = 2, .length_penalty = 1};
    xlm_search_input input = {.sentences = 2, .memory_offsets = offsets, .languages = in, .max_tokens = longest};
    mistake->change(&config, &options, &input);
    struct setup s = open_setup(config, 0.5);
    xlm_tape *tape = xlm_tape_new(s.parameters);
    xlm_tape_begin(tape, NULL, false, 1, 1);
    const int32_t rows = input.sentences > 2 ? input.sentences : 5;
    input.memory = xlm_constant_in_place(tape, rows, D, g_new0(xlm_real, rows * D));
    xlm_search(s.model, tape, &of_mistakes, &options, &input);
}

/* As of a model that has diverged: only the end can follow, and it has no probability. */
static void test_logits_that_are_no_numbers_end_a_text(void **state)
{
    (void)state;
    static const xlm_search_options options[] = {
        {.beam = 2, .length_penalty = 1}, {.beam = 1, .temperature = 1}, {.beam = 1, .temperature = 1, .top_k = 3}};
    static const xlm_real wrong[] = {(xlm_real)NAN, (xlm_real)INFINITY};
    for (size_t o = 0; o < G_N_ELEMENTS(options); o++)
        for (size_t w = 0; w < G_N_ELEMENTS(wrong); w++)
            for (int some = 1; some <= V; some += V - 1) {
                const xlm_row_choice choice = {.specials = &specials, .options = &options[o], .n = 4};
                const xlm_row_request request = {.position = 1};
                xlm_continuation found[4];
                xlm_real logits[V];
                for (int i = 0; i < V; i++)
                    logits[i] = i > V - 1 - some ? wrong[w] : (xlm_real)i / V;
                assert_int_equal(xlm_search_continue_row(&choice, &request, V, logits, found), 1);
                assert_int_equal(found[0].id, specials.id[XLM_EOS]);
                assert_true(isinf(found[0].log_probability) && found[0].log_probability < 0);
            }
}

static void test_what_cannot_be_searched_for_ends_the_program(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(mistakes); i++) {
        int ends[2], status = 0;
        char text[1000] = "";
        assert_int_equal(pipe(ends), 0);
        const pid_t child = fork();
        if (child == 0) {
            signal(SIGTRAP, SIG_DFL);
            signal(SIGABRT, SIG_DFL);
            dup2(ends[1], STDERR_FILENO);
            make_mistake(&mistakes[i]);
            _exit(0);
        }
        close(ends[1]);
        ssize_t n, all = 0;
        while ((n = read(ends[0], text + all, sizeof text - 1 - (size_t)all)) > 0)
            all += n;
        close(ends[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && (WTERMSIG(status) == SIGTRAP || WTERMSIG(status) == SIGABRT));
        assert_non_null(strstr(text, "xlm_search: "));
        assert_non_null(strstr(text, mistakes[i].message));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_cannot_be_searched_for_ends_the_program), /* children have no threads of OpenMP */
        cmocka_unit_test(test_logits_that_are_no_numbers_end_a_text),
        cmocka_unit_test(test_searches_find_what_the_definition_finds),
        cmocka_unit_test(test_texts_begin_with_tokens_of_languages),
        cmocka_unit_test(test_a_sentence_does_not_depend_on_the_others),
        cmocka_unit_test(test_samples_have_the_probabilities),
        cmocka_unit_test(test_samples_do_not_depend_on_forbidden_tokens),
        cmocka_unit_test(test_an_estimate_takes_what_the_longest_texts_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
