/* xlm-mpi: tests of noise on streams, against its draws by hand. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream_fixture.h"

#include <math.h>

#include "base/rng.h"
#include "stream/draws.h"

enum { EN, DE, SENTENCES = 400, BATCH = 12, SEED = 9, STREAM = 3 };

typedef struct fixture {
    int lengths[SENTENCES];
    int64_t links[2 * SENTENCES];
    corpus_plan plan;
    xlm_corpus *corpus;
    xlm_arena *arena;
} fixture;

static int set_up(void **state)
{
    fixture *f = g_new0(fixture, 1);
    for (int i = 0; i < SENTENCES; i++) {
        f->lengths[i] = 1 + i * 7 % 11;
        f->links[2 * i] = f->links[2 * i + 1] = i;
    }
    f->plan = (corpus_plan){
        .text = {{[EN] = {SENTENCES, SENTENCES, f->lengths}, [DE] = {SENTENCES, SENTENCES, f->lengths}}},
        .pairs = {{{EN, DE, SENTENCES, f->links}}}};
    f->corpus = make_corpus(&f->plan);
    f->arena = xlm_arena_new();
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    xlm_corpus_close(f->corpus);
    xlm_arena_free(f->arena);
    g_free(f);
    return 0;
}

typedef struct settings {
    double shuffle, drop, blank;
} settings;

/* Sentences of one text of the sequence, from *row on: the ids up to </s>; false: there are none left. */
static bool next_sentence(const xlm_text *text, int32_t s, int32_t *row, const int32_t **ids, int32_t *n)
{
    while (*row < text->offsets[s + 1] && text->ids[*row] == XLM_ID_BOS)
        ++*row;
    if (*row >= text->offsets[s + 1])
        return false;
    *ids = text->ids + *row;
    for (*n = 0; text->ids[*row] != XLM_ID_EOS; ++*row)
        ++*n;
    ++*row;
    return true;
}

/* The noise of one sentence, from the draws of its tokens, as docs say it; out[n]. Returns how many are left. */
static int32_t by_hand(const settings *with, uint64_t step, uint64_t instance, int32_t first, const int32_t *ids, int32_t n,
                       int32_t *out)
{
    const xlm_draws draws = {.seed = SEED, .step = step, .stream = STREAM, .first = instance};
    const xlm_rng_key key = xlm_rng_make_key(SEED, XLM_RNG_NOISE, step);
    double place[16];
    uint32_t chance[16][3];
    int order[16], left = 0, last = -1;
    for (int i = 0; i < n; i++) {
        const xlm_rng_block block = xlm_draws_of_token(&draws, key, 0, first + i);
        place[i] = i + with->shuffle * xlm_rng_unit(block.v[0]);
        memcpy(chance[i], block.v, sizeof chance[i]);
        order[i] = i;
    }
    for (int i = 1; i < n; i++) /* by place */
        for (int k = i; k > 0 && place[order[k]] < place[order[k - 1]]; k--) {
            const int t = order[k];
            order[k] = order[k - 1], order[k - 1] = t;
        }
    for (int i = 0; i < n; i++)
        if (last < 0 || chance[order[i]][1] > chance[last][1])
            last = order[i];
    for (int i = 0; i < n; i++) {
        const uint32_t *c = chance[order[i]];
        if (xlm_rng_unit(c[1]) >= with->drop)
            out[left++] = xlm_rng_unit(c[2]) < with->blank ? XLM_ID_MASK : ids[order[i]];
    }
    if (left == 0)
        out[left++] = xlm_rng_unit(chance[last][2]) < with->blank ? XLM_ID_MASK : ids[last];
    return left;
}

/* first[s]: number of a sequence within the step. Every sentence has the draws of its own tokens, counted over its sequence. */
static int check_batch(const xlm_batch *b, const settings *with, uint64_t step, uint64_t first)
{
    int sentences = 0, several = 0;
    assert_true(b->noise);
    assert_int_equal(b->original.sequences, b->corrupted.sequences);
    for (int32_t s = 0; s < b->original.sequences; s++) {
        int32_t row = b->original.offsets[s], noisy = b->corrupted.offsets[s], before = 0, n, m, wanted[16];
        const int32_t *ids, *left;
        int here = 0;
        while (next_sentence(&b->original, s, &row, &ids, &n)) {
            assert_true(next_sentence(&b->corrupted, s, &noisy, &left, &m));
            assert_int_equal(by_hand(with, step, first + (uint64_t)s, before, ids, n, wanted), m);
            assert_memory_equal(left, wanted, sizeof *wanted * (size_t)m);
            before += n;
            here++;
        }
        assert_int_equal(noisy, b->corrupted.offsets[s + 1]);
        sentences += here;
        several += here > 1;
    }
    assert_true(several > 0 && sentences > b->original.sequences);
    return sentences;
}

static void check_stream(const fixture *f, const char *of, const settings *with)
{
    g_autofree char *text = g_strdup_printf("%s\nbatch = %d\nlength = 40\nmask = 0\nnoise_shuffle = %g\nnoise_drop = %g\n"
                                            "noise_blank = %g\n", of, BATCH, with->shuffle, with->drop, with->blank);
    xlm_stream *stream = open_training(f->corpus, STREAM, text, SEED);
    assert_true(xlm_stream_has_noise(stream) && fabs(xlm_stream_kept_share(stream) - (1 - with->drop)) < 1e-12);
    for (int64_t step = 0; step < 3; step++) {
        const xlm_batch whole = read_step(stream, step, 0, BATCH, f->arena), part = read_step(stream, step, 5, 4, f->arena);
        check_batch(&whole, with, (uint64_t)step, 0);
        check_batch(&part, with, (uint64_t)step, 5);
    }
    const xlm_batch held = read_in_order(stream, 2, 6, f->arena);
    check_batch(&held, with, UINT64_MAX, 2);
    xlm_stream_close(stream);
}

static void test_noise_by_hand(void **state)
{
    static const settings all[] = {{3, 0, 0}, {0, 0.3, 0}, {0, 0, 0.3}, {3, 0.1, 0.1}, {0, 1, 0.5}};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        check_stream(*state, "languages = en", &all[i]);
        check_stream(*state, "type = parallel\nlanguages = en-de", &all[i]);
    }
}

/* Masks are on what is left; without noise there is one text. */
static void test_masks_and_no_noise(void **state)
{
    const fixture *f = *state;
    xlm_stream *stream = open_training(f->corpus, STREAM, "languages = en\nbatch = 12\nlength = 40\nnoise_drop = 0.3\n", SEED);
    const xlm_batch b = read_step(stream, 0, 0, BATCH, f->arena);
    assert_true(b.predicted > 0 && b.corrupted.tokens < b.original.tokens && !xlm_batch_has_rows_of(&b, &b.original));
    for (int32_t i = 0; i < b.predicted; i++)
        assert_int_equal(b.targets[i], b.corrupted.unmasked[b.predicted_rows[i]]);
    xlm_stream_close(stream);
    stream = open_training(f->corpus, STREAM, "languages = en\nbatch = 12\nlength = 40\n", SEED);
    const xlm_batch plain = read_step(stream, 0, 0, BATCH, f->arena);
    assert_true(!plain.noise && xlm_batch_has_rows_of(&plain, &plain.original) && !xlm_stream_has_noise(stream));
    assert_memory_equal(plain.corrupted.unmasked, plain.original.ids, sizeof(int32_t) * (size_t)plain.original.tokens);
    xlm_stream_close(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_noise_by_hand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_masks_and_no_noise, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
