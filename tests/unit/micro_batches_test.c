/* xlm-mpi: how a batch is cut into micro-batches and dealt to ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "train/micro_batches.h"

enum { MAX_MICRO_BATCHES = 64, MAX_INSTANCES = 200 };

/* Every instance is some micro-batch's, once, and micro-batches differ by at most one. */
static void check_cut(int64_t batch, int64_t micro_batches)
{
    int met[MAX_INSTANCES] = {0};
    for (int64_t g = 0; g < micro_batches; g++) {
        const xlm_micro_batch_slice slice = xlm_micro_batch_of_batch(batch, micro_batches, g);
        assert_true(slice.n >= batch / micro_batches && slice.n <= (batch + micro_batches - 1) / micro_batches);
        for (int64_t i = slice.first; i < slice.first + slice.n; i++)
            met[i]++;
    }
    for (int64_t i = 0; i < batch; i++)
        assert_int_equal(met[i], 1);
}

/* Micro-batches g mod R hold as many instances for every rank, within one. */
static void check_deal(int64_t batch, int64_t micro_batches, int64_t ranks)
{
    for (int64_t r = 0; r < ranks; r++) {
        int64_t n = 0;
        for (int64_t g = r; g < micro_batches; g += ranks)
            n += xlm_micro_batch_of_batch(batch, micro_batches, g).n;
        assert_true(n >= batch / ranks && n <= (batch + ranks - 1) / ranks);
    }
}

static void test_instances_are_spread_evenly_over_ranks(void **state)
{
    (void)state;
    for (int64_t micro_batches = 1; micro_batches <= MAX_MICRO_BATCHES; micro_batches *= 2)
        for (int64_t batch = 1; batch <= MAX_INSTANCES; batch++) {
            check_cut(batch, micro_batches);
            for (int64_t ranks = 1; ranks <= micro_batches; ranks *= 2)
                check_deal(batch, micro_batches, ranks);
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
        cmocka_unit_test(test_bits_in_reverse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
