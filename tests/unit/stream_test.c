/* xlm-mpi: tests of streams against answers worked out by hand. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream_fixture.h"

#include <stddef.h>

#include "stream/instances.h"
#include "stream/packing.h"
#include "stream/parallel.h"
#include "stream/stages.h"

enum { EN, DE, FR, CS };

/* ---- opening and reading ---- */

enum { SEED = 1234 };

static xlm_stream *open_stream(const xlm_corpus *corpus, const char *settings)
{
    return open_training(corpus, 0, settings, SEED);
}

static xlm_batch read_all(xlm_stream *stream, xlm_arena *arena)
{
    return read_in_order(stream, 0, xlm_stream_instances(stream), arena);
}

static void has_instances(const xlm_corpus *corpus, const char *settings, int64_t n)
{
    xlm_stream *stream = open_stream(corpus, settings);
    assert_int_equal(xlm_stream_instances(stream), n);
    xlm_stream_close(stream);
}

static void describes(const xlm_stream *stream, const char *expected)
{
    char *description = xlm_stream_describe(stream);
    assert_string_equal(description, expected);
    g_free(description);
}

/* Properties of every batch, whatever is in it. */
static void check_batch(const xlm_batch *b, int number, int64_t first)
{
    int32_t masked = 0;
    assert_int_equal(b->corrupted.offsets[0], 0);
    assert_int_equal(b->corrupted.offsets[b->corrupted.sequences], b->corrupted.tokens);
    for (int32_t s = 0; s < b->corrupted.sequences; s++)
        for (int32_t i = b->corrupted.offsets[s]; i < b->corrupted.offsets[s + 1]; i++) {
            assert_int_equal(b->corrupted.keys[i].instance, (uint32_t)number << 24 | (uint32_t)(first + s));
            assert_int_equal(b->corrupted.keys[i].position, i - b->corrupted.offsets[s]);
            assert_true(b->corrupted.unmasked[i] >= 0 && b->corrupted.unmasked[i] < VOCABULARY);
            if (masked < b->predicted && b->predicted_rows[masked] == i) {
                assert_true(b->corrupted.unmasked[i] >= XLM_SPECIALS);
                assert_int_equal(b->targets[masked++], b->corrupted.unmasked[i]);
            } else
                assert_int_equal(b->corrupted.ids[i], b->corrupted.unmasked[i]);
        }
    assert_int_equal(masked, b->predicted);
}

static void expect_numbers(const int32_t *got, int n, const int *expected)
{
    for (int i = 0; i < n; i++)
        if (got[i] != expected[i])
            fail_msg("number %d is %d, not %d", i, got[i], expected[i]);
}

/* The tokens of an instance as text: <s> and </s> as ( and ), ordinary tokens as their language and index. */
static char *spell(const xlm_batch *b, int32_t s)
{
    GString *out = g_string_new(NULL);
    for (int32_t i = b->corrupted.offsets[s]; i < b->corrupted.offsets[s + 1]; i++) {
        const int id = b->corrupted.unmasked[i], language = b->corrupted.languages[i];
        if (id == XLM_ID_BOS)
            g_string_append(out, "( ");
        else if (id == XLM_ID_EOS)
            g_string_append(out, ") ");
        else
            g_string_append_printf(out, "%s%d ", languages[language],
                                   (id - token_at(language, 0) + SUBWORDS) % SUBWORDS);
    }
    return g_string_free(out, FALSE);
}

static void expect_text(const xlm_batch *b, int32_t s, const char *expected)
{
    char *text = spell(b, s);
    assert_string_equal(g_strchomp(text), expected);
    g_free(text);
}

/* ---- special tokens ---- */

/* A corpus whose special tokens have other ids gives the same batches, with these ids: in the text, around it, as masks, and
 * never as a random replacement. */
static void special_tokens_are_the_vocabularys(void **state)
{
    (void)state;
    static const int lengths[] = {300, 200, 400, 500};
    static const int32_t ids[XLM_SPECIAL_TOKENS] = {101, 0, 102, 100, VOCABULARY - 1};
    xlm_special_tokens elsewhere;
    assert_true(xlm_special_tokens_set(&elsewhere, ids, NULL));
    corpus_plan plan = {.text = {{[EN] = {4, 4, lengths}}}};
    xlm_corpus *ours = make_corpus(&plan);
    plan.specials = &elsewhere;
    xlm_corpus *other = make_corpus(&plan);
    static const char options[] = "length=64\nbatch=16\nmask=0.5\nreplace=mask:0.5,random:0.5\nlanguages=en\n";
    xlm_stream *streams[2] = {open_stream(ours, options), open_stream(other, options)};
    xlm_arena *arena = xlm_arena_new();
    for (int64_t step = 0; step < 4; step++) {
        const xlm_batch a = read_step(streams[0], step, 0, 16, arena), b = read_step(streams[1], step, 0, 16, arena);
        assert_int_equal(a.corrupted.tokens, b.corrupted.tokens);
        assert_int_equal(a.predicted, b.predicted);
        assert_memory_equal(b.corrupted.specials->id, ids, sizeof ids);
        for (int32_t i = 0; i < a.corrupted.tokens; i++) {
            assert_int_equal(b.corrupted.unmasked[i], id_in(&elsewhere, a.corrupted.unmasked[i]));
            assert_int_equal(b.corrupted.ids[i], id_in(&elsewhere, a.corrupted.ids[i]));
        }
        for (int32_t k = 0; k < a.predicted; k++)
            assert_int_equal(b.targets[k], id_in(&elsewhere, a.targets[k]));
    }
    xlm_arena_free(arena);
    for (int i = 0; i < 2; i++)
        xlm_stream_close(streams[i]);
    xlm_corpus_close(ours);
    xlm_corpus_close(other);
}

/* ---- monolingual ---- */

static const int en_lengths[] = {3, 2, 4, 0, 1, 20, 2, 1, /* parallel only: */ 5, 6};
static const int de_lengths[] = {1, 1};
static const corpus_plan two_languages = {
    .text = {{[EN] = {10, 8, en_lengths}, [DE] = {2, 2, de_lengths}}, {[DE] = {2, 1, de_lengths}}}};

static void sentences_are_joined_and_cut(void **state)
{
    (void)state;
    xlm_corpus *corpus = make_corpus(&two_languages);
    xlm_stream *stream = open_stream(corpus, "length=8\nmask=0\nlanguages=en\n");
    xlm_arena *arena = xlm_arena_new();
    assert_int_equal(xlm_stream_instances(stream), 7);
    assert_int_equal(xlm_stream_longest(stream), 8);
    assert_int_equal(xlm_stream_positions(stream), 8);
    assert_false(xlm_stream_has_pairs(stream));
    const xlm_batch b = read_all(stream, arena);
    check_batch(&b, 0, 0);
    assert_int_equal(b.corrupted.sequences, 7);
    assert_int_equal(b.predicted, 0);
    expect_text(&b, 0, "( en0 en1 en2 ) en3 en4 )");
    expect_text(&b, 1, "( en5 en6 en7 en8 ) en9 )"); /* the empty sentence between them leaves nothing */
    expect_text(&b, 2, "( en10 en11 en12 en13 en14 en15 )");
    expect_text(&b, 3, "( en16 en17 en18 en19 en20 en21 )");
    expect_text(&b, 4, "( en22 en23 en24 en25 en26 en27 )");
    expect_text(&b, 5, "( en28 en29 ) en30 en31 )");
    expect_text(&b, 6, "( en32 )");
    for (int32_t s = 0; s < b.corrupted.sequences; s++)
        for (int32_t i = b.corrupted.offsets[s]; i < b.corrupted.offsets[s + 1]; i++) {
            assert_int_equal(b.corrupted.positions[i], i - b.corrupted.offsets[s]);
            assert_int_equal(b.corrupted.languages[i], EN);
            assert_int_equal(b.corrupted.types[i], 0);
        }
    describes(stream, "7 instances (en 7, 100.0 % of the draws); sentences cut into pieces: 1");
    xlm_arena_free(arena);
    xlm_stream_close(stream);
    xlm_corpus_close(corpus);
}

/* Each sentence alone; one that does not fit is cut, and its rest is an instance too. */
/* A block of the index for every 64 instances, and for 4,096 units at most. */
static void index_of_instances(void **state)
{
    (void)state;
    xlm_corpus *corpus = make_corpus(&two_languages);
    xlm_stream *stream = open_stream(corpus, "length=8\nmask=0\n");
    assert_int_equal(xlm_stream_components(stream), 2);
    assert_int_equal(xlm_stream_index_bytes(stream), 2 * sizeof(xlm_block));
    xlm_stream_close(stream);
    xlm_corpus_close(corpus);
    xlm_instances instances;
    xlm_instances_init(&instances);
    for (int64_t i = 0; i < 129; i++)
        xlm_instances_add(&instances, &(xlm_extent){.unit = i, .end = i + 1});
    assert_int_equal(xlm_instances_bytes(&instances), 3 * sizeof(xlm_block));
    xlm_instances_clear(&instances);
}

static void single_sentences(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "( en0 en1 en2 )", "( en3 en4 )", "( en5 en6 en7 en8 )", "( en9 )", "( en10 en11 en12 en13 en14 en15 )",
        "( en16 en17 en18 en19 en20 en21 )", "( en22 en23 en24 en25 en26 en27 )", "( en28 en29 )", "( en30 en31 )", "( en32 )",
    };
    enum { N = G_N_ELEMENTS(expected) };
    xlm_corpus *corpus = make_corpus(&two_languages);
    xlm_stream *stream = open_stream(corpus, "length=8\nmask=0\nlanguages=en\njoin_sentences=false\n");
    xlm_arena *arena = xlm_arena_new();
    const xlm_batch b = read_all(stream, arena);
    check_batch(&b, 0, 0);
    assert_int_equal(b.corrupted.sequences, N);
    for (int i = 0; i < N; i++) {
        const xlm_batch alone = read_in_order(stream, i, 1, arena);
        expect_text(&b, i, expected[i]);
        expect_text(&alone, 0, expected[i]);
    }
    describes(stream, "10 instances (en 10, 100.0 % of the draws); sentences cut into pieces: 1");
    xlm_stream_close(stream);
    GError *error = NULL;
    assert_null(try_open(corpus, XLM_TRAIN, 0, "type=parallel\njoin_sentences=false\n", SEED, &error));
    must_say(error, 78, "[stream s]: join_sentences is about monolingual text");
    xlm_arena_free(arena);
    xlm_corpus_close(corpus);
}

static void all_languages_when_none_is_named(void **state)
{
    (void)state;
    xlm_corpus *corpus = make_corpus(&two_languages);
    xlm_stream *stream = open_stream(corpus, "length=4\nalpha=1\nmask=0\n");
    xlm_arena *arena = xlm_arena_new();
    xlm_batch b = read_all(stream, arena);
    assert_int_equal(b.corrupted.languages[b.corrupted.tokens - 1], DE); /* in order: one language after the other */
    expect_text(&b, b.corrupted.sequences - 2, "( de0 )");
    expect_text(&b, b.corrupted.sequences - 1, "( de1 )");
    /* en has 33 monolingual tokens and de 2: 94.29 % and 5.71 % of the draws. Sentences of 3, 2, 4, 1, 20, 2, 1 in twos
     * are 2 + 1 + 2 + 1 + 10 + 1 + 1 instances; none has room for a second sentence. */
    describes(stream, "20 instances (en 18, 94.3 % of the draws; de 2, 5.7 % of the draws); sentences cut into "
                      "pieces: 3");
    xlm_stream_close(stream);

    stream = open_stream(corpus, "length=4\nalpha=0\nlanguages=de,en\n");
    describes(stream, "20 instances (de 2, 50.0 % of the draws; en 18, 50.0 % of the draws); sentences cut into "
                      "pieces: 3");
    b = read_all(stream, arena);
    assert_int_equal(b.corrupted.languages[0], DE);
    xlm_stream_close(stream);
    xlm_arena_free(arena);
    xlm_corpus_close(corpus);
}

static void corpus_of_one_token(void **state)
{
    (void)state;
    const int one[] = {1};
    const corpus_plan plan = {.text = {{[FR] = {1, 1, one}}}};
    xlm_corpus *corpus = make_corpus(&plan);
    xlm_stream *stream = open_stream(corpus, "batch=5\nlength=512\n");
    xlm_arena *arena = xlm_arena_new();
    assert_int_equal(xlm_stream_instances(stream), 1);
    for (int64_t step = 0; step < 3; step++) {
        const xlm_batch b = read_step(stream, step, 0, 5, arena);
        check_batch(&b, 0, 0);
        assert_int_equal(b.corrupted.tokens, 15);
        assert_int_equal(b.predicted, 5); /* one of one */
        for (int32_t s = 0; s < 5; s++)
            expect_text(&b, s, "( fr0 )");
    }
    const xlm_batch none = read_step(stream, 0, 2, 0, arena);
    assert_int_equal(none.corrupted.sequences, 0);
    assert_int_equal(none.corrupted.tokens, 0);
    assert_int_equal(none.predicted, 0);
    assert_int_equal(none.corrupted.offsets[0], 0);
    xlm_arena_free(arena);
    xlm_stream_close(stream);
    xlm_corpus_close(corpus);
}

/* ---- parallel ---- */

/* Pairs of de and en: (2,3) (3,1) (1,1) (7,1) (0,2) (6,6) (1,2); en is in another order in its file. */
static const int pair_de[] = {2, 3, 1, 7, 0, 6, 1};
static const int pair_en[] = {1, 3, 1, 6, 1, 2, 2};
static const int64_t pair_links[] = {0, 1, 1, 0, 2, 2, 3, 4, 4, 5, 5, 3, 6, 6};
static const corpus_plan one_pair = {.text = {{[DE] = {7, 0, pair_de}, [EN] = {7, 0, pair_en}}},
                                     .pairs = {{{DE, EN, 7, pair_links}}}};

static void form_xlm(void **state)
{
    (void)state;
    xlm_corpus *corpus = make_corpus(&one_pair);
    xlm_stream *stream = open_stream(corpus, "type=parallel\nlength=8\nmask=0\n");
    xlm_arena *arena = xlm_arena_new();
    assert_int_equal(xlm_stream_longest(stream), 16);
    assert_int_equal(xlm_stream_positions(stream), 8);
    assert_true(xlm_stream_has_pairs(stream));
    const xlm_batch b = read_all(stream, arena);
    check_batch(&b, 0, 0);
    assert_int_equal(b.corrupted.sequences, 4);
    expect_text(&b, 0, "( de0 de1 ) de2 de3 de4 ) ( en1 en2 en3 ) en0 )"); /* halves of 8 and 7 */
    expect_text(&b, 1, "( de5 ) ( en4 )");
    expect_text(&b, 2, "( de13 de14 de15 de16 de17 de18 ) ( en5 en6 en7 en8 en9 en10 )"); /* 8 and 8 */
    expect_text(&b, 3, "( de19 ) ( en14 en15 )");
    expect_numbers(b.corrupted.positions, 15 + 6,
                   (const int[]){0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 0, 1, 2});
    expect_numbers(b.corrupted.types, 15 + 6, (const int[]){0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1});
    expect_numbers(b.corrupted.languages, 15 + 6, (const int[]){DE, DE, DE, DE, DE, DE, DE, DE, EN, EN, EN, EN, EN, EN, EN,
                                                      DE, DE, DE, EN, EN, EN});
    describes(stream, "4 instances (de-en 4, 100.0 % of the draws), 5 pairs; left out: 1 too long, 1 by the bounds on "
                      "their sides");
    xlm_stream_close(stream);

    stream = open_stream(corpus, "type=parallel\nlength=8\nmask=0\nlanguages=en-de\n"); /* the other way round */
    const xlm_batch c = read_all(stream, arena);
    expect_text(&c, 0, "( en1 en2 en3 ) en0 ) ( de0 de1 ) de2 de3 de4 )");
    expect_text(&c, 3, "( en14 en15 ) ( de19 )");
    xlm_stream_close(stream);

    has_instances(corpus, "type=parallel\nlength=8\nlanguages=en-de,de-en\n", 8); /* both ways */
    has_instances(corpus, "type=parallel\nlength=8\nlanguages=en-de,*\n", 4);     /* no other pair is there */
    xlm_arena_free(arena);
    xlm_corpus_close(corpus);
}

static void form_bert(void **state)
{
    (void)state;
    xlm_corpus *corpus = make_corpus(&one_pair);
    xlm_stream *stream = open_stream(corpus, "type=parallel\nform=bert\nlength=8\nmask=0\n");
    xlm_arena *arena = xlm_arena_new();
    assert_int_equal(xlm_stream_longest(stream), 8);
    const xlm_batch b = read_all(stream, arena);
    check_batch(&b, 0, 0);
    assert_int_equal(b.corrupted.sequences, 4);
    expect_text(&b, 0, "( de0 de1 ) en1 en2 en3 )"); /* 8 tokens */
    expect_text(&b, 1, "( de2 de3 de4 ) en0 )");
    expect_text(&b, 2, "( de5 ) en4 )");
    expect_text(&b, 3, "( de19 ) en14 en15 )");
    expect_numbers(b.corrupted.positions, 8, (const int[]){0, 1, 2, 3, 4, 5, 6, 7});
    expect_numbers(b.corrupted.types, 8, (const int[]){0, 0, 0, 0, 1, 1, 1, 1});
    expect_numbers(b.corrupted.languages, 8, (const int[]){DE, DE, DE, DE, EN, EN, EN, EN});
    describes(stream, "4 instances (de-en 4, 100.0 % of the draws), 4 pairs; left out: 2 too long, 1 by the bounds on "
                      "their sides");
    xlm_stream_close(stream);

    /* (2,3) alone: (6,6) are 12, all others have a side under 2. */
    has_instances(corpus, "type=parallel\nform=bert\nlength=64\nleast_side=2\nmost_pair=11\n", 1);
    has_instances(corpus, "type=parallel\nform=bert\nlength=64\nleast_side=2\nmost_pair=12\n", 2);
    xlm_arena_free(arena);
    xlm_corpus_close(corpus);
}

static void sides_are_shuffled(void **state)
{
    (void)state;
    const int lengths[] = {2, 3};
    const int64_t links[] = {0, 0, 1, 1};
    const corpus_plan plan = {.text = {{[DE] = {2, 0, lengths}, [EN] = {2, 0, lengths}}},
                              .pairs = {{{DE, EN, 2, links}}}};
    xlm_corpus *corpus = make_corpus(&plan);
    xlm_arena *arena = xlm_arena_new();
    const struct { const char *settings, *plain, *turned; } forms[] = {
        {"type=parallel\nform=bert\nlength=7\nshuffle_sides=true\nbatch=400\n", "( de0 de1 ) en0 en1 )",
         "( en0 en1 ) de0 de1 )"}, /* the pair of threes does not fit */
        {"type=parallel\nform=xlm\nlength=10\nshuffle_sides=true\nbatch=400\n",
         "( de0 de1 ) de2 de3 de4 ) ( en0 en1 ) en2 en3 en4 )", "( en0 en1 ) en2 en3 en4 ) ( de0 de1 ) de2 de3 de4 )"},
    };
    for (size_t f = 0; f < G_N_ELEMENTS(forms); f++) {
        xlm_stream *stream = open_stream(corpus, forms[f].settings);
        const xlm_batch b = read_step(stream, 5, 0, 400, arena);
        int turned = 0;
        for (int32_t s = 0; s < b.corrupted.sequences; s++) {
            const int32_t first = b.corrupted.offsets[s], last = b.corrupted.offsets[s + 1] - 1;
            const bool turn = b.corrupted.languages[first] == EN;
            turned += turn;
            expect_text(&b, s, turn ? forms[f].turned : forms[f].plain);
            assert_int_equal(b.corrupted.types[first], 0);
            assert_int_equal(b.corrupted.types[last], 1);
            assert_int_equal(b.corrupted.positions[first], 0);
            assert_int_equal(b.corrupted.positions[last], f == 0 ? 6 : 7);
        }
        assert_in_range(turned, 160, 240); /* 200 expected, deviation 10 */
        const xlm_batch same = read_step(stream, 5, 100, 1, arena);
        assert_int_equal(same.corrupted.languages[0], b.corrupted.languages[b.corrupted.offsets[100]]);
        xlm_stream_close(stream);
    }
    xlm_arena_free(arena);
    xlm_corpus_close(corpus);
}

/* A share of the pairs is for training; held-out pairs are all read. Of a list of shares of predicted tokens they have the last. */
static void held_out_pairs(void **state)
{
    (void)state;
    enum { PAIRS = 200, WORDS = 8 };
    static const char settings[] = "type=parallel\nform=bert\nlength=64\nshare=0.2\nmask=0:0.1,10=0.6\n";
    int lengths[PAIRS];
    int64_t links[2 * PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        lengths[i] = WORDS;
        links[2 * i] = links[2 * i + 1] = i;
    }
    const split_text text = {PAIRS, 0, lengths};
    const split_pairs pairs = {DE, EN, PAIRS, links};
    const corpus_plan plan = {.text = {{[DE] = text, [EN] = text}, {[DE] = text, [EN] = text}}, .pairs = {{pairs}, {pairs}}};
    xlm_corpus *corpus = make_corpus(&plan);
    GError *error = NULL;
    xlm_stream *training = open_stream(corpus, settings), *held_out = try_open(corpus, XLM_HELD_OUT, 0, settings, SEED, &error);
    must(held_out != NULL, error);
    assert_in_range(xlm_stream_instances(training), 16, 64); /* 40 expected, deviation 6 */
    assert_int_equal(xlm_stream_instances(held_out), PAIRS);
    xlm_arena *arena = xlm_arena_new();
    const xlm_batch b = read_all(held_out, arena);
    assert_in_range(b.predicted, 1800, 2040); /* of 3200: 1920 expected, deviation 28 */
    xlm_arena_free(arena);
    xlm_stream_close(training);
    xlm_stream_close(held_out);
    xlm_corpus_close(corpus);
}

static int32_t unknown_but_one(int language, int64_t index)
{
    return index == 1 ? 17 + language : XLM_ID_UNK;
}

static void specials_in_text(void **state)
{
    (void)state;
    const int lengths[] = {2, 2};
    const corpus_plan plan = {.text = {{[EN] = {2, 2, lengths}}}, .token = unknown_but_one};
    xlm_corpus *corpus = make_corpus(&plan);
    xlm_stream *stream = open_stream(corpus, "length=4\nmask=1\n");
    xlm_arena *arena = xlm_arena_new();
    const xlm_batch b = read_all(stream, arena);
    assert_int_equal(b.corrupted.sequences, 2);
    assert_int_equal(b.predicted, 1); /* the second has nothing to predict */
    assert_int_equal(b.predicted_rows[0], 2);
    assert_int_equal(b.targets[0], 17);
    xlm_arena_free(arena);
    xlm_stream_close(stream);
    xlm_corpus_close(corpus);
}

/* Whatever chance chooses, a batch has no more predicted rows than was announced. */
static void predicted_rows_are_bounded(void **state)
{
    (void)state;
    static const char *const settings[] = {"batch=32\nlength=8\n", "batch=32\nlength=8\nmask=0.5\n",
                                           "batch=32\nlength=8\nmask=1\n", "batch=32\nlength=4\nmask=0.01\n"};
    xlm_corpus *corpus = make_corpus(&two_languages);
    xlm_arena *arena = xlm_arena_new();
    for (size_t i = 0; i < G_N_ELEMENTS(settings); i++) {
        xlm_stream *stream = open_stream(corpus, settings[i]);
        for (int64_t step = 0; step < 20; step++)
            assert_true(read_step(stream, step, 0, 32, arena).predicted <=
                        xlm_stream_max_predicted(stream, 32, 32 * xlm_stream_longest(stream), 3));
        xlm_stream_close(stream);
    }
    xlm_stream *none = open_stream(corpus, "mask=0\n");
    assert_int_equal(xlm_stream_max_predicted(none, 100, 1000, 3), 0);
    xlm_stream_close(none);
    xlm_arena_free(arena);
    xlm_corpus_close(corpus);
}

/* An annotation has as many numbers as its axis, and others are found beside it. */
static void annotations_have_axes(void **state)
{
    (void)state;
    xlm_arena *arena = xlm_arena_new();
    xlm_batch_layout layout;
    assert_true(xlm_batch_layout_take(&layout, arena, &xlm_own_special_tokens, 2, 6, 4, NULL));
    layout.predicted = 3;
    int32_t *a = xlm_batch_layout_annotate(&layout, "a", XLM_AXIS_TOKENS);
    int32_t *b = xlm_batch_layout_annotate(&layout, "b", XLM_AXIS_PREDICTED_ROWS);
    int32_t *c = xlm_batch_layout_annotate(&layout, "c", XLM_AXIS_SEQUENCES);
    memset(a, 0, 6 * sizeof *a);
    memset(b, 0, 3 * sizeof *b);
    memset(c, 0, 2 * sizeof *c);
    const xlm_batch batch = xlm_batch_of_layout(&layout);
    assert_ptr_equal(xlm_batch_annotation(&batch, "a"), a);
    assert_ptr_equal(xlm_batch_annotation(&batch, "b"), b);
    assert_ptr_equal(xlm_batch_annotation(&batch, "c"), c);
    assert_null(xlm_batch_annotation(&batch, "d"));
    GError *error = NULL;
    assert_false(xlm_batch_layout_take(&layout, arena, &xlm_own_special_tokens, 2, (int64_t)INT32_MAX + 1, 0, &error));
    must_say(error, EX_CONFIG, "lower batch or length");
    xlm_arena_free(arena);
}

/* ---- a stage of one's own: all of it is here ---- */

/* A corruption: <unk> instead of every `step`-th token of a sequence, which is predicted. */
typedef struct nth {
    int64_t step;
} nth;

static const xlm_option nth_options[] = {
    {"replace_every", XLM_OPTION_INT, "0", 0, 100, NULL, "tokens from one that is replaced to the next; 0: none",
     offsetof(nth, step)},
    XLM_OPTION_END,
};

static bool nth_open(xlm_opening *opening, const void *options, void **stage, GError **error)
{
    const nth *o = options;
    if (o->step == 1)
        return xlm_error_set(error, EX_CONFIG, "[stream %s]: replace_every = 1 leaves no token", opening->stream);
    *stage = o->step > 0 ? g_memdup2(o, sizeof *o) : NULL;
    return true;
}

static void nth_corrupt(const void *stage, const xlm_draws *draws, xlm_batch_layout *batch)
{
    (void)draws;
    const nth *o = stage;
    for (int32_t s = 0; s < batch->sequences; s++)
        for (int32_t row = batch->offsets[s] + (int32_t)o->step - 1; row < batch->offsets[s + 1]; row += (int32_t)o->step) {
            batch->ids[row] = XLM_ID_UNK;
            batch->predicted_rows[batch->predicted] = row;
            batch->targets[batch->predicted++] = batch->unmasked[row];
        }
}

static int64_t nth_max_predicted(const void *stage, int64_t instances, int64_t tokens, double deviations)
{
    (void)deviations;
    (void)instances;
    const nth *o = stage;
    return tokens / o->step;
}

static double nth_predicted_share(const void *stage)
{
    const nth *o = stage;
    return 1.0 / (double)o->step;
}

static const xlm_stage_class every_nth = {
    .kind = XLM_STAGE_CORRUPT, .options = nth_options, .options_size = sizeof(nth), .open = nth_open, .close = g_free,
    .corrupt = {.corrupt = nth_corrupt, .max_predicted = nth_max_predicted, .predicted_share = nth_predicted_share},
};

/* A layout: like form xlm, but with one pair an instance. */
static bool fits_apart(const int64_t tokens[2], int64_t length) { return 1 + MAX(tokens[0], tokens[1]) <= length; }
static int64_t twice(int64_t length) { return 2 * length; }
static bool lay_out_apart(const xlm_source *source, const xlm_sequences *sequences, xlm_arena *arena,
                          xlm_batch_layout *batch, GError **error)
{
    return xlm_pack(source, sequences, true, arena, batch, error);
}

extern const xlm_stage_class xlm_stage_parallel_spans;
static const xlm_stage_class apart = {
    .kind = XLM_STAGE_LAYOUT, .name = "apart",
    .layout = {.spans = &xlm_stage_parallel_spans, .fits = fits_apart, .longest = twice, .lay_out = lay_out_apart},
};

static void stages_are_registered(void **state)
{
    (void)state;
    xlm_stage_register(&every_nth);
    xlm_stage_register(&apart);
    GString *help = g_string_new(NULL), *printed = g_string_new(NULL);
    xlm_stream_config_help(help);
    assert_non_null(strstr(help->str, "replace_every"));
    assert_non_null(strstr(help->str, "xlm|bert|apart"));
    xlm_stream_config config = read_config("replace_every=3\nform=apart\n");
    xlm_stream_config_print(&config, printed);
    assert_non_null(strstr(printed->str, "replace_every = 3\n"));
    assert_non_null(strstr(printed->str, "form = apart\n"));
    xlm_stream_config_clear(&config);
    g_string_free(help, TRUE);
    g_string_free(printed, TRUE);

    xlm_corpus *corpus = make_corpus(&one_pair);
    xlm_arena *arena = xlm_arena_new();
    xlm_stream *stream = open_stream(corpus, "type=parallel\nform=apart\nlength=8\nmask=0\nreplace_every=3\n");
    assert_int_equal(xlm_stream_max_predicted(stream, 2, 2 * 16, 3), 2 * 16 / 3);
    assert_true(xlm_stream_predicted_share(stream) == 1.0 / 3);
    const xlm_batch b = read_all(stream, arena);
    assert_int_equal(b.corrupted.sequences, 5); /* form xlm has the first two pairs together */
    expect_text(&b, 0, "( de0 de1 ) ( en1 en2 en3 )");
    expect_text(&b, 1, "( de2 de3 de4 ) ( en0 )");
    expect_numbers(b.predicted_rows, 4, (const int[]){2, 5, 8, 9 + 2});
    assert_int_equal(b.corrupted.ids[2], XLM_ID_UNK);
    assert_int_equal(b.targets[0], b.corrupted.unmasked[2]);
    assert_int_equal(b.corrupted.ids[0], b.corrupted.unmasked[0]);
    xlm_stream_close(stream);
    has_instances(corpus, "type=parallel\nlength=8\n", 4); /* others are as before */
    GError *error = NULL;
    assert_null(try_open(corpus, XLM_TRAIN, 0, "type=parallel\nreplace_every=1\n", SEED, &error));
    must_say(error, EX_CONFIG, "[stream s]: replace_every = 1 leaves no token");
    xlm_arena_free(arena);
    xlm_corpus_close(corpus);
}

/* Each span of a pair says which pair of the corpus it is of. */
static void spans_have_the_pairs_number(void **state)
{
    (void)state;
    xlm_corpus *corpus = make_corpus(&one_pair);
    xlm_parallel parallel;
    const xlm_parallel_rules rules = {.layout = &apart, .length = 8, .share = 1};
    GError *error = NULL;
    must(xlm_parallel_open(&parallel, corpus, xlm_corpus_find_pairs(corpus, XLM_TRAIN, "de-en", NULL), false, &rules, &error),
         error);
    static const int64_t pairs[] = {0, 1, 2, 5, 6}; /* 3: does not fit, 4: a side is empty */
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(xlm_span));
    assert_int_equal(parallel.instances.count, G_N_ELEMENTS(pairs));
    for (int64_t i = 0; i < parallel.instances.count; i++) {
        g_array_set_size(spans, 0);
        must(xlm_parallel_find(&parallel, i, false, spans, &error), error);
        assert_int_equal(spans->len, 2);
        for (guint side = 0; side < 2; side++) {
            const xlm_span *span = &g_array_index(spans, xlm_span, side);
            assert_int_equal(span->pair, pairs[i]);
            assert_int_equal(span->side, side);
        }
    }
    g_array_free(spans, TRUE);
    xlm_parallel_close(&parallel);
    xlm_corpus_close(corpus);
}

/* ---- errors ---- */

static void refuse(const xlm_corpus *corpus, xlm_split split, int number, const char *settings, int code,
                   const char *message)
{
    GError *error = NULL;
    assert_null(try_open(corpus, split, number, settings, SEED, &error));
    assert_non_null(error);
    char **parts = g_strsplit(error->message, xlm_corpus_path(corpus), -1), *text = g_strjoinv("CORPUS", parts);
    assert_string_equal(text, message);
    assert_int_equal(xlm_error_exit_code(error), code);
    g_strfreev(parts);
    g_free(text);
    g_error_free(error);
}

static void wrong_settings(void **state)
{
    (void)state;
    xlm_corpus *corpus = make_corpus(&two_languages), *pair = make_corpus(&one_pair);
    refuse(corpus, XLM_TRAIN, 0, "replace=mask:0.8,random:0.3\n", EX_CONFIG,
           "[stream s]: the shares of replace are 1.1 together; they must be 1");
    refuse(corpus, XLM_TRAIN, 0, "replace=mask:0.8,mask:0.2\n", EX_CONFIG, "[stream s]: replace has \"mask:0.2\"; write mask:SHARE,random:SHARE,keep:SHARE, each "
           "once, with shares from 0 to 1");
    refuse(corpus, XLM_TRAIN, 0, "replace=masks:1\n", EX_CONFIG, "[stream s]: replace has \"masks:1\"; write mask:SHARE,random:SHARE,keep:SHARE, each "
           "once, with shares from 0 to 1");
    refuse(corpus, XLM_TRAIN, 0, "replace=keep\n", EX_CONFIG, "[stream s]: replace has \"keep\"; write mask:SHARE,random:SHARE,keep:SHARE, each "
           "once, with shares from 0 to 1");
    refuse(corpus, XLM_TRAIN, 0, "replace=keep:x\n", EX_CONFIG, "[stream s]: replace has \"keep:x\"; write mask:SHARE,random:SHARE,keep:SHARE, each "
           "once, with shares from 0 to 1");
    refuse(corpus, XLM_TRAIN, 0, "shuffle_sides=true\n", EX_CONFIG,
           "[stream s]: shuffle_sides, share, least_side and most_pair are about pairs; set type = parallel");
    refuse(corpus, XLM_TRAIN, 256, "", EX_CONFIG, "[stream s]: a job has at most 256 streams; join some");
    refuse(corpus, XLM_TRAIN, 0, "languages=en,fr\n", EX_CONFIG,
           "[stream s]: languages: CORPUS has no monolingual text \"fr\"; it has en, de");
    refuse(corpus, XLM_TRAIN, 0, "languages=en,de,en\n", EX_CONFIG,
           "[stream s]: languages: en is named twice; remove one");
    refuse(corpus, XLM_TRAIN, 0, "type=parallel\n", EX_CONFIG,
           "[stream s]: CORPUS has no parallel text; give xlm_prep some with --para");
    refuse(corpus, XLM_TRAIN, 0, "type=parallel\nlanguages=de-en\n", EX_CONFIG,
           "[stream s]: languages: CORPUS has no parallel text \"de-en\"; it has none");
    refuse(pair, XLM_TRAIN, 0, "", EX_CONFIG,
           "[stream s]: CORPUS has no monolingual text; give xlm_prep some with --mono, or set type = parallel");
    refuse(pair, XLM_TRAIN, 0, "type=parallel\nlanguages=de-fr\n", EX_CONFIG,
           "[stream s]: languages: CORPUS has no parallel text \"de-fr\"; it has de-en");
    refuse(pair, XLM_TRAIN, 0, "type=parallel\nleast_side=7\n", EX_CONFIG,
           "[stream s]: CORPUS makes no instance; raise length, most_pair or share, or lower least_side");
    refuse(pair, XLM_HELD_OUT, 0, "type=parallel\n", EX_CONFIG,
           "[stream s]: CORPUS has no parallel text in its held-out part; raise --held-out of xlm_prep");
    xlm_corpus_close(pair);
    xlm_corpus_close(corpus);
}

/* A language whose text was not held out leaves the others to be evaluated. */
static void rare_language(void **state)
{
    (void)state;
    xlm_corpus *corpus = make_corpus(&two_languages); /* has held-out text of de only */
    GError *error = NULL;
    xlm_stream *stream = try_open(corpus, XLM_HELD_OUT, 0, "languages=en,de\n", SEED, &error);
    must(stream != NULL, error);
    describes(stream, "1 instances (de 1, 100.0 % of the draws)");
    xlm_stream_close(stream);
    refuse(corpus, XLM_HELD_OUT, 0, "languages=en\n", EX_CONFIG,
           "[stream s]: CORPUS has no monolingual text in its held-out part; raise --held-out of xlm_prep");
    refuse(corpus, XLM_HELD_OUT, 0, "languages=de,fr\n", EX_CONFIG,
           "[stream s]: languages: CORPUS has no monolingual text \"fr\" in its held-out part; it has de");
    xlm_corpus_close(corpus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_tokens_are_the_vocabularys),
        cmocka_unit_test(sentences_are_joined_and_cut), cmocka_unit_test(single_sentences),
        cmocka_unit_test(index_of_instances),
        cmocka_unit_test(all_languages_when_none_is_named),
        cmocka_unit_test(corpus_of_one_token),
        cmocka_unit_test(form_xlm),
        cmocka_unit_test(form_bert),
        cmocka_unit_test(sides_are_shuffled),
        cmocka_unit_test(held_out_pairs),
        cmocka_unit_test(specials_in_text),
        cmocka_unit_test(predicted_rows_are_bounded),
        cmocka_unit_test(annotations_have_axes),
        cmocka_unit_test(stages_are_registered),
        cmocka_unit_test(spans_have_the_pairs_number),
        cmocka_unit_test(wrong_settings),
        cmocka_unit_test(rare_language),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
