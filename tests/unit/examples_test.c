/* xlm-mpi: labelled examples, and streams of them. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stream/stream.h"

enum { EXAMPLES = 11, BATCH = 4, LONGEST = 5 };

/* Example i has the tokens 100 i, 100 i + 1, ..., 2 + i % 4 of them; the last is predicted, and in every third the first too. */
static int32_t tokens_of(int32_t i) { return 2 + i % 4; }

static xlm_examples *make_examples(void)
{
    xlm_examples *e = xlm_examples_new(&xlm_own_special_tokens);
    for (int32_t i = 0; i < EXAMPLES; i++) {
        for (int32_t k = 0; k < tokens_of(i); k++) {
            xlm_examples_add(e, 100 * i + k, i % 2, k > 1);
            if ((k == 0 && i % 3 == 0) || k == tokens_of(i) - 1)
                xlm_examples_predict(e, 10 * i + k);
        }
        xlm_examples_end(e);
    }
    return e;
}

static void test_counts(void **state)
{
    (void)state;
    xlm_examples *e = make_examples();
    assert_int_equal(xlm_examples_count(e), EXAMPLES);
    assert_int_equal(xlm_examples_tokens(e, EXAMPLES), 2 * EXAMPLES + 15); /* i % 4 over 0 … 10 sums up to 15 */
    assert_int_equal(xlm_examples_tokens(e, 2), 2 + 3);
    assert_int_equal(xlm_examples_longest(e), LONGEST);
    assert_int_equal(xlm_examples_predictions(e, 0), 0);
    assert_int_equal(xlm_examples_predictions(e, 1), 2);
    assert_int_equal(xlm_examples_predictions(e, 3), 4);
    assert_int_equal(xlm_examples_predictions(e, EXAMPLES), EXAMPLES + 4); /* 0, 3, 6, 9 have two */
    xlm_examples_free(e);
}

static void check_row(const xlm_batch *b, int32_t s, int32_t i)
{
    const int32_t first = b->corrupted.offsets[s], n = b->corrupted.offsets[s + 1] - first;
    assert_int_equal(n, tokens_of(i));
    for (int32_t k = 0; k < n; k++) {
        assert_int_equal(b->corrupted.ids[first + k], 100 * i + k);
        assert_int_equal(b->corrupted.unmasked[first + k], 100 * i + k);
        assert_int_equal(b->corrupted.positions[first + k], k);
        assert_int_equal(b->corrupted.languages[first + k], i % 2);
        assert_int_equal(b->corrupted.unswitched[first + k], i % 2);
        assert_int_equal(b->corrupted.types[first + k], k > 1);
        assert_int_equal(b->corrupted.keys[first + k].position, k);
    }
}

static void test_batch(void **state)
{
    (void)state;
    xlm_examples *e = make_examples();
    xlm_arena *arena = xlm_arena_new();
    xlm_batch b;
    assert_true(xlm_examples_read(e, 3, (int64_t[]){9, 2, 9}, (uint32_t[]){7, 8, 70}, arena, &b, NULL));
    assert_true(b.corrupted.sequences == 3 && b.corrupted.tokens == 3 + 4 + 3 && b.predicted == 5);
    check_row(&b, 0, 9);
    check_row(&b, 1, 2);
    check_row(&b, 2, 9);
    static const int32_t rows[] = {0, 2, 6, 7, 9}, targets[] = {90, 92, 23, 90, 92};
    assert_memory_equal(b.predicted_rows, rows, sizeof rows);
    assert_memory_equal(b.targets, targets, sizeof targets);
    assert_true(b.corrupted.keys[0].instance == 7 && b.corrupted.keys[3].instance == 8 && b.corrupted.keys[9].instance == 70);
    assert_null(b.annotations);
    xlm_arena_free(arena);
    xlm_examples_free(e);
}

static xlm_stream *open_stream(const xlm_examples *e, uint64_t seed)
{
    const xlm_stream_config config = {.batch = BATCH, .length = LONGEST};
    xlm_stream *stream = xlm_stream_open(xlm_stream_labelled(e), XLM_TRAIN, "train", 3, &config, seed, NULL);
    assert_non_null(stream);
    return stream;
}

/* The examples of a step, `count` at a time. */
static void read_step(xlm_stream *stream, int64_t step, int64_t count, int32_t *found)
{
    xlm_arena *arena = xlm_arena_new();
    for (int64_t first = 0; first < BATCH; first += count) {
        const int64_t n = MIN(count, BATCH - first);
        xlm_batch b;
        assert_true(xlm_stream_read(stream, step, first, n, arena, &b, NULL));
        assert_int_equal(b.corrupted.sequences, n);
        for (int32_t s = 0; s < b.corrupted.sequences; s++) {
            found[first + s] = b.corrupted.ids[b.corrupted.offsets[s]] / 100;
            check_row(&b, s, found[first + s]);
            assert_int_equal(b.corrupted.keys[b.corrupted.offsets[s]].instance, 3u << 24 | (uint32_t)(first + s));
        }
    }
    xlm_arena_free(arena);
}

/* Each once an epoch, whatever the cuts, in another order for another epoch or seed. */
static void test_epochs(void **state)
{
    (void)state;
    xlm_examples *e = make_examples();
    xlm_stream *stream = open_stream(e, 5), *other = open_stream(e, 6);
    enum { STEPS = EXAMPLES * 3 }; /* BATCH · 3 epochs */
    int32_t drawn[STEPS * BATCH], again[BATCH], order[STEPS * BATCH];
    for (int64_t step = STEPS - 1; step >= 0; step--) {
        read_step(stream, step, BATCH, drawn + step * BATCH);
        read_step(other, step, BATCH, order + step * BATCH);
        for (int64_t count = 1; count < BATCH; count++) {
            read_step(stream, step, count, again);
            assert_memory_equal(again, drawn + step * BATCH, sizeof again);
        }
    }
    for (int epoch = 0; epoch < STEPS * BATCH / EXAMPLES; epoch++) {
        bool seen[EXAMPLES] = {false};
        for (int i = 0; i < EXAMPLES; i++) {
            assert_false(seen[drawn[epoch * EXAMPLES + i]]);
            seen[drawn[epoch * EXAMPLES + i]] = true;
        }
    }
    assert_memory_not_equal(drawn, drawn + EXAMPLES, EXAMPLES * sizeof *drawn);
    assert_memory_not_equal(drawn, order, EXAMPLES * sizeof *drawn);
    xlm_stream_close(stream);
    xlm_stream_close(other);
    xlm_examples_free(e);
}

/* Pairs stay in one step, side by side, each once an epoch. */
static void test_together(void **state)
{
    (void)state;
    enum { PAIRS = 5, STEPS = PAIRS * 2 }; /* of BATCH examples: BATCH epochs */
    xlm_examples *e = xlm_examples_new(&xlm_own_special_tokens);
    for (int32_t i = 0; i < 2 * PAIRS; i++) {
        for (int32_t k = 0; k < tokens_of(i); k++)
            xlm_examples_add(e, 100 * i + k, i % 2, k > 1);
        xlm_examples_predict(e, 0);
        xlm_examples_end(e);
    }
    xlm_examples_keep_together(e, 2);
    xlm_stream *stream = open_stream(e, 5);
    int32_t drawn[STEPS * BATCH], again[BATCH];
    for (int64_t step = 0; step < STEPS; step++) {
        read_step(stream, step, BATCH, drawn + step * BATCH);
        read_step(stream, step, 1, again); /* also where the two are read by themselves */
        assert_memory_equal(again, drawn + step * BATCH, sizeof again);
    }
    bool in_file_order = true;
    for (int epoch = 0; epoch < STEPS * BATCH / (2 * PAIRS); epoch++) {
        bool seen[2 * PAIRS] = {false};
        for (int i = 0; i < 2 * PAIRS; i++) {
            const int32_t example = drawn[epoch * 2 * PAIRS + i];
            assert_true(i % 2 == 0 ? example % 2 == 0 : example == drawn[epoch * 2 * PAIRS + i - 1] + 1);
            assert_false(seen[example]);
            seen[example] = true;
            in_file_order &= example == i;
        }
    }
    assert_false(in_file_order);
    assert_int_equal(xlm_stream_instances(stream), 2 * PAIRS);
    xlm_stream_close(stream);
    xlm_stage_use use = {.section = "stage", .name = "mine"}; /* labelled examples have no stages of users */
    const xlm_stream_config plugged = {.batch = BATCH, .length = LONGEST, .plugins = 1, .plugin = &use};
    GError *refused = NULL;
    assert_null(xlm_stream_open(xlm_stream_labelled(e), XLM_TRAIN, "train", 0, &plugged, 1, &refused));
    assert_true(refused->code == EX_CONFIG && strstr(refused->message, "[stage mine]") != NULL);
    g_error_free(refused);
    const xlm_stream_config odd = {.batch = 3, .length = LONGEST};
    GError *error = NULL;
    assert_null(xlm_stream_open(xlm_stream_labelled(e), XLM_TRAIN, "train", 0, &odd, 1, &error));
    assert_int_equal(error->code, EX_CONFIG);
    g_error_free(error);
    xlm_examples_free(e);
}

/* Marked words with a translation are switched, in training alone, by draws of the step and the place in it. */
static void test_switched_words(void **state)
{
    (void)state;
    enum { WORDS = 64, STEPS = 200, FIRST = 100, OTHER = 200 }; /* word FIRST + k of language 0; even k are translated */
    xlm_examples *e = xlm_examples_new(&xlm_own_special_tokens);
    int32_t from[WORDS], to[WORDS];
    int64_t pairs = 0;
    for (int32_t k = 0; k < WORDS; k++) {
        xlm_examples_add(e, FIRST + k, 0, 0);
        if (k != 4) /* a part of a word */
            xlm_examples_mark_word(e);
        if (k % 2 == 0) { /* two translations of word 2 */
            from[pairs] = FIRST + k, to[pairs++] = OTHER + k;
            if (k == 2)
                from[pairs] = FIRST + k, to[pairs++] = OTHER + k + 1;
        }
    }
    xlm_examples_add(e, OTHER + 6, 1, 0); /* the other way round */
    xlm_examples_mark_word(e);
    xlm_examples_predict(e, 0);
    xlm_examples_end(e);
    const xlm_dictionary dictionary = {.pairs = pairs, .token = {from, to}, .language = {0, 1}};
    int64_t words, translated;
    xlm_examples_count_words(e, &words, &translated);
    assert_true(words == WORDS && translated == 0);
    xlm_examples_switch_words(e, &dictionary, 1000, 0.25);
    xlm_examples_count_words(e, &words, &translated);
    assert_true(words == WORDS && translated == WORDS / 2);
    const xlm_stream_config config = {.batch = BATCH, .length = WORDS + 1};
    xlm_stream *stream = xlm_stream_open(xlm_stream_labelled(e), XLM_TRAIN, "train", 3, &config, 5, NULL);
    xlm_arena *arena = xlm_arena_new();
    int switched = 0, second = 0, back = 0, changes = 0;
    xlm_batch b, one;
    for (int64_t step = 0; step < STEPS; step++) {
        xlm_arena_reset(arena);
        assert_true(xlm_stream_read(stream, step, 0, BATCH, arena, &b, NULL));
        assert_true(xlm_stream_read(stream, step, 2, 1, arena, &one, NULL)); /* as another rank reads it */
        assert_memory_equal(one.corrupted.ids, b.corrupted.ids + 2 * (WORDS + 1), (WORDS + 1) * sizeof *b.corrupted.ids);
        assert_memory_equal(one.corrupted.languages, b.corrupted.languages + 2 * (WORDS + 1), (WORDS + 1) * sizeof *b.corrupted.ids);
        for (int32_t row = 0; row < b.corrupted.tokens; row++) {
            const int32_t k = row % (WORDS + 1);
            assert_int_equal(b.corrupted.unmasked[row], k < WORDS ? FIRST + k : OTHER + 6);
            assert_int_equal(b.corrupted.unswitched[row], k == WORDS);
            changes += row >= WORDS + 1 && b.corrupted.ids[row] != b.corrupted.ids[row - WORDS - 1];
            if (b.corrupted.ids[row] == b.corrupted.unmasked[row]) {
                assert_int_equal(b.corrupted.languages[row], b.corrupted.unswitched[row]);
                continue;
            }
            assert_int_equal(b.corrupted.languages[row], k < WORDS);
            if (k == WORDS) {
                assert_int_equal(b.corrupted.ids[row], FIRST + 6);
                back++;
                continue;
            }
            assert_true(k % 2 == 0 && k != 4);
            assert_true(b.corrupted.ids[row] == OTHER + k || (k == 2 && b.corrupted.ids[row] == OTHER + 3));
            second += b.corrupted.ids[row] == OTHER + 3;
            switched++;
        }
    }
    assert_true(abs(switched - STEPS * BATCH * 31 / 4) < 600 && abs(second - STEPS * BATCH / 8) < 50 &&
                abs(back - STEPS * BATCH / 4) < 70 && changes > STEPS * BATCH);
    assert_true(xlm_stream_read_in_order(stream, 0, 1, arena, &b, NULL));
    assert_memory_equal(b.corrupted.ids, b.corrupted.unmasked, (WORDS + 1) * sizeof *b.corrupted.ids);
    xlm_arena_free(arena);
    xlm_stream_close(stream);
    xlm_examples_free(e);
}

static void test_in_order(void **state)
{
    (void)state;
    xlm_examples *e = make_examples();
    xlm_stream *stream = open_stream(e, 5);
    xlm_arena *arena = xlm_arena_new();
    xlm_batch b;
    assert_int_equal(xlm_stream_instances(stream), EXAMPLES);
    assert_int_equal(xlm_stream_max_predicted(stream, 5, 100, 0), 10); /* two of an example at most */
    assert_true(fabs(xlm_stream_predicted_share(stream) - (EXAMPLES + 4.0) / (2 * EXAMPLES + 15)) < 1e-12);
    assert_true(xlm_stream_read_in_order(stream, 6, 5, arena, &b, NULL));
    for (int32_t s = 0; s < 5; s++)
        check_row(&b, s, 6 + s);
    char *description = xlm_stream_describe(stream);
    assert_string_equal(description, "11 examples of 3.4 tokens");
    g_free(description);
    xlm_arena_free(arena);
    xlm_stream_close(stream);
    xlm_examples_free(e);
}

static void test_empty(void **state)
{
    (void)state;
    xlm_examples *e = xlm_examples_new(&xlm_own_special_tokens);
    const xlm_stream_config config = {.batch = BATCH, .length = LONGEST};
    GError *error = NULL;
    assert_null(xlm_stream_open(xlm_stream_labelled(e), XLM_TRAIN, "train", 0, &config, 1, &error));
    assert_int_equal(error->code, EX_DATAERR);
    g_error_free(error);
    xlm_examples_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts), cmocka_unit_test(test_batch), cmocka_unit_test(test_epochs),
        cmocka_unit_test(test_in_order), cmocka_unit_test(test_empty), cmocka_unit_test(test_together),
        cmocka_unit_test(test_switched_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
