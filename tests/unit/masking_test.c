/* xlm-mpi: tests of masking. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <glib.h>
#include <math.h>
#include <string.h>

#include "corpus/masking.h"

enum { VOCABULARY = 105, LENGTH = 100, FIRST_ROW = 1000 };

typedef struct masked {
    int32_t n, ids[LENGTH], rows[LENGTH], targets[LENGTH];
} masked;

static xlm_masking make_masking(double mask, uint64_t step)
{
    return (xlm_masking){.mask = mask, .mask_token = 0.8, .mask_random = 0.1, .vocabulary = VOCABULARY,
                         .key = xlm_rng_make_key(1, XLM_RNG_MASK, step)};
}

static masked run(const xlm_masking *masking, uint64_t instance, int32_t n, const int32_t *original)
{
    masked m = {0};
    m.n = xlm_mask_sequence(masking, instance, n, original, FIRST_ROW, m.ids, m.rows, m.targets);
    return m;
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
    const xlm_masking masking = make_masking(0.15, 0);
    int64_t chosen = 0, mask = 0, same = 0, other = 0, drawn[VOCABULARY] = {0}, at[LENGTH] = {0};
    for (uint64_t s = 0; s < SEQUENCES; s++) {
        const masked m = run(&masking, s, LENGTH, original);
        chosen += m.n;
        for (int32_t i = 0, k = 0; i < LENGTH; i++) {
            if (k == m.n || m.rows[k] != FIRST_ROW + i) {
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
    xlm_masking masking = make_masking(0, 0);
    masked m = run(&masking, 0, LENGTH, original);
    assert_int_equal(m.n, 0);
    assert_memory_equal(m.ids, original, sizeof original);

    masking = make_masking(1, 0);
    masking.mask_token = 1;
    masking.mask_random = 0;
    m = run(&masking, 0, LENGTH, original);
    assert_int_equal(m.n, LENGTH - 4);
    for (int i = 0; i < LENGTH; i++)
        assert_int_equal(m.ids[i], original[i] >= XLM_SPECIALS ? XLM_ID_MASK : original[i]);

    masking.mask_token = 0; /* all are chosen and all stay */
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
    const xlm_masking masking = make_masking(1e-7, 0);
    int64_t at[5] = {0}, mask = 0;
    for (uint64_t s = 0; s < SEQUENCES; s++) {
        const masked m = run(&masking, s, 5, three);
        assert_int_equal(m.n, 1);
        const int32_t i = m.rows[0] - FIRST_ROW;
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
    const xlm_masking masking = make_masking(0.5, 3), step = make_masking(0.5, 4);
    xlm_masking stream = masking;
    stream.stream = 1;
    const masked a = run(&masking, 5, LENGTH, original), again = run(&masking, 5, LENGTH, original);
    assert_memory_equal(&a, &again, sizeof a);
    const masked others[] = {run(&step, 5, LENGTH, original), run(&stream, 5, LENGTH, original),
                             run(&masking, 6, LENGTH, original),
                             run(&masking, 5 + (UINT64_C(1) << 32), LENGTH, original)};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        assert_memory_not_equal(&a, &others[i], sizeof a);
    const masked front = run(&masking, 5, 50, original); /* what comes behind does not matter */
    for (int i = 0; i < front.n; i++)
        assert_int_equal(front.rows[i], a.rows[i]);
    assert_memory_equal(front.ids, a.ids, 50 * sizeof *a.ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares), cmocka_unit_test(extremes), cmocka_unit_test(at_least_one),
        cmocka_unit_test(draws_depend_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
