/* xlm-mpi: the counter-based generator against published vectors. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/number_digest.h"
#include "base/rng.h"

/* Philox4x32-10 of the known-answer tests that come with Random123: counter, key, result. */
static void test_known_answers(void **state)
{
    (void)state;
    static const struct { uint32_t counter[4], key[2], result[4]; } vector[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) {
        const uint32_t *c = vector[i].counter;
        const xlm_rng_block b = xlm_rng_draw((xlm_rng_key){{vector[i].key[0], vector[i].key[1]}}, c[0], c[1], c[2], c[3]);
        assert_memory_equal(b.v, vector[i].result, sizeof b.v);
    }
}

static void test_permutation_is_bijection(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 2, 3, 100, 1000, 65536};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const uint64_t n = sizes[k];
        const xlm_rng_key key = xlm_rng_make_key(7, XLM_RNG_ORDER, k);
        unsigned char *seen = calloc(n, 1);
        uint64_t fixed = 0;
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t image = xlm_rng_permute(key, i, n);
            assert_true(image < n);
            assert_int_equal(seen[image]++, 0);
            fixed += image == i;
        }
        /* A random permutation has one fixed point on average. */
        assert_true(n < 100 || fixed < 10);
        free(seen);
    }
}

static void test_permutations_differ(void **state)
{
    (void)state;
    const xlm_rng_key one = xlm_rng_make_key(7, XLM_RNG_ORDER, 0), next = xlm_rng_make_key(7, XLM_RNG_ORDER, 1);
    int same = 0;
    for (uint64_t i = 0; i < 1000; i++)
        same += xlm_rng_permute(one, i, 1000) == xlm_rng_permute(next, i, 1000);
    assert_true(same < 15);
    /* Far beyond 32 bits. */
    const uint64_t n = (UINT64_C(1) << 61) + 12345;
    assert_true(xlm_rng_permute(one, n - 1, n) < n && xlm_rng_permute(one, 0, n) != xlm_rng_permute(one, 1, n));
}

/* Seed, purpose and step each make another key. */
static void test_keys(void **state)
{
    (void)state;
    const xlm_rng_key key[] = {
        xlm_rng_make_key(1, XLM_RNG_MASK, 0),    xlm_rng_make_key(2, XLM_RNG_MASK, 0),
        xlm_rng_make_key(1, XLM_RNG_DROPOUT, 0), xlm_rng_make_key(1, XLM_RNG_MASK, 1),
        xlm_rng_make_key(1, XLM_RNG_MASK, UINT64_C(1) << 32), xlm_rng_make_key(UINT64_C(1) << 32 | 1, XLM_RNG_MASK, 0),
    };
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(key[i].v[0] != key[j].v[0] && key[i].v[1] != key[j].v[1]);
}

static void test_distributions(void **state)
{
    (void)state;
    enum { N = 100000 };
    const xlm_rng_key key = xlm_rng_make_key(11, XLM_RNG_SAMPLE, 0);
    double sum = 0, squares = 0, fourth = 0, unit = 0;
    int below[6] = {0};
    for (uint32_t i = 0; i < N / 2; i++) {
        const xlm_rng_block b = xlm_rng_draw(key, i, 0, 0, 0);
        double normal[2];
        xlm_rng_normal(b.v[0], b.v[1], normal);
        for (int k = 0; k < 2; k++) {
            sum += normal[k];
            squares += normal[k] * normal[k];
            fourth += pow(normal[k], 4);
        }
        unit += xlm_rng_unit(b.v[2]);
        below[xlm_rng_below(b.v[3], 6)]++;
    }
    /* Five standard deviations. */
    assert_true(fabs(sum / N) < 5 / sqrt(N));
    assert_true(fabs(squares / N - 1) < 5 * sqrt(2.0 / N));
    assert_true(fabs(fourth / N - 3) < 5 * sqrt(96.0 / N));
    assert_true(fabs(unit / (N / 2) - 0.5) < 5 * sqrt(1.0 / 12 / (N / 2)));
    for (int k = 0; k < 6; k++)
        assert_true(abs(below[k] - N / 12) < 5 * sqrt(N / 12));
    double edge[2];
    xlm_rng_normal(0, 0, edge);
    assert_true(isfinite(edge[0]) && isfinite(edge[1]));
    xlm_rng_normal(UINT32_MAX, UINT32_MAX, edge);
    assert_true(isfinite(edge[0]) && isfinite(edge[1]));
    assert_true(xlm_rng_unit(UINT32_MAX) < 1 && xlm_rng_below(UINT32_MAX, 6) == 5);
}

static void test_digest(void **state)
{
    (void)state;
    const uint64_t a = xlm_digest("abc", 3, 0);
    assert_true(a == xlm_digest("abc", 3, 0));
    assert_true(a != xlm_digest("abd", 3, 0) && a != xlm_digest("abc", 2, 0) && a != xlm_digest("abc", 3, 1));
}

/* Values that big-endian machines must find too, since files keep such digests. */
static void test_digest_of_numbers(void **state)
{
    (void)state;
    const int32_t ids[] = {1, -2, 0x01020304};
    const int64_t counts[] = {1, -2, INT64_C(0x0102030405060708)};
    const unsigned char id_bytes[] = {1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 4, 3, 2, 1};
    const unsigned char count_bytes[] = {1, 0, 0, 0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                         8, 7, 6, 5, 4, 3, 2, 1};
    assert_int_equal(xlm_digest_int32(ids, 3, 7), xlm_digest(id_bytes, sizeof id_bytes, 7));
    assert_int_equal(xlm_digest_int64(counts, 3, 7), xlm_digest(count_bytes, sizeof count_bytes, 7));
    assert_int_equal(xlm_digest_int32(ids, 3, 7), UINT64_C(0x8e401a5d698ac5));
    assert_int_equal(xlm_digest_int64(counts, 3, 7), UINT64_C(0xeb5ca92a8282223c));
    assert_int_equal(xlm_digest_int32(ids, 0, 7), xlm_digest("", 0, 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_answers), cmocka_unit_test(test_permutation_is_bijection),
        cmocka_unit_test(test_permutations_differ), cmocka_unit_test(test_keys), cmocka_unit_test(test_distributions),
        cmocka_unit_test(test_digest), cmocka_unit_test(test_digest_of_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
