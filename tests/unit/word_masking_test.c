/* xlm-mpi: tests of masked words, spans and n-grams. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream_fixture.h"

#include <math.h>

#include "options/piecewise.h"
#include "stream/masking.h"

enum { SEED = 5, SEQUENCES = 20000, WORDS = 8, PATTERNS = 1 << WORDS, LONGEST = 64 };

/* The words of a sequence, <s> ... </s> ... </s>: their tokens, and the first word of the second sentence (0: there is none). */
typedef struct text {
    int words, tokens[WORDS], second;
} text;

/* Subwords with an even id begin a word. */
static const uint8_t *marks(void)
{
    static uint8_t all[VOCABULARY];
    for (int id = 0; id < VOCABULARY; id++)
        all[id] = id % 2 == 0 ? XLM_MARKS_BEGIN : XLM_MARKS_NOTHING;
    return all;
}

static xlm_batch mask_all(const text *t, const xlm_masking *masking, uint64_t first, int32_t sequences, xlm_arena *arena)
{
    const xlm_draws draws = {.seed = SEED, .step = 3, .stream = 1, .first = first};
    int32_t ids[LONGEST], n = 0;
    ids[n++] = XLM_ID_BOS;
    for (int w = 0; w < t->words; w++) {
        if (w > 0 && w == t->second)
            ids[n++] = XLM_ID_EOS;
        for (int k = 0; k < t->tokens[w]; k++)
            ids[n++] = 2 * (10 + w) + (k > 0);
    }
    ids[n++] = XLM_ID_EOS;
    xlm_batch_layout layout;
    assert_true(xlm_batch_layout_take(&layout, arena, &xlm_own_special_tokens, sequences, (int64_t)sequences * n,
                                      (int64_t)sequences * n, NULL));
    for (int32_t row = 0; row < layout.tokens; row++) {
        layout.unmasked[row] = ids[row % n];
        layout.unswitched[row] = layout.types[row] = layout.positions[row] = 0;
        layout.keys[row] = (xlm_row_key){(uint32_t)(row / n), (uint32_t)(row % n)};
        layout.offsets[row / n + 1] = row + 1;
    }
    xlm_batch_layout_begin_corruption(&layout, NULL);
    xlm_mask(masking, &draws, &layout);
    return xlm_batch_of_layout(&layout);
}

static xlm_masking masking_of(int64_t how, double share)
{
    return (xlm_masking){.selection = {how, share, 0}, .mask_token = 0.8, .mask_random = 0.1, .vocabulary = VOCABULARY,
                         .marks = marks()};
}

/* The words that are chosen, a bit for each, which must be chosen as a whole, and replaced in one way. */
static int pattern_of(const text *t, const xlm_batch *b, int32_t sequence, int *masked)
{
    const int32_t first = b->corrupted.offsets[sequence];
    bool chosen[LONGEST] = {false};
    for (int32_t i = 0; i < b->predicted; i++)
        if (b->predicted_rows[i] >= first && b->predicted_rows[i] < b->corrupted.offsets[sequence + 1])
            chosen[b->predicted_rows[i] - first] = true;
    int pattern = 0, at = 1;
    *masked = 0;
    for (int w = 0; w < t->words; w++) {
        int n = 0, of_it = 0;
        at += w > 0 && w == t->second;
        for (int k = 0; k < t->tokens[w]; k++, at++) {
            n += chosen[at];
            of_it += b->corrupted.ids[first + at] == XLM_ID_MASK;
        }
        assert_true(n == 0 || n == t->tokens[w]);
        assert_true(of_it == 0 || of_it == n);
        pattern |= (n > 0) << w;
        *masked |= (of_it > 0) << w;
    }
    return pattern;
}

/* ---- how likely each set of words is, by going through all draws ---- */

typedef struct enumeration {
    const text *t;
    double length[11]; /* p(length) */
    double of[PATTERNS];
} enumeration;

static void choose_next(enumeration *e, double p, int taken, int left, int first);

static void choose_words(enumeration *e, double p, int taken, int left, int first, int at, int length)
{
    const text *t = e->t;
    if (length == 0 || left == 0) {
        choose_next(e, p, taken, left, first);
        return;
    }
    if (t->tokens[at] > left) {
        const double accepted = (double)left / t->tokens[at];
        choose_next(e, p * accepted, taken | 1 << at, 0, first);
        choose_next(e, p * (1 - accepted), taken, 0, first);
        return;
    }
    taken |= 1 << at;
    left -= t->tokens[at];
    const int next = at + 1;
    if (next == t->words || next == t->second || (taken >> next & 1) != 0)
        choose_next(e, p, taken, left, first);
    else
        choose_words(e, p, taken, left, first, next, length - 1);
}

static void choose_next(enumeration *e, double p, int taken, int left, int first)
{
    int unchosen = 0;
    if (p == 0)
        return;
    for (int w = 0; w < e->t->words; w++)
        unchosen += (taken >> w & 1) == 0;
    if ((left == 0 && first >= 0) || unchosen == 0) {
        e->of[taken == 0 ? 1 << first : taken] += p;
        return;
    }
    for (int w = 0; w < e->t->words; w++)
        for (int n = 1; n <= 10 && (taken >> w & 1) == 0; n++)
            choose_words(e, p * e->length[n] / unchosen, taken, left, first < 0 ? w : first, w, n);
}

static void enumerate(enumeration *e, const text *t, int64_t how, double share)
{
    double sum = 0;
    int tokens = 0;
    memset(e, 0, sizeof *e);
    e->t = t;
    for (int n = 1; n <= 10; n++)
        sum += e->length[n] = how == XLM_SELECT_WORDS ? n == 1 : how == XLM_SELECT_SPANS ? 0.2 * pow(1 - 0.2, n - 1) : n <= 3 ? 1.0 / n : 0;
    for (int n = 1; n <= 10; n++)
        e->length[n] /= sum;
    for (int w = 0; w < t->words; w++)
        tokens += t->tokens[w];
    const int down = (int)floor(share * tokens);
    const double up = share * tokens - down;
    choose_next(e, 1 - up, 0, down, -1);
    choose_next(e, up, 0, down + 1, -1);
}

/* χ² of the sets of words, of which the rare ones are taken together. */
static void check_sets(const text *t, int64_t how, double share, uint64_t first)
{
    xlm_arena *arena = xlm_arena_new();
    const xlm_masking masking = masking_of(how, share);
    enumeration *e = g_new(enumeration, 1);
    int seen[PATTERNS] = {0}, kinds = 0;
    int64_t words = 0, masked_words = 0;
    double chi2 = 0, rare = 0, rare_seen = 0, sum = 0;
    enumerate(e, t, how, share);
    for (int k = 0; k < SEQUENCES / 10; k++) { /* in small batches: rows of a sequence are searched for */
        xlm_arena_reset(arena);
        const xlm_batch b = mask_all(t, &masking, first + 10 * (uint64_t)k, 10, arena);
        for (int32_t s = 0; s < 10; s++) {
            int masked;
            const int pattern = pattern_of(t, &b, s, &masked);
            seen[pattern]++;
            words += __builtin_popcount((unsigned)pattern);
            masked_words += __builtin_popcount((unsigned)masked);
        }
    }
    for (int i = 0; i < PATTERNS; i++) {
        const double mean = e->of[i] * SEQUENCES;
        sum += e->of[i];
        if (mean == 0 && seen[i] > 0)
            fail_msg("selection %d, %g: the set %x cannot be chosen", (int)how, share, (unsigned)i);
        if (mean < 5) {
            rare += mean;
            rare_seen += seen[i];
            continue;
        }
        kinds++;
        chi2 += (seen[i] - mean) * (seen[i] - mean) / mean;
    }
    if (rare > 0)
        chi2 += (rare_seen - rare) * (rare_seen - rare) / rare;
    assert_true(fabs(sum - 1) < 1e-9);
    if (!(chi2 <= kinds + 5 * sqrt(2.0 * (kinds + 1))))
        fail_msg("selection %d, %g: chi2 %g of %d sets", (int)how, share, chi2, kinds);
    /* Words of a span are replaced together, so the deviation is larger than that of so many draws. */
    const double part = (double)masked_words / (double)words;
    if (!(fabs(part - 0.8) < 4 * sqrt(0.16 * 4 / (double)words)))
        fail_msg("selection %d, %g: %g of the words become <mask>", (int)how, share, part);
    g_free(e);
    xlm_arena_free(arena);
}

static const int64_t hows[] = {XLM_SELECT_WORDS, XLM_SELECT_SPANS, XLM_SELECT_NGRAMS};

static void test_sets(void **state)
{
    (void)state;
    static const text texts[] = {
        {8, {1, 1, 1, 1, 1, 1, 1, 1}, 0}, {8, {1, 2, 1, 3, 1, 1, 2, 1}, 4}, {3, {1, 4, 2}, 0}, {1, {3}, 0}, {5, {2, 1, 1, 1, 2}, 1},
    };
    static const double shares[] = {0.15, 0.35};
    for (size_t t = 0; t < G_N_ELEMENTS(texts); t++)
        for (size_t i = 0; i < G_N_ELEMENTS(hows); i++)
            for (size_t k = 0; k < G_N_ELEMENTS(shares); k++)
                check_sets(&texts[t], hows[i], shares[k], 1000000 * (t * 10 + i * 3 + k));
}

/* All of them, or as many as there are. */
static void test_all(void **state)
{
    (void)state;
    const text t = {8, {1, 2, 1, 3, 1, 1, 2, 1}, 4};
    xlm_arena *arena = xlm_arena_new();
    for (size_t i = 0; i < G_N_ELEMENTS(hows); i++) {
        const xlm_masking masking = masking_of(hows[i], 1);
        xlm_arena_reset(arena);
        assert_int_equal(mask_all(&t, &masking, 0, 50, arena).predicted, 50 * 12);
    }
    xlm_arena_free(arena);
}

/* A share that depends on the step: here between those of steps 0 and 6. */
static void test_share_of_step(void **state)
{
    (void)state;
    const text t = {8, {1, 2, 1, 3, 1, 1, 2, 1}, 4};
    xlm_arena *arena = xlm_arena_new();
    const xlm_piecewise_point point[] = {{0, 0.5}, {6, 0.1}};
    xlm_masking changing = masking_of(XLM_SELECT_SPANS, 0.5), constant = masking_of(XLM_SELECT_SPANS, 0.3);
    xlm_piecewise *shares = xlm_piecewise_new(point, 2);
    changing.shares = shares;
    const xlm_batch a = mask_all(&t, &changing, 0, 500, arena), b = mask_all(&t, &constant, 0, 500, arena);
    assert_int_equal(a.predicted, b.predicted);
    assert_memory_equal(a.predicted_rows, b.predicted_rows, sizeof *a.predicted_rows * (size_t)a.predicted);
    assert_memory_equal(a.corrupted.ids, b.corrupted.ids, sizeof *a.corrupted.ids * (size_t)a.corrupted.tokens);
    const xlm_masking other = masking_of(XLM_SELECT_SPANS, 0.5);
    assert_true(mask_all(&t, &other, 0, 500, arena).predicted > b.predicted + 500);
    g_free(shares);
    xlm_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_share_of_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
