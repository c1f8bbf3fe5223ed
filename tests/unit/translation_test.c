/* xlm-mpi: batches of sentences for translation, and lines divided into sentences. SPDX-License-Identifier: GPL-3.0-or-later */
#include "model_fixture.h"

#include <string.h>

#include "text/words.h"
#include "translation/batches.h"
#include "translation/lines.h"
#include "translation/translate.h"

/* ---- batches ---- */

static void test_batches(void **state)
{
    (void)state;
    enum { N = 200 };
    int64_t cost[N], sum = 0;
    for (int i = 0; i < N; i++)
        sum += cost[i] = i % 17 == 0 ? 0 : 1 + i * 7919 % 90;
    cost[50] = 1000; /* more than a batch has */
    sum += 1000 - (1 + 50 * 7919 % 90);
    for (int ranks = 1; ranks <= 5; ranks += 2) {
        xlm_sentence_batches b;
        bool seen[N] = {false};
        int64_t last = G_MAXINT64, left = sum;
        xlm_sentence_batches_make(N, cost, 300, ranks, &b);
        for (int64_t i = 0; i < b.batches; i++) {
            int64_t tokens = 0;
            for (int64_t k = b.first[i]; k < b.first[i + 1]; k++) {
                const int64_t s = b.sentence[k];
                assert_true(!seen[s] && cost[s] > 0 && cost[s] <= last); /* the longest first */
                seen[s] = true;
                last = cost[s];
                tokens += cost[s];
            }
            assert_true(tokens <= 300 || b.first[i + 1] - b.first[i] == 1);
            assert_int_equal(b.cost[i], tokens);
            /* It is full; towards the end fewer are enough. */
            const int64_t full = ranks == 1 || left >= 300 * 2 * ranks ? 300 : 300 / 8;
            if (i + 1 < b.batches)
                assert_true(tokens + cost[b.sentence[b.first[i + 1]]] > full);
            left -= tokens;
            if (ranks > 1 && i + 1 == b.batches)
                assert_true(tokens <= 300 / 8);
        }
        for (int i = 0; i < N; i++)
            assert_true(seen[i] == (cost[i] > 0));
        assert_int_equal(left, 0);
        xlm_sentence_batches_clear(&b);
    }
}

/* With few sentences no batch has more than a rank's share of them. */
static void test_every_rank_has_a_batch(void **state)
{
    (void)state;
    const int64_t cost[] = {10, 10, 10, 10, 10, 10, 10, 10};
    xlm_sentence_batches b;
    xlm_sentence_batches_make(8, cost, 1000, 4, &b);
    assert_int_equal(b.batches, 4);
    for (int64_t i = 0; i < b.batches; i++)
        assert_int_equal(b.first[i + 1] - b.first[i], 2);
    xlm_sentence_batches_clear(&b);
    xlm_sentence_batches_make(0, cost, 1000, 4, &b);
    assert_int_equal(b.batches, 0);
    xlm_sentence_batches_clear(&b);
}

/* Blocks of many ranks have room for the lines that each of them is to get. */
static void test_size_of_blocks(void **state)
{
    (void)state;
    assert_int_equal(xlm_line_block_bytes(1), 1 << 24);
    assert_int_equal(xlm_line_block_bytes(64), 1 << 24);
    static const int ranks[] = {65, 160, 1024, 100000};
    for (size_t i = 0; i < G_N_ELEMENTS(ranks); i++)
        assert_true(xlm_line_block_bytes(ranks[i]) / (size_t)ranks[i] / XLM_LINE_BLOCK_LINES >= 256);
}

/* ---- sentences of a text ---- */

static void test_sentences(void **state)
{
    (void)state;
    static const char text[] = "Das ist gut. Größe: 3.5 m! „Ja?“ Ende", empty[] = "";
    static const char *const expected[] = {"Das ist gut. ", "Größe: 3.5 m! ", "„Ja?“ ", "Ende"};
    GError *error = NULL;
    size_t n;
    xlm_sentence_splitter *splitter = xlm_sentence_splitter_new("de", &error);
    assert_non_null(splitter);
    const xlm_word *sentence = xlm_sentence_splitter_split(splitter, text, strlen(text), &n, &error);
    assert_non_null(sentence);
    assert_int_equal(n, G_N_ELEMENTS(expected));
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(sentence[i].size, strlen(expected[i]));
        assert_memory_equal(text + sentence[i].start, expected[i], sentence[i].size);
    }
    assert_true(xlm_sentence_splitter_split(splitter, empty, 0, &n, &error) != NULL || error == NULL);
    assert_int_equal(n, 0);
    xlm_sentence_splitter_free(splitter);
}

/* ---- what a translator needs ---- */

/* Options of the smallest model that translates. */
static xlm_model_config translating(void)
{
    xlm_model_config c = defaults();
    c.layers = c.decoder_layers = 1;
    c.hidden_size = 16;
    c.attention_heads = 2;
    c.positions = 20;
    c.vocabulary = 30;
    return c;
}

static void refused(xlm_model_config config, const xlm_translation_options *options, int code, const char *why)
{
    struct setup s = open_setup(config, 0.1);
    GError *error = NULL;
    const bool good = xlm_translation_check(s.model, &xlm_own_special_tokens, options, &error);
    assert_true(good == (why == NULL));
    if (why != NULL) {
        assert_int_equal(xlm_error_exit_code(error), code);
        if (strstr(error->message, why) == NULL)
            fail_msg("no \"%s\" in: %s", why, error->message);
        g_error_free(error);
    }
    close_setup(&s);
}

static void test_check(void **state)
{
    (void)state;
    xlm_translation_options o = xlm_translation_defaults;
    xlm_model_config c = translating();
    refused(c, &o, 0, NULL);
    c.decoder_layers = 0;
    refused(c, &o, EX_DATAERR, "no decoder");
    c = translating();
    c.head = XLM_HEAD_NONE;
    refused(c, &o, EX_DATAERR, "no language-modelling head");
    c = translating();
    o.search.beam = 25;
    refused(c, &o, 0, NULL);
    o.search.beam = 26;
    refused(c, &o, EX_USAGE, "larger than the vocabulary");
    o = xlm_translation_defaults;
    o.n_best = 2;
    refused(c, &o, EX_USAGE, "more than the beam");
    o = xlm_translation_defaults;
    o.search.top_k = 31;
    refused(c, &o, EX_USAGE, "more than the vocabulary");
    o = xlm_translation_defaults;
    o.links_by = XLM_LINKS_BY_ATTENTION;
    o.link_layer = 2;
    refused(c, &o, EX_USAGE, "the decoder has 1 layers");
    o.links_by = XLM_LINKS_BY_STATES;
    o.link_layer = c.layers + 1;
    refused(c, &o, EX_USAGE, "the encoder has ");
}

/* ---- translations ---- */

static xlm_comm comm;

static xlm_translation_set *translate(const struct setup *s, xlm_tape *tape, const xlm_translation_options *options,
                                      const xlm_translation_sources *sources)
{
    const xlm_translator t = {.comm = &comm, .model = s->model, .tape = tape, .specials = &xlm_own_special_tokens,
                              .options = options};
    return xlm_translate(&t, sources);
}

/* Each sentence has the translations that it has alone; none has more ids than it may; the pass takes what was planned. */
static void check_translations(xlm_links_by links_by)
{
    enum { S = 7 };
    const int64_t offsets[S + 1] = {0, 3, 3, 4, 10, 28, 30, 33};
    int32_t ids[33], from[S] = {0}, to[S];
    for (int i = 0; i < 33; i++)
        ids[i] = 5 + i * 11 % 25;
    for (int i = 0; i < S; i++)
        to[i] = i % 2;
    xlm_model_config config = translating();
    config.language_embeddings = true;
    struct setup s = open_setup(config, 0.5);
    xlm_tape *tape = xlm_tape_new(s.parameters);
    xlm_translation_options o = xlm_translation_defaults;
    o.search.beam = 3;
    o.n_best = 2;
    o.length_ratio = 0.5;
    o.length_constant = 4;
    o.batch_tokens = 60;
    o.links_by = links_by;
    o.link_layer = 1;
    const xlm_translation_sources all = {.sentences = S, .offsets = offsets, .ids = ids, .from = from, .to = to};
    xlm_translation_set *t = translate(&s, tape, &o, &all);
    assert_int_equal(t->sentences, S);
    for (int k = 0; k < S; k++) {
        const int64_t n = offsets[k + 1] - offsets[k], own[] = {0, n}, found = t->first[k + 1] - t->first[k];
        const xlm_translation_sources one = {.sentences = 1, .offsets = own, .ids = ids + offsets[k], .from = from, .to = to + k,
                                             .first = (uint64_t)k};
        xlm_translation_set *alone = translate(&s, tape, &o, &one);
        assert_int_equal(found, n == 0 ? 0 : 2);
        assert_int_equal(found, alone->first[1]);
        for (int64_t i = 0; i < found; i++) {
            const xlm_translation *a = &t->all[t->first[k] + i], *b = &alone->all[i];
            assert_true(a->tokens == b->tokens && a->links == b->links && a->tokens <= n / 2 + 4);
            assert_true(a->score >= b->score && a->score <= b->score); /* the same bits */
            assert_true(i == 0 || a[-1].score >= a->score);
            assert_true(links_by == XLM_LINKS_BY_ATTENTION ? a->links == a->tokens : a->links > 0 || a->tokens == 0);
            assert_memory_equal(a->ids, b->ids, sizeof *a->ids * (size_t)a->tokens);
            for (int32_t l = 0; l < a->links; l++)
                assert_true((links_by == XLM_LINKS_BY_STATES || a->link[l].target == l) && a->link[l].target < a->tokens &&
                            a->link[l].target == b->link[l].target && a->link[l].source >= 0 && a->link[l].source < n &&
                            a->link[l].source == b->link[l].source);
        }
        xlm_translation_set_free(alone);
    }
    const xlm_translator translator = {.model = s.model, .tape = tape, .specials = &xlm_own_special_tokens, .options = &o};
    const double taken = (double)xlm_tape_peak_bytes(tape), planned = (double)xlm_translation_bytes(&translator, 18);
    if (!(taken <= planned && planned < 2 * taken))
        fail_msg("planned %g bytes, and it took %g", planned, taken);
    assert_int_equal(xlm_translation_longest(s.model), 18);
    xlm_translation_set_free(t);
    xlm_tape_free(tape);
    close_setup(&s);
}

static void test_translations(void **state)
{
    check_translations(XLM_LINKS_BY_ATTENTION);
    check_translations(XLM_LINKS_BY_STATES);
    (void)state;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches), cmocka_unit_test(test_every_rank_has_a_batch),
        cmocka_unit_test(test_size_of_blocks), cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_check), cmocka_unit_test(test_translations),
    };
    xlm_comm_open(&comm, "translation_test", &argc, &argv);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL), code = xlm_comm_close(&comm, NULL);
    return failed != 0 ? failed : code;
}
