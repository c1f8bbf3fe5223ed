/* xlm-mpi: back-translation: the translations, the loss of translating them back and its gradients, in double precision.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "host_fixture.h"

extern const xlm_loss_class xlm_loss_back_translation;

enum { SENTENCES = 4, ROWS = 21, POSITIONS = 16, LONGEST = POSITIONS - 2 };

/* Sentences of 2, 3, 8 and no words, in languages 0, 1, 0 and 1. */
static const int32_t sentence_offsets[SENTENCES + 1] = {0, 4, 9, 19, 21};
static const int32_t sentence_words[SENTENCES] = {2, 3, 8, 0}; /* with an <unk> in the second and in the third */
static const int32_t sentence_ids[ROWS] = {0, 7, 8, 2, 0, 9, 3, 12, 2, 0, 6, 3, 11, 10, 8, 7, 6, 5, 2, 0, 2};
static const int32_t sentence_positions[ROWS] = {0, 1, 2, 3, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1};
static const int32_t sentence_languages[ROWS] = {0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1};
static const int32_t sentence_zeros[2 * ROWS + SENTENCES * POSITIONS];
static xlm_row_key sentence_keys[SENTENCES * POSITIONS];

static xlm_text text_of(int32_t first, int32_t n)
{
    static int32_t starts[SENTENCES][SENTENCES + 1];
    const int32_t row = sentence_offsets[first];
    for (int32_t s = 0; s <= n; s++)
        starts[first][s] = sentence_offsets[first + s] - row;
    for (int32_t s = 0; s < SENTENCES; s++)
        for (int32_t i = sentence_offsets[s]; i < sentence_offsets[s + 1]; i++)
            sentence_keys[i] = (xlm_row_key){60 + (uint32_t)s, (uint32_t)(i - sentence_offsets[s])};
    return (xlm_text){
        .tokens = sentence_offsets[first + n] - row, .sequences = n, .offsets = starts[first], .ids = sentence_ids + row,
        .unmasked = sentence_ids + row, .positions = sentence_positions + row, .languages = sentence_languages + row,
        .unswitched = sentence_languages + row, .types = sentence_zeros, .keys = sentence_keys + row,
        .specials = &xlm_own_special_tokens,
    };
}

static xlm_batch batch_of(int32_t first, int32_t n)
{
    const xlm_text text = text_of(first, n);
    return (xlm_batch){.original = text, .corrupted = text};
}

static const char *const greedy[] = {"source_languages=aa,bb", NULL};
static const char *const smooth[] = {"source_languages=bb,aa", "label_smoothing=0.1", NULL};
static const char *const sampled[] = {"source_languages=aa,bb", "temperature=1", NULL};
static const char *const of_top[] = {"source_languages=aa,bb", "temperature=1", "top_k=1", NULL};

static struct hosted_job job_named(const char *name, const xlm_batch *of, const char *const *options)
{
    static const char *const components[] = {"aa", "bb", NULL};
    struct hosted_job job = {.batch = of, .languages = true, .decoder_layers = 2, .positions = POSITIONS,
                             .own_embeddings = options == smooth, .stream = {.name = "text", .components = components}};
    add_objective(&job, name, &xlm_loss_back_translation, options);
    if (!open_job(&job))
        fail_msg("%s", job.message);
    return job;
}

static struct hosted_job job_of(const xlm_batch *of, const char *const *options) { return job_named("back", of, options); }

/* ---- by hand ---- */

struct translation {
    int32_t n, ids[POSITIONS]; /* with <s> and </s> */
};

/* The beginning of a sentence in this language. */
static xlm_text beginning(const int32_t starts[2], const int32_t *tokens, const int32_t *into)
{
    static const int32_t counting[POSITIONS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return (xlm_text){.tokens = starts[1], .sequences = 1, .offsets = starts, .ids = tokens, .unmasked = tokens,
                      .positions = counting, .languages = into, .unswitched = into, .types = sentence_zeros, .keys = sentence_keys,
                      .specials = &xlm_own_special_tokens};
}

/* Greedy translation, each token computed from nothing. */
static struct translation translate(struct hosted_job *job, int32_t sentence)
{
    const xlm_text source = text_of(sentence, 1);
    const int32_t longest = MIN(13 * sentence_words[sentence] / 10 + 5, LONGEST);
    struct translation t = {.n = 1, .ids = {XLM_ID_BOS}};
    int32_t into[POSITIONS];
    for (int i = 0; i < POSITIONS; i++)
        into[i] = 1 - sentence_languages[sentence_offsets[sentence]];
    while (t.ids[t.n - 1] != XLM_ID_EOS) {
        const int32_t starts[2] = {0, t.n};
        const xlm_text target = beginning(starts, t.ids, into);
        xlm_tape_begin(job->tape, NULL, false, 1, 1);
        xlm_var *memory = xlm_model_encode(job->model, job->tape, &source, false, XLM_TOP_LAYER, NULL, 0)[2];
        xlm_var *h = xlm_model_decode(job->model, job->tape, &target, memory, source.offsets, XLM_TOP_LAYER, NULL, 0)[2];
        const double *z = xlm_lm_logits(job->model, job->tape, XLM_STACK_DECODER, h)->value + (t.n - 1) * V;
        int32_t best = XLM_ID_EOS;
        for (int32_t v = 0; v < V && t.n - 1 < longest; v++)
            if (z[v] > z[best] && !xlm_is_special(&xlm_own_special_tokens, v))
                best = v;
        t.ids[t.n++] = best;
    }
    return t;
}

static void check_sources(const xlm_text *made, int32_t sentence, int32_t s, const struct translation *t)
{
    assert_int_equal(made->offsets[s + 1] - made->offsets[s], t->n);
    assert_memory_equal(made->ids + made->offsets[s], t->ids, sizeof *t->ids * (size_t)t->n);
    for (int32_t i = made->offsets[s]; i < made->offsets[s + 1]; i++)
        assert_true(made->languages[i] == 1 - sentence_languages[sentence_offsets[sentence]] &&
                    made->positions[i] == i - made->offsets[s] && made->keys[i].instance == 60 + (uint32_t)sentence);
}

static double loss_by_hand(struct hosted_job *job, const xlm_text *source, const xlm_text *target, double smoothing)
{
    xlm_tape_begin(job->tape, NULL, false, 1, 1);
    xlm_var *memory = xlm_model_encode(job->model, job->tape, source, false, XLM_TOP_LAYER, NULL, 0)[2];
    xlm_var *h = xlm_model_decode(job->model, job->tape, target, memory, source->offsets, XLM_TOP_LAYER, NULL, 0)[2];
    const xlm_var *z = xlm_lm_logits(job->model, job->tape, XLM_STACK_DECODER, h);
    double sum = 0;
    for (int32_t s = 0; s < target->sequences; s++)
        for (int32_t row = target->offsets[s]; row + 1 < target->offsets[s + 1]; row++) {
            double total = 0, all = 0;
            for (int v = 0; v < V; v++)
                total += exp(z->value[row * V + v]);
            for (int v = 0; v < V; v++)
                all += (log(total) - z->value[row * V + v]) / V;
            sum += (1 - smoothing) * (log(total) - z->value[row * V + target->ids[row + 1]]) + smoothing * all;
        }
    return sum / (target->tokens - target->sequences);
}

static void draw_parameters(struct hosted_job *job, int number)
{
    for (int64_t i = 0; i < xlm_parameters_size(job->parameters); i++)
        xlm_parameters_values(job->parameters)[i] = 1.5 * gradient_number((uint32_t)(100 + number), i);
}

static void test_greedy(void **state)
{
    (void)state;
    int ended = 0, cut = 0;
    for (int k = 0; k < 12; k++) {
        const xlm_batch of = batch_of(0, SENTENCES);
        const double smoothing = k % 2 == 1 ? 0.1 : 0;
        struct hosted_job job = job_of(&of, k % 2 == 1 ? smooth : greedy);
        draw_parameters(&job, k);
        xlm_pass_input input = job_input(&job, 0, 1);
        label_job(&job, &input);
        assert_int_equal(input.terms[0], ROWS - SENTENCES);
        for (int32_t s = 0; s < SENTENCES; s++) {
            const struct translation t = translate(&job, s);
            check_sources(input.made[0], s, s, &t);
            const bool longest = t.n - 2 == MIN(13 * sentence_words[s] / 10 + 5, LONGEST);
            cut += longest;
            ended += !longest;
        }
        const double got = run_job(&job, &input, NULL, NULL), wanted = loss_by_hand(&job, input.made[0], &of.original, smoothing);
        if (!(fabs(got - wanted) < 1e-12))
            fail_msg("job %d: %.15g instead of %.15g", k, got, wanted);
        input.held_out = true; /* without label smoothing */
        assert_true(fabs(run_job(&job, &input, NULL, NULL) - loss_by_hand(&job, input.made[0], &of.original, 0)) < 1e-12);
        input.held_out = false;
        if (k < 2)
            check_gradients_of(&job, &input);
        close_job(&job);
    }
    assert_true(ended > 5 && cut > 5); /* there were such translations */
}

/* What label of an objective of this name makes of these sentences, as text. */
static char *made_by(const char *name, const char *const *options, int32_t first, int32_t n, int64_t step, bool held_out)
{
    const xlm_batch of = batch_of(first, n);
    struct hosted_job job = job_named(name, &of, options);
    xlm_pass_input input = job_input(&job, 0, 1);
    input.step = step;
    input.held_out = held_out;
    label_job(&job, &input);
    GString *made = g_string_new("");
    for (int32_t s = 0; s < n; s++) {
        for (int32_t i = input.made[0]->offsets[s]; i < input.made[0]->offsets[s + 1]; i++)
            g_string_append_printf(made, "%d ", input.made[0]->ids[i]);
        g_string_append_c(made, '\n');
    }
    close_job(&job);
    return g_string_free(made, FALSE);
}

static char *made_of(const char *const *options, int32_t first, int32_t n, int64_t step, bool held_out)
{
    return made_by("back", options, first, n, step, held_out);
}

/* A sample depends on the objective, the step and the sentence, not on the other sentences; held-out text has none. */
static void test_samples(void **state)
{
    (void)state;
    g_autofree char *all = made_of(sampled, 0, SENTENCES, 5, false), *again = made_of(sampled, 0, SENTENCES, 5, false);
    g_autofree char *later = made_of(sampled, 0, SENTENCES, 6, false), *most = made_of(greedy, 0, SENTENCES, 5, false);
    g_autofree char *held = made_of(sampled, 0, SENTENCES, 5, true), *one = made_of(of_top, 0, SENTENCES, 5, false);
    g_autofree char *begin = made_of(sampled, 0, 1, 5, false), *rest = made_of(sampled, 1, SENTENCES - 1, 5, false);
    g_autofree char *parts = g_strconcat(begin, rest, NULL), *other = made_by("more", sampled, 0, SENTENCES, 5, false);
    g_autofree char *other_most = made_by("more", greedy, 0, SENTENCES, 5, false);
    assert_string_equal(all, again);
    assert_string_not_equal(all, other);
    assert_string_equal(most, other_most);
    assert_string_equal(all, parts);
    assert_string_not_equal(all, later);
    assert_string_not_equal(all, most);
    assert_string_equal(held, most);
    assert_string_equal(one, most);
}

/* Of three languages, a sentence is translated into one of the two that are not its own, each half of the times. */
static void test_languages(void **state)
{
    (void)state;
    enum { STEPS = 150, LANGUAGES = 3 };
    static const char *const three[] = {"source_languages=cc,aa,bb", NULL};
    const xlm_batch of = batch_of(0, SENTENCES);
    struct hosted_job job = {.batch = &of, .languages = true, .model_languages = LANGUAGES, .decoder_layers = 1,
                             .positions = POSITIONS, .stream = {.name = "text"}};
    int drawn[LANGUAGES][LANGUAGES] = {{0}}, sentences[LANGUAGES] = {0};
    add_objective(&job, "back", &xlm_loss_back_translation, three);
    assert_true(open_job(&job));
    for (int64_t step = 0; step < STEPS; step++) {
        xlm_arena_reset(job.arena);
        xlm_pass_input input = job_input(&job, 0, 1);
        input.step = step;
        label_job(&job, &input);
        for (int32_t s = 0; s < SENTENCES; s++) {
            const int32_t own = sentence_languages[sentence_offsets[s]];
            drawn[own][input.made[0]->languages[input.made[0]->offsets[s]]]++;
            sentences[own]++;
        }
    }
    for (int32_t own = 0; own < 2; own++)
        for (int32_t other = 0; other < LANGUAGES; other++) {
            const double n = sentences[own], p = other == own ? 0 : 0.5;
            if (!(fabs(drawn[own][other] - n * p) <= 4.5 * sqrt(n * p * (1 - p))))
                fail_msg("%d of %g sentences of language %d are translated into %d", drawn[own][other], n, own, other);
        }
    close_job(&job);
}

/* ---- what it refuses ---- */

static void refuse(struct hosted_job job, const char *const *options, const char *message)
{
    const xlm_batch of = batch_of(0, SENTENCES);
    job.batch = &of;
    add_objective(&job, "back", &xlm_loss_back_translation, options);
    refuse_job(&job, message);
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const components[] = {"aa", "bb", NULL};
    static const char *const unknown[] = {"source_languages=aa,cc", NULL};
    static const char *const twice[] = {"source_languages=aa,aa", NULL}, *const one[] = {"source_languages=bb", NULL};
    static const char *const top[] = {"source_languages=aa,bb", "top_k=5", NULL};
    static const char *const cold[] = {"source_languages=aa,bb", "temperature=1e-39", NULL};
    const struct hosted_job good = {.languages = true, .decoder_layers = 1, .stream = {.name = "text", .components = components}};
    struct hosted_job job = good;
    job.decoder_layers = 0;
    refuse(job, greedy, "[objective back]: it needs a decoder, and the model has none");
    job = good, job.languages = false, job.untold = true;
    refuse(job, greedy, "without language embeddings or tokens the decoder cannot know into which language to translate");
    job = good, job.stream.parallel = true;
    refuse(job, greedy, "[stream text] has pairs, and back-translation is of text without translation");
    job = good, job.stream.joined = true;
    refuse(job, greedy, "can hold several sentences; set join_sentences = false there");
    refuse(good, unknown, "source_languages: the corpus has no language cc");
    refuse(good, twice, "source_languages has aa twice");
    refuse(good, one, "[stream text] has text in bb, and source_languages has no other language");
    refuse(good, top, "top_k is for samples, and temperature = 0 makes none");
    refuse(good, cold, "temperature = 1e-39: must be 0, or from 0.001 to 100");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_greedy), cmocka_unit_test(test_samples), cmocka_unit_test(test_languages),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
