/* xlm-mpi: tests of which instance comes when. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <glib.h>
#include <string.h>

#include "stream/sampler.h"

/* ---- quotas ---- */

static void quotas_are(int n, const double *share, const int64_t *instances, double alpha, const int32_t *expected)
{
    xlm_sampler *sampler = xlm_sampler_new(n, share, instances, alpha, 1, 0);
    int64_t total = 0;
    for (int i = 0; i < n; i++) {
        assert_int_equal(xlm_sampler_quotas(sampler)[i], expected[i]);
        total += expected[i];
    }
    assert_int_equal(total, XLM_SAMPLER_RUN);
    xlm_sampler_free(sampler);
}

static void quotas(void **state)
{
    (void)state;
    const int64_t some[] = {10, 10, 10};
    quotas_are(1, (const double[]){7}, some, 0.7, (const int32_t[]){65536});
    quotas_are(2, (const double[]){5, 5}, some, 0.7, (const int32_t[]){32768, 32768});
    /* 8 : 1 to the power 1, 2/3, 1/3, 0 is 8 : 1, 4 : 1, 2 : 1, 1 : 1 */
    quotas_are(2, (const double[]){8, 1}, some, 1, (const int32_t[]){58254, 7282});         /* .22, .78 */
    quotas_are(2, (const double[]){8, 1}, some, 2.0 / 3, (const int32_t[]){52429, 13107});  /* .8, .2 */
    quotas_are(2, (const double[]){8, 1}, some, 1.0 / 3, (const int32_t[]){43691, 21845});  /* .67, .33 */
    quotas_are(2, (const double[]){8, 1}, some, 0, (const int32_t[]){32768, 32768});
    quotas_are(3, (const double[]){1, 1, 1}, some, 1, (const int32_t[]){21846, 21845, 21845}); /* a tie */
}

static void every_source_is_drawn(void **state)
{
    (void)state;
    quotas_are(2, (const double[]){1e12, 1}, (const int64_t[]){10, 10}, 1, (const int32_t[]){65535, 1});
    quotas_are(3, (const double[]){1e12, 1, 1}, (const int64_t[]){10, 10, 10}, 1, (const int32_t[]){65534, 1, 1});
    quotas_are(3, (const double[]){3, 0, 1}, (const int64_t[]){10, 0, 10}, 1, (const int32_t[]){49152, 0, 16384});
    quotas_are(2, (const double[]){0, 4}, (const int64_t[]){0, 10}, 0, (const int32_t[]){0, 65536});
}

/* ---- draws ---- */

/* Whole runs have their quotas, and each source goes through each of its epochs without leaving out or repeating an
 * instance. */
static void runs_and_epochs(void **state)
{
    (void)state;
    const int64_t instances[] = {1000, 40000, 1, 0};
    xlm_sampler *sampler = xlm_sampler_new(4, (const double[]){6, 3, 1, 0}, instances, 1, 42, 3);
    const int32_t *quota = xlm_sampler_quotas(sampler);
    assert_int_equal(quota[0], 39322); /* 39321.6, 19660.8, 6553.6: two places for three remainders */
    assert_int_equal(quota[1], 19661);
    assert_int_equal(quota[2], 6553);
    int64_t drawn[4] = {0}, run_start[4] = {0};
    guint8 *seen[4];
    for (int i = 0; i < 4; i++)
        seen[i] = g_new0(guint8, instances[i] + 1);
    for (int64_t k = 0; k < 3 * XLM_SAMPLER_RUN; k++) {
        int source;
        int64_t instance;
        xlm_sampler_draw(sampler, k, &source, &instance);
        assert_in_range(source, 0, 2);
        assert_true(instance >= 0 && instance < instances[source]);
        assert_int_equal(seen[source][instance], 0);
        seen[source][instance] = 1;
        if (++drawn[source] % instances[source] == 0)
            memset(seen[source], 0, (size_t)instances[source]);
        if (k % XLM_SAMPLER_RUN == XLM_SAMPLER_RUN - 1)
            for (int i = 0; i < 4; i++) {
                assert_int_equal(drawn[i] - run_start[i], quota[i]);
                run_start[i] = drawn[i];
            }
    }
    for (int i = 0; i < 4; i++)
        g_free(seen[i]);
    xlm_sampler_free(sampler);
}

static void sources_are_mixed(void **state)
{
    (void)state;
    xlm_sampler *sampler = xlm_sampler_new(2, (const double[]){1, 1}, (const int64_t[]){100, 100}, 1, 42, 0);
    int changes = 0, first = 0, before = 0;
    for (int64_t k = 0; k < 4096; k++) {
        int source;
        int64_t instance;
        xlm_sampler_draw(sampler, k, &source, &instance);
        changes += k > 0 && source != before;
        first += source == 0;
        before = source;
    }
    assert_in_range(changes, 1850, 2250); /* 2047.5 expected, deviation 32 */
    assert_in_range(first, 1850, 2250);
    xlm_sampler_free(sampler);
}

static int same_draws(xlm_sampler *a, xlm_sampler *b, int64_t shift)
{
    int same = 0;
    for (int64_t k = 0; k < 1000; k++) {
        int source[2];
        int64_t instance[2];
        xlm_sampler_draw(a, k, &source[0], &instance[0]);
        xlm_sampler_draw(b, k + shift, &source[1], &instance[1]);
        same += source[0] == source[1] && instance[0] == instance[1];
    }
    return same;
}

/* Draws depend only on seed, stream and place, not on earlier draws. */
static void orders(void **state)
{
    (void)state;
    const int64_t n = 1000;
    const double one = 1;
    xlm_sampler *a = xlm_sampler_new(1, &one, &n, 1, 7, 0), *same = xlm_sampler_new(1, &one, &n, 1, 7, 0);
    xlm_sampler *seed = xlm_sampler_new(1, &one, &n, 1, 8, 0), *stream = xlm_sampler_new(1, &one, &n, 1, 7, 1);
    int source;
    int64_t instance;
    xlm_sampler_draw(same, 5000000, &source, &instance); /* another run, first */
    assert_int_equal(same_draws(a, same, 0), 1000);
    assert_true(same_draws(a, seed, 0) < 20); /* 1 expected */
    assert_true(same_draws(a, stream, 0) < 20);
    assert_true(same_draws(a, a, n) < 20); /* the next epoch */
    xlm_sampler_free(a);
    xlm_sampler_free(same);
    xlm_sampler_free(seed);
    xlm_sampler_free(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotas),           cmocka_unit_test(every_source_is_drawn), cmocka_unit_test(runs_and_epochs),
        cmocka_unit_test(sources_are_mixed), cmocka_unit_test(orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
