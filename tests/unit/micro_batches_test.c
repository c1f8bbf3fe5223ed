/* xlm-mpi: how a batch is cut into micro-batches and dealt to ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>

#include "train/micro_batches.h"

enum { MAX_MICRO_BATCHES = 64, MAX_INSTANCES = 200 };

/* Every instance is some micro-batch's, once, and those of one stream differ by at most one. */
static void check_cut(const xlm_micro_batches *divided, int64_t batch, int64_t micro_batches)
{
    int met[MAX_INSTANCES] = {0};
    for (int64_t g = 0; g < micro_batches; g++) {
        const xlm_micro_batch_slice slice = xlm_micro_batch_of_batch(divided, 0, g);
        assert_true(slice.n >= batch / micro_batches && slice.n <= (batch + micro_batches - 1) / micro_batches);
        for (int64_t i = slice.first; i < slice.first + slice.n; i++)
            met[i]++;
    }
    for (int64_t i = 0; i < batch; i++)
        assert_int_equal(met[i], 1);
    assert_int_equal(xlm_micro_batches_most(divided, 0), (batch + micro_batches - 1) / micro_batches);
}

/* Micro-batches g mod R hold as many instances for every rank, within one. */
static void check_deal(const xlm_micro_batches *divided, int64_t batch, int64_t micro_batches, int64_t ranks)
{
    for (int64_t r = 0; r < ranks; r++) {
        int64_t n = 0;
        for (int64_t g = r; g < micro_batches; g += ranks)
            n += xlm_micro_batch_of_batch(divided, 0, g).n;
        assert_true(n >= batch / ranks && n <= (batch + ranks - 1) / ranks);
    }
}

static void test_instances_are_spread_evenly_over_ranks(void **state)
{
    (void)state;
    for (int64_t micro_batches = 1; micro_batches <= MAX_MICRO_BATCHES; micro_batches *= 2)
        for (int64_t batch = 1; batch <= MAX_INSTANCES; batch++) {
            g_autoptr(xlm_micro_batches) divided = xlm_micro_batches_new(micro_batches, 1, 1, &batch, &(int64_t){7});
            check_cut(divided, batch, micro_batches);
            for (int64_t ranks = 1; ranks <= micro_batches; ranks *= 2)
                check_deal(divided, batch, micro_batches, ranks);
        }
}

/* Ranks that are no power of two, or more than the job's micro-batches: all have as many micro-batches, and instances up to one. */
static void test_any_number_of_ranks_is_busy(void **state)
{
    (void)state;
    static const struct {
        int64_t wanted;
        int ranks;
        int64_t micro_batches;
    } row[] = {{8, 1, 8}, {8, 2, 8},   {8, 8, 8},   {1, 4, 4},   {8, 64, 64},
               {8, 3, 9}, {8, 6, 12}, {8, 12, 12}, {64, 6, 66}, {8, 96, 96}};
    for (size_t i = 0; i < G_N_ELEMENTS(row); i++) {
        assert_int_equal(xlm_micro_batches_on(row[i].wanted, row[i].ranks), row[i].micro_batches);
        for (int64_t batch = 1; batch <= MAX_INSTANCES; batch++) {
            const int64_t g = row[i].micro_batches;
            g_autoptr(xlm_micro_batches) divided = xlm_micro_batches_new(g, row[i].ranks, 1, &batch, &(int64_t){7});
            check_cut(divided, batch, g);
            check_deal(divided, batch, g, row[i].ranks);
        }
    }
}

/* Tokens of the rank with the most, and instances in all. */
static int64_t most_tokens(const xlm_micro_batches *divided, int streams, const int64_t *tokens, int64_t micro_batches,
                           int64_t ranks, int64_t *instances)
{
    int64_t most = 0;
    *instances = 0;
    for (int64_t r = 0; r < ranks; r++) {
        int64_t own = 0;
        for (int64_t g = r; g < micro_batches; g += ranks)
            for (int s = 0; s < streams; s++) {
                own += xlm_micro_batch_of_batch(divided, s, g).n * tokens[s];
                *instances += xlm_micro_batch_of_batch(divided, s, g).n;
            }
        most = MAX(most, own);
    }
    return most;
}

static void test_streams_are_balanced_together(void **state)
{
    (void)state;
    enum { STREAMS = 2, G = 256 };
    static const int64_t batch[STREAMS] = {128, 32}, alike[STREAMS] = {512, 512}, short_pairs[STREAMS] = {512, 60};
    int64_t instances;
    /* 160 instances: 5 for each of 32 ranks, 2 or 3 for each of 64, at most one for each of 256. */
    g_autoptr(xlm_micro_batches) same = xlm_micro_batches_new(G, 1, STREAMS, batch, alike);
    assert_int_equal(most_tokens(same, STREAMS, alike, G, 32, &instances), 5 * 512);
    assert_int_equal(most_tokens(same, STREAMS, alike, G, 64, &instances), 3 * 512);
    assert_int_equal(most_tokens(same, STREAMS, alike, G, 256, &instances), 512);
    assert_int_equal(instances, 160);
    /* Pairs have micro-batches of their own where there are more of these than instances. */
    g_autoptr(xlm_micro_batches) other = xlm_micro_batches_new(G, 1, STREAMS, batch, short_pairs);
    assert_int_equal(most_tokens(other, STREAMS, short_pairs, G, 256, &instances), 512);
    assert_int_equal(instances, 160);
    /* What can be divided evenly is: two texts and a pair each. */
    static const int64_t even[STREAMS] = {128, 64};
    g_autoptr(xlm_micro_batches) divisible = xlm_micro_batches_new(64, 1, STREAMS, even, short_pairs);
    for (int64_t g = 0; g < 64; g++) {
        assert_int_equal(xlm_micro_batch_of_batch(divisible, 0, g).n, 2);
        assert_int_equal(xlm_micro_batch_of_batch(divisible, 1, g).n, 1);
    }
}

static void test_bits_in_reverse(void **state)
{
    (void)state;
    static const int64_t of_8[] = {0, 4, 2, 6, 1, 5, 3, 7};
    for (int64_t i = 0; i < 8; i++)
        assert_int_equal(xlm_micro_batch_reversed(i, 8), of_8[i]);
    assert_int_equal(xlm_micro_batch_reversed(0, 1), 0);
    assert_int_equal(xlm_micro_batch_reversed(4, 6), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instances_are_spread_evenly_over_ranks),
        cmocka_unit_test(test_any_number_of_ranks_is_busy),
        cmocka_unit_test(test_streams_are_balanced_together),
        cmocka_unit_test(test_bits_in_reverse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
