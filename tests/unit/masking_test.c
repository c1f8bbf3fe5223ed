/* xlm-mpi: tests of masking. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "stream/masking.h"
#include "stream/switching.h"
#include "stream/translations.h"
#include "subwords/special_tokens.h"

enum { VOCABULARY = 105, LENGTH = 100, STREAM = 3 };

/* Masks one sequence, the only one of its batch. */
typedef struct masked {
    int32_t n, ids[LENGTH], rows[LENGTH], targets[LENGTH], languages[LENGTH], translations[LENGTH];
} masked;

typedef struct settings {
    xlm_masking masking;
    xlm_draws draws;
    const xlm_translations *translations; /* NULL: none */
    double switching;
} settings;

static settings make_masking(double mask, uint64_t step)
{
    return (settings){.masking = {.selection = {.share = mask}, .mask_token = 0.8, .mask_random = 0.1, .vocabulary = VOCABULARY},
                      .draws = {.seed = 1, .step = step, .stream = STREAM}};
}

static void copy(int32_t *to, const int32_t *from, int32_t n) { memcpy(to, from, sizeof *to * (size_t)n); }

static masked run_in(const settings *s, uint64_t instance, int32_t n, const int32_t *original, int32_t language)
{
    static xlm_arena *arena;
    masked m = {0};
    xlm_batch_layout batch;
    xlm_draws draws = s->draws;
    draws.first = instance;
    if (arena == NULL)
        arena = xlm_arena_new();
    xlm_arena_reset(arena);
    assert_true(xlm_batch_layout_take(&batch, arena, &xlm_own_special_tokens, 1, n, n, NULL));
    batch.offsets[1] = n;
    copy(batch.unmasked, original, n);
    for (int32_t i = 0; i < n; i++)
        batch.unswitched[i] = language;
    xlm_batch_layout_begin_corruption(&batch, NULL);
    if (s->translations != NULL)
        xlm_annotate_translations(s->translations, &draws, &batch);
    xlm_mask(&s->masking, &draws, &batch);
    if (s->translations != NULL)
        xlm_switch(s->switching, &draws, &batch);
    const xlm_batch done = xlm_batch_of_layout(&batch);
    const int32_t *translations = xlm_batch_annotation(&done, "translations");
    m.n = done.predicted;
    copy(m.ids, done.corrupted.ids, n);
    copy(m.rows, done.predicted_rows, m.n);
    copy(m.targets, done.targets, m.n);
    copy(m.languages, done.corrupted.languages, n);
    assert_memory_equal(done.corrupted.unmasked, original, sizeof *original * (size_t)n);
    for (int32_t i = 0; i < n; i++)
        assert_int_equal(done.corrupted.unswitched[i], language);
    if (s->translations != NULL)
        copy(m.translations, translations, n);
    else
        assert_null(translations);
    return m;
}

static masked run(const settings *s, uint64_t instance, int32_t n, const int32_t *original)
{
    return run_in(s, instance, n, original, 0);
}

/* share of `trials` must lie within four standard deviations of p */
static void near(int64_t count, int64_t trials, double p)
{
    const double deviation = sqrt(p * (1 - p) / (double)trials), share = (double)count / (double)trials;
    if (fabs(share - p) > 4 * deviation)
        fail_msg("%g is too far from %g (deviation %g)", share, p, deviation);
}

/* <s> 97 tokens, one of them <unk>, </s> </s> */
static void fill(int32_t original[LENGTH])
{
    for (int i = 0; i < LENGTH; i++)
        original[i] = XLM_SPECIALS + i;
    original[0] = XLM_ID_BOS;
    original[40] = XLM_ID_UNK;
    original[LENGTH - 2] = original[LENGTH - 1] = XLM_ID_EOS;
}

static void shares(void **state)
{
    (void)state;
    enum { SEQUENCES = 3000, ORDINARY = LENGTH - 4 };
    int32_t original[LENGTH];
    fill(original);
    const settings masking = make_masking(0.15, 0);
    int64_t chosen = 0, mask = 0, same = 0, other = 0, drawn[VOCABULARY] = {0}, at[LENGTH] = {0};
    for (uint64_t s = 0; s < SEQUENCES; s++) {
        const masked m = run(&masking, s, LENGTH, original);
        chosen += m.n;
        for (int32_t i = 0, k = 0; i < LENGTH; i++) {
            if (k == m.n || m.rows[k] != i) {
                assert_int_equal(m.ids[i], original[i]);
                continue;
            }
            assert_true(original[i] >= XLM_SPECIALS);
            assert_int_equal(m.targets[k++], original[i]);
            at[i]++;
            assert_true(m.ids[i] == XLM_ID_MASK || (m.ids[i] >= XLM_SPECIALS && m.ids[i] < VOCABULARY));
            mask += m.ids[i] == XLM_ID_MASK;
            same += m.ids[i] == original[i];
            other += m.ids[i] != original[i] && m.ids[i] != XLM_ID_MASK;
            drawn[m.ids[i]] += m.ids[i] != original[i];
        }
    }
    near(chosen, SEQUENCES * ORDINARY, 0.15);
    near(mask, chosen, 0.8);
    near(other, chosen, 0.1 * 0.99); /* one of the 100 ordinary tokens is the original */
    near(same, chosen, 0.1 + 0.1 * 0.01);
    for (int i = 1; i < LENGTH - 2; i++)
        if (i != 40)
            near(at[i], SEQUENCES, 0.15);
    for (int id = XLM_SPECIALS; id < VOCABULARY; id++)
        assert_in_range(drawn[id], 10, 90); /* 43 expected, deviation 6.5 */
}

static void extremes(void **state)
{
    (void)state;
    int32_t original[LENGTH];
    fill(original);
    settings masking = make_masking(0, 0);
    masked m = run(&masking, 0, LENGTH, original);
    assert_int_equal(m.n, 0);
    assert_memory_equal(m.ids, original, sizeof original);

    masking = make_masking(1, 0);
    masking.masking.mask_token = 1;
    masking.masking.mask_random = 0;
    m = run(&masking, 0, LENGTH, original);
    assert_int_equal(m.n, LENGTH - 4);
    for (int i = 0; i < LENGTH; i++)
        assert_int_equal(m.ids[i], original[i] >= XLM_SPECIALS ? XLM_ID_MASK : original[i]);

    masking.masking.mask_token = 0; /* all are chosen and all stay */
    m = run(&masking, 0, LENGTH, original);
    assert_int_equal(m.n, LENGTH - 4);
    assert_memory_equal(m.ids, original, sizeof original);
}

static void at_least_one(void **state)
{
    (void)state;
    enum { SEQUENCES = 2000 };
    const int32_t three[] = {XLM_ID_BOS, 10, 11, 12, XLM_ID_EOS};
    const int32_t none[] = {XLM_ID_BOS, XLM_ID_UNK, XLM_ID_EOS};
    const settings masking = make_masking(1e-7, 0);
    int64_t at[5] = {0}, mask = 0;
    for (uint64_t s = 0; s < SEQUENCES; s++) {
        const masked m = run(&masking, s, 5, three);
        assert_int_equal(m.n, 1);
        const int32_t i = m.rows[0];
        assert_in_range(i, 1, 3);
        assert_int_equal(m.targets[0], three[i]);
        at[i]++;
        mask += m.ids[i] == XLM_ID_MASK;
    }
    for (int i = 1; i <= 3; i++)
        near(at[i], SEQUENCES, 1.0 / 3);
    near(mask, SEQUENCES, 0.8);
    assert_int_equal(run(&masking, 0, 3, none).n, 0);
}

static void draws_depend_on(void **state)
{
    (void)state;
    int32_t original[LENGTH];
    fill(original);
    const settings masking = make_masking(0.5, 3), step = make_masking(0.5, 4);
    settings stream = masking;
    stream.draws.stream = STREAM + 1;
    const masked a = run(&masking, 5, LENGTH, original), again = run(&masking, 5, LENGTH, original);
    assert_memory_equal(&a, &again, sizeof a);
    const masked others[] = {run(&step, 5, LENGTH, original), run(&stream, 5, LENGTH, original),
                             run(&masking, 6, LENGTH, original),
                             run(&masking, 5 + (UINT64_C(1) << 32), LENGTH, original)};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        assert_memory_not_equal(&a, &others[i], sizeof a);
    const masked front = run(&masking, 5, 50, original); /* the tokens after it do not matter */
    for (int i = 0; i < front.n; i++)
        assert_int_equal(front.rows[i], a.rows[i]);
    assert_memory_equal(front.ids, a.ids, 50 * sizeof *a.ids);
}

/* ---- switching ---- */

enum { EN, XX, YY };

/* Of the ordinary ids 5 ... 104, 20 ... 49 have one translation and 50 ... 59 three; 60 ... 109 have none. */
static xlm_translations *make_translations(void)
{
    enum { PAIRS = 30 + 3 * 10 };
    int32_t source[PAIRS], target[PAIRS];
    for (int i = 0; i < 30; i++)
        source[i] = 20 + i, target[i] = 70 + i;
    for (int i = 0; i < 30; i++)
        source[30 + i] = 50 + i / 3, target[30 + i] = 60 + i;
    const xlm_dictionary dictionary = {.pairs = PAIRS, .token = {source, target}, .language = {XX, EN}};
    return xlm_translations_new(&dictionary, VOCABULARY);
}

/* Translations of an id, by hand. */
static int translations_of(int32_t id, int32_t list[3])
{
    if (id >= 20 && id < 50)
        list[0] = id + 50;
    for (int i = 0; i < 3 && id >= 50 && id < 60; i++)
        list[i] = 60 + 3 * (id - 50) + i;
    return id >= 20 && id < 50 ? 1 : id >= 50 && id < 60 ? 3 : 0;
}

static bool is_translation(int32_t id, int32_t of)
{
    int32_t list[3];
    for (int n = translations_of(of, list); n > 0; n--)
        if (list[n - 1] == id)
            return true;
    return false;
}

static settings make_switching(double switching, const xlm_translations *translations)
{
    settings s = make_masking(0.15, 0);
    s.translations = translations;
    s.switching = switching;
    return s;
}

static void switching_shares(void **state)
{
    (void)state;
    enum { SEQUENCES = 5000, ORDINARY = LENGTH - 4 };
    int32_t original[LENGTH], list[3];
    fill(original);
    xlm_translations *translations = make_translations();
    const settings plain = make_masking(0.15, 0), masking = make_switching(0.5, translations);
    int64_t chosen = 0, known = 0, flipped = 0, unknown = 0, same = 0, mask = 0, first = 0, several = 0, labelled[3] = {0};
    for (uint64_t s = 0; s < SEQUENCES; s++) {
        const masked without = run_in(&plain, s, LENGTH, original, XX);
        const masked with = run_in(&masking, s, LENGTH, original, XX);
        /* The same tokens are chosen, and those that are not switched become what they would. */
        assert_int_equal(with.n, without.n);
        assert_memory_equal(with.rows, without.rows, sizeof without.rows);
        assert_memory_equal(with.targets, without.targets, sizeof without.targets);
        chosen += with.n;
        for (int32_t i = 0, k = 0; i < LENGTH; i++) {
            if (k == with.n || with.rows[k] != i) {
                assert_int_equal(with.ids[i], original[i]);
                assert_int_equal(with.languages[i], XX);
                continue;
            }
            const int32_t translation = with.translations[i], id = with.ids[i];
            k++;
            const int n = translations_of(original[i], list);
            if (n == 0) {
                assert_int_equal(translation, -1);
                assert_int_equal(with.languages[i], XX); /* never flipped */
                assert_true(id == original[i] || id == without.ids[i]);
                unknown++;
                same += id == original[i];
                mask += id == XLM_ID_MASK;
                continue;
            }
            assert_true(is_translation(translation, original[i]));
            known++;
            if (with.languages[i] == EN) {
                assert_int_equal(id, translation);
                flipped++;
            } else {
                assert_int_equal(with.languages[i], XX);
                assert_int_equal(id, without.ids[i]);
            }
            if (n == 3) {
                several++;
                labelled[translation - list[0]]++;
            }
            first += n == 1;
        }
    }
    near(chosen, SEQUENCES * ORDINARY, 0.15);
    near(flipped, known, 0.5);
    near(mask, unknown, 0.5 * 0.8);
    near(same, unknown, 0.5 + 0.5 * (0.1 + 0.1 * 0.01));
    for (int i = 0; i < 3; i++)
        near(labelled[i], several, 1.0 / 3);
    assert_int_equal(first + several, known);
    xlm_translations_free(translations);
}

static void switching_extremes(void **state)
{
    (void)state;
    int32_t original[LENGTH];
    fill(original);
    xlm_translations *translations = make_translations();
    const settings plain = make_masking(0.15, 0), never = make_switching(0, translations);
    settings always = make_switching(1, translations);
    always.masking.selection.share = 1;
    /* never: masked as without a dictionary, but labelled. */
    const masked without = run(&plain, 0, LENGTH, original);
    masked s = run_in(&never, 0, LENGTH, original, XX);
    assert_memory_equal(s.ids, without.ids, sizeof without.ids);
    for (int i = 0; i < LENGTH; i++)
        assert_int_equal(s.languages[i], XX);
    int labelled = 0;
    for (int k = 0; k < s.n; k++)
        labelled += s.translations[s.rows[k]] >= 0;
    assert_true(labelled > 0 && labelled < s.n);
    /* always: every token that has a translation, and no other, is switched; from the other side of the dictionary too. */
    for (int32_t language = EN; language <= YY; language++) {
        s = run_in(&always, 0, LENGTH, original, language);
        assert_int_equal(s.n, LENGTH - 4);
        int known = 0;
        for (int32_t i = 0; i < LENGTH; i++) {
            if (original[i] < XLM_SPECIALS)
                continue;
            const int32_t id = s.ids[i];
            if (s.languages[i] == language) {
                assert_int_equal(id, original[i]);
                assert_int_equal(s.translations[i], -1);
                continue;
            }
            known++;
            assert_int_equal(s.languages[i], EN + XX - language);
            assert_int_equal(s.translations[i], id);
            assert_true(language == XX ? is_translation(id, original[i]) : is_translation(original[i], id));
        }
        assert_int_equal(known, language == XX ? 39 : language == EN ? 40 : 0); /* one of 20 ... 59 is at <unk>; 60 ... 99 */
    }
    xlm_translations_free(translations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares), cmocka_unit_test(extremes), cmocka_unit_test(at_least_one),
        cmocka_unit_test(draws_depend_on), cmocka_unit_test(switching_shares), cmocka_unit_test(switching_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
