/* xlm-mpi: tests of masked fragments. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream_fixture.h"

#include <math.h>

#include "stream/masking.h"

enum { EN, SEED = 11, SEQUENCES = 20000, LONGEST = 12, PATTERNS = 1 << LONGEST };

/* share of `trials` must lie within four standard deviations of p */
static void near(int64_t count, int64_t trials, double p)
{
    const double deviation = sqrt(p * (1 - p) / (double)trials), share = (double)count / (double)trials;
    if (fabs(share - p) > 4 * deviation)
        fail_msg("%g is too far from %g (deviation %g)", share, p, deviation);
}

/* ---- where fragments are ---- */

typedef struct how {
    int n;       /* tokens of a sentence */
    double share;
    int span;
    int m;       /* tokens that are chosen */
} how;

/* How likely each set of chosen tokens is, a bit for each token. */
typedef struct chances {
    double of[PATTERNS];
    double sum, weight; /* of all arrangements, and of one */
} chances;

/* All orders of `full` spans of K tokens, one of `rest` tokens if that is not 0, and `between` other tokens, which begin at token
 * `at`: equally likely, so one after another with the same weight. */
static void arrange(chances *c, int at, int full, int span, int rest, int between, int pattern)
{
    if (full > 0)
        arrange(c, at + span, full - 1, span, rest, between, pattern | ((1 << span) - 1) << at);
    if (rest > 0)
        arrange(c, at + rest, full, span, 0, between, pattern | ((1 << rest) - 1) << at);
    if (between > 0)
        arrange(c, at + 1, full, span, rest, between - 1, pattern);
    if (full + rest + between > 0)
        return;
    c->of[pattern] += c->weight;
    c->sum += c->weight;
}

static void add(chances *to, double p, const how *h, int begin, int full, int rest, int pattern)
{
    const int span = h->span > 0 && h->span < h->m ? h->span : h->m;
    chances *c = g_new0(chances, 1);
    c->weight = 1;
    arrange(c, begin, full, span, rest, h->n - h->m, pattern);
    for (int i = 0; i < PATTERNS; i++)
        to->of[i] += p * c->of[i] / c->sum;
    g_free(c);
}

static void expect(const how *h, chances *to)
{
    const int span = h->span > 0 && h->span < h->m ? h->span : h->m, full = h->m / span, rest = h->m % span;
    const int last = rest > 0 ? rest : span;
    memset(to, 0, sizeof *to);
    add(to, 0.2, h, span, full - 1, rest, (1 << span) - 1);
    add(to, 0.2, h, 0, full - (rest == 0), 0, ((1 << last) - 1) << (h->n - last));
    add(to, 0.6, h, 0, full, rest, 0);
}

/* Each sequence is <s> n words </s>, masked. */
static xlm_batch mask_all(const how *h, uint64_t first, int32_t sequences, xlm_arena *arena)
{
    const xlm_masking masking = {.selection = {XLM_SELECT_FRAGMENT, h->share, h->span}, .mask_token = 0.8, .mask_random = 0.1,
                                 .vocabulary = VOCABULARY};
    const xlm_draws draws = {.seed = SEED, .step = 2, .stream = 1, .first = first};
    const int32_t length = h->n + 2;
    xlm_batch_layout layout;
    assert_true(xlm_batch_layout_take(&layout, arena, &xlm_own_special_tokens, sequences, (int64_t)sequences * length,
                                      (int64_t)sequences * length, NULL));
    for (int32_t row = 0; row < layout.tokens; row++) {
        const int32_t at = row % length;
        layout.unmasked[row] = at == 0 ? XLM_ID_BOS : at == length - 1 ? XLM_ID_EOS : XLM_SPECIALS + (row * 7) % 900;
        layout.unswitched[row] = layout.types[row] = layout.positions[row] = 0;
        layout.keys[row] = (xlm_row_key){(uint32_t)(row / length), (uint32_t)at};
        layout.offsets[row / length + 1] = row + 1;
    }
    xlm_batch_layout_begin_corruption(&layout, NULL);
    xlm_mask(&masking, &draws, &layout);
    return xlm_batch_of_layout(&layout);
}

static int pattern_of(const xlm_batch *b, int32_t sequence, int32_t *next)
{
    int pattern = 0;
    for (; *next < b->predicted && b->predicted_rows[*next] < b->corrupted.offsets[sequence + 1]; ++*next)
        pattern |= 1 << (b->predicted_rows[*next] - b->corrupted.offsets[sequence] - 1);
    return pattern;
}

/* Frequencies of all sets of chosen tokens against the enumeration, by χ². */
static void check_patterns(const how *h, const xlm_batch *b)
{
    chances *expected = g_new(chances, 1);
    int *seen = g_new0(int, PATTERNS), kinds = 0;
    double chi2 = 0;
    expect(h, expected);
    for (int32_t s = 0, next = 0; s < b->corrupted.sequences; s++)
        seen[pattern_of(b, s, &next)]++;
    for (int i = 0; i < PATTERNS; i++) {
        const double mean = expected->of[i] * b->corrupted.sequences;
        if (mean == 0 && seen[i] > 0)
            fail_msg("%d tokens, %g, span %d: the set %x cannot be chosen", h->n, h->share, h->span, (unsigned)i);
        kinds += mean > 0;
        chi2 += mean > 0 ? (seen[i] - mean) * (seen[i] - mean) / mean : 0;
    }
    if (!(chi2 <= kinds - 1 + 5 * sqrt(2.0 * kinds)))
        fail_msg("%d tokens, %g, span %d: chi2 %g of %d sets", h->n, h->share, h->span, chi2, kinds);
    g_free(expected);
    g_free(seen);
}

static void test_places(void **state)
{
    (void)state;
    static const how all[] = {
        {11, 0.5, 0, 6},  {10, 0.5, 0, 5}, {5, 0.5, 0, 2}, {7, 0.5, 0, 4}, {11, 0.5, 1, 6}, {12, 0.5, 4, 6},
        {9, 0.5, 3, 4},   {12, 0.5, 2, 6}, {12, 0.8, 3, 10}, {6, 1, 0, 6}, {6, 1, 4, 6},   {8, 0.5, 100, 4},
    };
    xlm_arena *arena = xlm_arena_new();
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
        xlm_arena_reset(arena);
        const xlm_batch b = mask_all(&all[i], 1000 * i, SEQUENCES, arena);
        assert_int_equal(b.predicted, all[i].m * SEQUENCES);
        check_patterns(&all[i], &b);
    }
    xlm_arena_free(arena);
}

/* The usual fragment: 0.2 and the sixth part of 0.6 at either end, the rest even. */
static void test_starts(void **state)
{
    (void)state;
    const how h = {10, 0.5, 0, 5};
    xlm_arena *arena = xlm_arena_new();
    const xlm_batch b = mask_all(&h, 0, SEQUENCES, arena);
    int64_t starts[6] = {0};
    for (int32_t s = 0; s < SEQUENCES; s++) {
        const int32_t *rows = b.predicted_rows + 5 * s, start = rows[0] - b.corrupted.offsets[s] - 1;
        assert_true(start >= 0 && start < 6 && rows[4] == rows[0] + 4);
        starts[start]++;
    }
    for (int i = 0; i < 6; i++)
        near(starts[i], SEQUENCES, i == 0 || i == 5 ? 0.3 : 0.1);
    xlm_arena_free(arena);
}

/* Sentences that are too short, or of which the share rounds to nothing, have no fragment. */
static void test_nothing(void **state)
{
    (void)state;
    static const how none[] = {{4, 0.5, 0, 0}, {1, 1, 0, 0}, {4, 1, 1, 0}, {5, 0.1, 0, 0}, {0, 0.5, 0, 0}};
    xlm_arena *arena = xlm_arena_new();
    for (size_t i = 0; i < G_N_ELEMENTS(none); i++)
        assert_int_equal(mask_all(&none[i], 0, 50, arena).predicted, 0);
    xlm_arena_free(arena);
}

/* ---- what is in their place ---- */

static void test_replacements(void **state)
{
    (void)state;
    const how h = {12, 0.5, 0, 6};
    xlm_arena *arena = xlm_arena_new();
    const xlm_batch b = mask_all(&h, 0, SEQUENCES, arena);
    int64_t mask = 0, same = 0, other = 0, of_sequence[7] = {0};
    for (int32_t row = 0, k = 0; row < b.corrupted.tokens; row++) {
        const int32_t id = b.corrupted.ids[row], original = b.corrupted.unmasked[row];
        if (k == b.predicted || b.predicted_rows[k] != row) {
            assert_int_equal(id, original);
            continue;
        }
        assert_int_equal(b.targets[k++], original);
        mask += id == XLM_ID_MASK;
        same += id == original;
        other += id != original && id != XLM_ID_MASK;
        assert_true(id == XLM_ID_MASK || (id >= XLM_SPECIALS && id < VOCABULARY));
    }
    near(mask, b.predicted, 0.8);
    near(other, b.predicted, 0.1 * (1 - 1.0 / SUBWORDS));
    near(same, b.predicted, 0.1 + 0.1 / SUBWORDS);
    /* Each token by itself: the number of masks of a fragment is binomial. */
    for (int32_t s = 0; s < SEQUENCES; s++) {
        int masks = 0;
        for (int32_t k = 6 * s; k < 6 * s + 6; k++)
            masks += b.corrupted.ids[b.predicted_rows[k]] == XLM_ID_MASK;
        of_sequence[masks]++;
    }
    near(of_sequence[6], SEQUENCES, pow(0.8, 6));
    near(of_sequence[5], SEQUENCES, 6 * pow(0.8, 5) * 0.2);
    xlm_arena_free(arena);
}

/* ---- streams ---- */

/* In sequences of several sentences each has its own fragment, and <unk> is none of its tokens. */
static int32_t with_unknown(int language, int64_t index) { return index % 9 == 3 ? XLM_ID_UNK : token_at(language, index); }

static void test_fragments_of_each_sentence(void **state)
{
    (void)state;
    static const int lengths[] = {9, 4, 12, 7, 3, 30};
    const corpus_plan mixed = {.text = {{[EN] = {6, 6, lengths}}}, .token = with_unknown};
    xlm_corpus *corpus = make_corpus(&mixed);
    xlm_arena *arena = xlm_arena_new();
    xlm_stream *stream = open_training(corpus, 0, "length=100\nbatch=64\nmask=0.5\nmask_unit=fragment\n", SEED);
    const xlm_batch b = read_step(stream, 0, 0, 64, arena), part = read_step(stream, 0, 20, 5, arena);
    for (int32_t s = 0, k = 0; s < 64; s++) {
        int32_t candidates[32], n = 0;
        for (int32_t row = b.corrupted.offsets[s]; row < b.corrupted.offsets[s + 1]; row++) {
            if (b.corrupted.unmasked[row] >= XLM_SPECIALS)
                candidates[n++] = row;
            if (b.corrupted.unmasked[row] != XLM_ID_EOS)
                continue;
            const int32_t m = n < 5 ? 0 : (int32_t)rint(0.5 * n);
            int32_t first = 0;
            while (m > 0 && candidates[first] != b.predicted_rows[k])
                assert_true(++first < n);
            for (int32_t i = 0; i < m; i++)
                assert_int_equal(b.predicted_rows[k++], candidates[first + i]);
            n = 0;
        }
        if (s == 63)
            assert_int_equal(k, b.predicted);
    }
    const int32_t *same = b.corrupted.ids + b.corrupted.offsets[20]; /* not dependent on how a step is divided */
    assert_memory_equal(part.corrupted.ids, same, sizeof *same * (size_t)part.corrupted.tokens);
    assert_true(fabs(xlm_stream_predicted_share(stream) - 0.5) < 1e-12 && fabs(xlm_stream_mask_token_share(stream) - 0.8) < 1e-12);
    assert_true(b.predicted <= xlm_stream_max_predicted(stream, 64, b.corrupted.tokens, 3));
    xlm_stream_close(stream);
    xlm_arena_free(arena);
    xlm_corpus_close(corpus);
}

static void refuse(const xlm_corpus *corpus, const char *settings, const char *message)
{
    GError *error = NULL;
    assert_null(try_open(corpus, XLM_TRAIN, 0, settings, SEED, &error));
    must_say(error, 78, message);
}

static void test_refusals(void **state)
{
    (void)state;
    static const int lengths[] = {6};
    const corpus_plan plan = {.text = {{[EN] = {1, 1, lengths}}}};
    xlm_corpus *corpus = make_corpus(&plan);
    refuse(corpus, "span=2\n", "[stream s]: span cuts a fragment into spans; set mask_unit = fragment");
    refuse(corpus, "mask_unit=fragment\nmask=0\n", "[stream s]: mask_unit says which tokens are masked, and mask = 0 masks none");
    xlm_corpus_close(corpus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places), cmocka_unit_test(test_starts), cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_replacements), cmocka_unit_test(test_fragments_of_each_sentence),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
