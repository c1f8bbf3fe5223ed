/* xlm-mpi: sorted counts of pairs, in memory and in scratch files. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <omp.h>
#include <string.h>

#include <cmocka.h>
#include <glib/gstdio.h>

#include "lexicon/pair_counter.h"

enum { WORDS = 300, WINDOW = 3, TOKENS = 50000 };

/* Ids with places that are not counted now and then; small ones are frequent. */
static int32_t *make_ids(void)
{
    int32_t *ids = g_new(int32_t, TOKENS);
    uint32_t seed = 12345;
    for (int i = 0; i < TOKENS; i++) {
        seed = seed * 1664525 + 1013904223;
        const uint32_t draw = seed >> 8;
        ids[i] = draw % 17 == 0 ? XLM_PAIR_NONE : (int32_t)(draw % (draw % 3 == 0 ? 20 : WORDS));
    }
    return ids;
}

/* n[i][j][r - 1]: how often j is r tokens before or after i, with i <= j. */
static uint64_t (*count_plainly(const int32_t *ids))[WORDS][WINDOW]
{
    uint64_t(*n)[WORDS][WINDOW] = g_malloc0(sizeof(uint64_t) * WORDS * WORDS * WINDOW);
    for (int p = 0; p < TOKENS; p++)
        for (int q = MAX(0, p - WINDOW); q <= MIN(TOKENS - 1, p + WINDOW); q++)
            if (q != p && ids[p] >= 0 && ids[q] >= ids[p])
                n[ids[p]][ids[q]][ABS(q - p) - 1]++;
    return n;
}

/* Count in blocks, spilling after some of them. */
static void count_into(xlm_pair_runs *runs, const int32_t *ids, int block, int64_t max_bytes)
{
    GError *error = NULL;
    xlm_pair_counter *counter = xlm_pair_counter_new(WORDS, WINDOW, 0, 0, runs);
    for (int at = 0; at < TOKENS; at += block) {
        const int before = MIN(at, WINDOW), n = MIN(block, TOKENS - at);
        assert_true(xlm_pair_counter_add(counter, ids + at - before, before, before + n, max_bytes, &error));
        if (at / block % 3 == 1 || block < 100) {
            xlm_pair_counter_flush(counter);
            assert_true(xlm_pair_runs_bytes(runs) <= max_bytes || xlm_pair_runs_spill(runs, &error));
        }
    }
    xlm_pair_counter_flush(counter);
    xlm_pair_counter_free(counter);
    assert_null(error);
}

/* The records of rows [first, last), added up, are those of n. */
static void check_rows(const xlm_pair_runs *runs, uint64_t (*n)[WORDS][WINDOW], uint32_t first, uint32_t last)
{
    xlm_pair_merge *merge = xlm_pair_merge_new(WINDOW);
    xlm_pair_merge_add(merge, runs, 0, first, last);
    uint64_t record[1 + WINDOW], none[WINDOW] = {0};
    bool more = xlm_pair_merge_sum(merge, record);
    for (uint32_t row = first; row < last; row++)
        for (uint32_t column = row; column < WORDS; column++) {
            if (memcmp(n[row][column], none, sizeof none) == 0)
                continue;
            assert_true(more && record[0] == xlm_pair(row, column));
            assert_memory_equal(record + 1, n[row][column], sizeof none);
            more = xlm_pair_merge_sum(merge, record);
        }
    assert_false(more);
    xlm_pair_merge_free(merge);
}

static void test_counts(void **state)
{
    (void)state;
    int32_t *ids = make_ids();
    uint64_t(*n)[WORDS][WINDOW] = count_plainly(ids);
    char *directory = g_dir_make_tmp("pair_runs_XXXXXX", NULL);
    for (int threads = 1; threads <= 3; threads++)
        for (int block = 70; block <= TOKENS; block *= 9)
            for (int spilling = 0; spilling < 2; spilling++) {
                if (block < 100 && (threads > 1 || !spilling))
                    continue; /* hundreds of scratch files, which are merged */
                omp_set_num_threads(threads);
                xlm_pair_runs *runs = xlm_pair_runs_new(WINDOW, directory);
                count_into(runs, ids, block, spilling ? 0 : INT64_MAX);
                if (spilling)
                    assert_true(xlm_pair_runs_spill(runs, NULL));
                assert_true(spilling == (xlm_pair_runs_bytes(runs) == 0));
                check_rows(runs, n, 0, WORDS);
                check_rows(runs, n, 7, 8);
                check_rows(runs, n, 100, 200);
                check_rows(runs, n, 250, 250);
                xlm_pair_runs_free(runs);
            }
    omp_set_num_threads(1);
    /* Scratch files have no names. */
    assert_int_equal(g_rmdir(directory), 0);
    g_free(directory);
    g_free(ids);
    g_free(n);
}

/* Two lists of runs: of one pair the record with the lower tag comes first. */
static void test_tags(void **state)
{
    (void)state;
    static const uint64_t words[2][4] = {{5, 50, 7, 70}, {5, 51, 9, 91}};
    xlm_pair_runs *runs[2];
    xlm_pair_merge *merge = xlm_pair_merge_new(1);
    for (int i = 1; i >= 0; i--) {
        runs[i] = xlm_pair_runs_new(1, "/nonexistent");
        xlm_pair_runs_add(runs[i], g_memdup2(words[i], sizeof words[i]), 2);
        xlm_pair_merge_add(merge, runs[i], i, 0, 1);
    }
    static const uint64_t expected[4][3] = {{5, 50, 0}, {5, 51, 1}, {7, 70, 0}, {9, 91, 1}};
    for (int i = 0; i < 4; i++) {
        int tag;
        const uint64_t *record = xlm_pair_merge_next(merge, &tag);
        assert_true(record != NULL && record[0] == expected[i][0] && record[1] == expected[i][1] && tag == (int)expected[i][2]);
    }
    assert_null(xlm_pair_merge_next(merge, NULL));
    xlm_pair_merge_free(merge);
    GError *error = NULL;
    assert_false(xlm_pair_runs_spill(runs[0], &error));
    assert_int_equal(error->code, EX_CANTCREAT);
    g_error_free(error);
    for (int i = 0; i < 2; i++)
        xlm_pair_runs_free(runs[i]);
}

static void test_bits(void **state)
{
    (void)state;
    assert_int_equal(xlm_pair_counter_bits(1, 1), 0);
    assert_int_equal(xlm_pair_counter_bits(2, 2), 3);
    assert_int_equal(xlm_pair_counter_bits(250000, 2), 37);
    assert_int_equal(xlm_pair_counter_bits(INT32_MAX, 4), 64);
}

/* Words that are lent stay the caller's, in memory as on disk. */
static void test_lent(void **state)
{
    (void)state;
    GError *error = NULL;
    const uint64_t first[] = {xlm_pair(0, 1), 2, xlm_pair(3, 4), 5}, second[] = {xlm_pair(3, 4), 7};
    g_autofree char *scratch = g_dir_make_tmp("xlm-pairs-XXXXXX", &error);
    assert_non_null(scratch);
    for (int spill = 0; spill < 2; spill++) {
        uint64_t record[2];
        xlm_pair_runs *runs = xlm_pair_runs_new(1, scratch);
        xlm_pair_runs_lend(runs, first, 2);
        xlm_pair_runs_lend(runs, second, 1);
        xlm_pair_runs_lend(runs, second + 2, 0);
        assert_int_equal(xlm_pair_runs_records(runs), 3);
        assert_true(spill == 0 || xlm_pair_runs_spill(runs, &error));
        xlm_pair_merge *merge = xlm_pair_merge_new(1);
        xlm_pair_merge_add(merge, runs, 0, 0, 4);
        assert_true(xlm_pair_merge_sum(merge, record) && record[0] == first[0] && record[1] == 2);
        assert_true(xlm_pair_merge_sum(merge, record) && record[0] == second[0] && record[1] == 12);
        assert_false(xlm_pair_merge_sum(merge, record));
        xlm_pair_merge_free(merge);
        xlm_pair_runs_free(runs);
    }
    g_rmdir(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts), cmocka_unit_test(test_tags), cmocka_unit_test(test_bits),
                                       cmocka_unit_test(test_lent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
