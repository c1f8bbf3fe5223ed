/* xlm-mpi: tests of which instance comes when. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <glib.h>
#include <string.h>

#include "options/piecewise.h"
#include "stream/sampler.h"

static xlm_piecewise *kept; /* of the last call of constant() */
static xlm_sampler_schedule plain; /* one draw in each step */

static const xlm_piecewise *constant(double value)
{
    g_free(kept);
    return kept = xlm_piecewise_new(&(xlm_piecewise_point){0, value}, 1);
}

/* So many draws in each step; g_free. */
static xlm_piecewise *always(int64_t draws) { return xlm_piecewise_new(&(xlm_piecewise_point){0, (double)draws}, 1); }

/* ---- quotas ---- */

static void quotas_are(int n, const double *share, const int64_t *instances, double alpha, const int32_t *expected)
{
    const xlm_sampler_schedule schedule = {constant(alpha), NULL, plain.draws};
    xlm_sampler *sampler = xlm_sampler_new(n, share, instances, &schedule, 1, 0);
    int64_t total = 0;
    for (int i = 0; i < n; i++) {
        assert_int_equal(xlm_sampler_quotas(sampler, 0)[i], expected[i]);
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
    xlm_sampler *sampler = xlm_sampler_new(4, (const double[]){6, 3, 1, 0}, instances, &plain, 42, 3);
    const int32_t *quota = xlm_sampler_quotas(sampler, 0);
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
    xlm_sampler *sampler = xlm_sampler_new(2, (const double[]){1, 1}, (const int64_t[]){100, 100}, &plain, 42, 0);
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

/* An α of one point is one number, whatever its step: it divides nothing. */
static void one_point_of_alpha(void **state)
{
    (void)state;
    enum { STEP = 10, DRAWS = 10000 };
    const int64_t instances[] = {1000, 500};
    g_autofree xlm_piecewise *draws = always(DRAWS);
    g_autofree xlm_piecewise *late = xlm_piecewise_new((const xlm_piecewise_point[]){{STEP, 0.7}}, 1);
    const xlm_sampler_schedule schedules[] = {{constant(0.7), NULL, draws}, {late, NULL, draws}};
    xlm_sampler *s[2];
    for (int i = 0; i < 2; i++)
        s[i] = xlm_sampler_new(2, (const double[]){2, 1}, instances, &schedules[i], 5, 1);
    assert_int_equal(xlm_sampler_spells(s[1]), 1);
    for (int64_t k = (STEP - 1) * DRAWS; k < (STEP + 1) * DRAWS; k += 7) {
        int component[2];
        int64_t instance[2];
        for (int i = 0; i < 2; i++)
            xlm_sampler_draw(s[i], k, &component[i], &instance[i]);
        assert_true(component[0] == component[1] && instance[0] == instance[1]);
    }
    for (int i = 0; i < 2; i++)
        xlm_sampler_free(s[i]);
}

/* Shares 8 : 1 : 1, with α 1 up to step 20, then 1/3; the third begins at step 15. 10,000 draws are a step. */
static void schedules(void **state)
{
    (void)state;
    enum { DRAWS = 10000, STEPS = 40 };
    const int64_t instances[] = {100000, 30000, 10}, begins[] = {0, 0, 15};
    g_autofree xlm_piecewise *alpha = xlm_piecewise_new((const xlm_piecewise_point[]){{0, 1}, {19, 1}, {20, 1.0 / 3}}, 3);
    g_autofree xlm_piecewise *draws = always(DRAWS), *runs_of_draws = always(XLM_SAMPLER_RUN);
    const xlm_sampler_schedule schedule = {alpha, begins, draws};
    xlm_sampler *s = xlm_sampler_new(3, (const double[]){8, 1, 1}, instances, &schedule, 5, 1);
    int64_t count[3][3] = {{0}}, drawn[3] = {0};
    g_autofree uint8_t *times = g_new0(uint8_t, 100000);
    assert_int_equal(xlm_sampler_spells(s), 3);
    for (int64_t k = 0; k < STEPS * DRAWS; k++) {
        const int64_t step = k / DRAWS;
        const int phase = step < 15 ? 0 : step < 20 ? 1 : 2;
        int component;
        int64_t instance;
        xlm_sampler_draw(s, k, &component, &instance);
        count[phase][component]++;
        if (component == 0 && drawn[0]++ < 100000) /* each of its instances once, whatever changes meanwhile */
            assert_int_equal(times[instance]++, 0);
    }
    assert_true(drawn[0] > 100000);
    assert_int_equal(count[0][2], 0);
    /* A part of a run has the shares of the run, but for chance: 7 deviations of at most 130. */
    assert_in_range(count[0][0], 150000 * 8 / 9 - 900, 150000 * 8 / 9 + 900);
    assert_in_range(count[1][0], 40000 - 900, 40000 + 900);
    assert_in_range(count[1][2], 5000 - 900, 5000 + 900);
    assert_in_range(count[2][0], 100000 - 900, 100000 + 900); /* 2 : 1 : 1 */
    assert_in_range(count[2][2], 50000 - 900, 50000 + 900);
    /* In any order of asking. */
    xlm_sampler *again = xlm_sampler_new(3, (const double[]){8, 1, 1}, instances, &schedule, 5, 1);
    for (int64_t k = STEPS * DRAWS - 1; k > 0; k -= 7919) {
        int component[2];
        int64_t instance[2];
        xlm_sampler_draw(s, k, &component[0], &instance[0]);
        xlm_sampler_draw(again, k, &component[1], &instance[1]);
        assert_true(component[0] == component[1] && instance[0] == instance[1]);
    }
    xlm_sampler_free(again);
    xlm_sampler_free(s);

    /* α that falls from 1 to 0 in 40 steps: the quotas of each run are those at its first step. */
    g_autofree xlm_piecewise *falling = xlm_piecewise_new((const xlm_piecewise_point[]){{0, 1}, {40, 0}}, 2);
    const xlm_sampler_schedule slope = {falling, NULL, runs_of_draws};
    xlm_sampler *f = xlm_sampler_new(2, (const double[]){8, 1}, instances, &slope, 5, 1);
    static const int64_t runs[] = {0, 20, 40, 41};
    static const double expected[] = {8.0 / 9, 2.8284271 / 3.8284271, 0.5, 0.5};
    for (size_t r = 0; r < G_N_ELEMENTS(runs); r++) {
        int64_t first = 0;
        for (int64_t k = 0; k < XLM_SAMPLER_RUN; k++) {
            int component;
            int64_t instance;
            xlm_sampler_draw(f, runs[r] * XLM_SAMPLER_RUN + k, &component, &instance);
            first += component == 0;
        }
        assert_in_range(first, (int64_t)(expected[r] * XLM_SAMPLER_RUN) - 1, (int64_t)(expected[r] * XLM_SAMPLER_RUN) + 1);
    }
    xlm_sampler_free(f);

    /* What is far away is not counted before it is needed. */
    g_autofree xlm_piecewise *far = xlm_piecewise_new((const xlm_piecewise_point[]){{0, 1}, {1000000000000, 0}}, 2);
    const xlm_sampler_schedule long_way = {far, NULL, runs_of_draws};
    xlm_sampler *l = xlm_sampler_new(2, (const double[]){8, 1}, instances, &long_way, 5, 1);
    int component;
    int64_t instance;
    assert_int_equal(xlm_sampler_spells(l), 2);
    assert_int_equal(xlm_sampler_quotas(l, 0)[0], 58254);
    assert_int_equal(xlm_sampler_quotas(l, 1)[0], 32768);
    xlm_sampler_draw(l, 10 * XLM_SAMPLER_RUN, &component, &instance);
    xlm_sampler_free(l);
}

/* Shares 8 : 1 : 1. No draws before step 10, then more and more, up to step 50; the third component begins at step 20, and α
 * falls from 1 at step 30 to 0 at step 31. A draw has the components and α of the step that it is in. */
static void draws_that_depend_on_the_step(void **state)
{
    (void)state;
    enum { STEPS = 60, MOST = 40000 };
    const int64_t instances[] = {100000, 30000, 10}, begins[] = {0, 0, 20};
    const double share[] = {8, 1, 1};
    g_autofree xlm_piecewise *draws = xlm_piecewise_new((const xlm_piecewise_point[]){{10, 0}, {50, MOST}}, 2);
    g_autofree xlm_piecewise *alpha = xlm_piecewise_new((const xlm_piecewise_point[]){{0, 1}, {30, 1}, {31, 0}}, 3);
    const xlm_sampler_schedule schedule = {alpha, begins, draws};
    xlm_sampler *s = xlm_sampler_new(3, share, instances, &schedule, 5, 1);
    xlm_sampler *last_first = xlm_sampler_new(3, share, instances, &schedule, 5, 1);
    g_autofree int64_t *seen = g_new0(int64_t, instances[1]);
    int64_t count[3][3] = {{0}}, all[3] = {0}, second = 0, k = 0;
    for (int64_t step = 0; step < STEPS; step++) {
        const int phase = step < 20 ? 0 : step < 31 ? 1 : 2;
        for (const int64_t end = k + (step <= 10 ? 0 : step >= 50 ? MOST : (step - 10) * MOST / 40); k < end; k++) {
            int component;
            int64_t instance;
            xlm_sampler_draw(s, k, &component, &instance);
            count[phase][component]++;
            all[phase]++;
            if (component == 1) /* each of its instances once in each of its epochs */
                assert_int_equal(seen[instance]++, second++ / instances[1]);
        }
    }
    assert_true(second > 5 * instances[1]);
    assert_int_equal(count[0][2], 0);
    assert_in_range(count[0][0], all[0] * 8 / 9 - 900, all[0] * 8 / 9 + 900);
    assert_in_range(count[1][2], all[1] / 10 - 900, all[1] / 10 + 900);
    for (int i = 0; i < 3; i++)
        assert_in_range(count[2][i], all[2] / 3 - 900, all[2] / 3 + 900);
    for (k--; k > 0; k -= 7919) { /* in any order of asking */
        int component[2];
        int64_t instance[2];
        xlm_sampler_draw(s, k, &component[0], &instance[0]);
        xlm_sampler_draw(last_first, k, &component[1], &instance[1]);
        assert_true(component[0] == component[1] && instance[0] == instance[1]);
    }
    xlm_sampler_free(last_first);
    xlm_sampler_free(s);
}

/* The second component begins when as many draws were made as a run has, or none: then the run that would come next before it and
 * the first one after it have the same number. */
static void a_spell_of_whole_runs(void **state)
{
    (void)state;
    enum { BEGIN = 1024 };
    const int64_t instances[] = {100000, 100000}, begins[] = {0, BEGIN};
    g_autofree xlm_piecewise *whole = always(XLM_SAMPLER_RUN / BEGIN);
    g_autofree xlm_piecewise *none = xlm_piecewise_new((const xlm_piecewise_point[]){{0, 0}, {BEGIN - 1, 0}, {BEGIN, 64}}, 3);
    for (int empty = 0; empty <= 1; empty++) {
        const xlm_sampler_schedule schedule = {constant(1), begins, empty ? none : whole};
        xlm_sampler *s = xlm_sampler_new(2, (const double[]){1, 1}, instances, &schedule, 5, 1);
        xlm_sampler *later_first = xlm_sampler_new(2, (const double[]){1, 1}, instances, &schedule, 5, 1);
        const int64_t first = empty ? 0 : XLM_SAMPLER_RUN;
        int64_t count[2] = {0}, instance;
        int component;
        xlm_sampler_draw(later_first, first + 3 * XLM_SAMPLER_RUN, &component, &instance);
        for (int64_t k = 0; k < first; k++) {
            xlm_sampler_draw(s, k, &component, &instance);
            assert_int_equal(component, 0);
        }
        for (int64_t k = first; k < first + XLM_SAMPLER_RUN; k++) {
            int other;
            int64_t other_instance;
            xlm_sampler_draw(s, k, &component, &instance);
            xlm_sampler_draw(later_first, k, &other, &other_instance);
            assert_true(component == other && instance == other_instance);
            count[component]++;
        }
        assert_int_equal(count[0], XLM_SAMPLER_RUN / 2);
        assert_int_equal(count[1], XLM_SAMPLER_RUN / 2);
        xlm_sampler_free(s);
        xlm_sampler_free(later_first);
    }
}

/* Draws depend only on seed, stream and place, not on earlier draws. */
static void orders(void **state)
{
    (void)state;
    const int64_t n = 1000;
    const double one = 1;
    xlm_sampler *a = xlm_sampler_new(1, &one, &n, &plain, 7, 0), *same = xlm_sampler_new(1, &one, &n, &plain, 7, 0);
    xlm_sampler *seed = xlm_sampler_new(1, &one, &n, &plain, 8, 0), *stream = xlm_sampler_new(1, &one, &n, &plain, 7, 1);
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
        cmocka_unit_test(sources_are_mixed), cmocka_unit_test(one_point_of_alpha), cmocka_unit_test(schedules),
        cmocka_unit_test(a_spell_of_whole_runs),
        cmocka_unit_test(draws_that_depend_on_the_step), cmocka_unit_test(orders),
    };
    g_autofree xlm_piecewise *one = always(1);
    plain.draws = one;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
