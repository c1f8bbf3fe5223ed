/* xlm-mpi: tests of how many instances each step reads. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <glib.h>

#include "stream/batch_sizes.h"

typedef struct list {
    int64_t points;
    xlm_piecewise_point point[5];
} list;

static xlm_piecewise *of(const list *l) { return xlm_piecewise_new(l->point, l->points); }

/* a b / c rounded to the nearest whole number, halves upwards; c > 0. */
static int64_t rounded(int64_t a, int64_t b, int64_t c)
{
    const int64_t twice = 2 * a * b + c;
    return twice / (2 * c) - (twice % (2 * c) < 0);
}

/* The definition, step by step. */
static int64_t expected_at(const list *l, int64_t step)
{
    const xlm_piecewise_point *p = l->point;
    if (step <= p->step)
        return (int64_t)p->value;
    for (int64_t i = 0; i + 1 < l->points; i++, p++)
        if (step < p[1].step)
            return (int64_t)p->value + rounded((int64_t)(p[1].value - p->value), step - p->step, p[1].step - p->step);
    return (int64_t)p->value;
}

static void sums_agree_with_steps(void **state)
{
    (void)state;
    static const list lists[] = {
        {1, {{0, 7}}},
        {1, {{5, 3}}},
        {2, {{0, 0}, {4, 2}}},                               /* 0 1 1 2 2: halves upwards */
        {2, {{0, 2}, {4, 0}}},                               /* 2 2 1 1 0 */
        {3, {{0, 0}, {20, 0}, {40, 64}}},
        {4, {{0, 256}, {30, 128}, {60, 0}, {61, 5}}},
        {5, {{3, 5}, {10, 5}, {11, 0}, {25, 0}, {32, 3}}},
        {3, {{7, 1}, {90, 2}, {97, 1000}}},
        {3, {{0, 9}, {1, 0}, {2, 9}}},
        {3, {{2, 0}, {33, 1}, {50, 0}}},                     /* less than one instance in most steps */
    };
    for (size_t n = 0; n < G_N_ELEMENTS(lists); n++) {
        g_autofree xlm_piecewise *sizes = of(&lists[n]);
        int64_t before = 0, largest = 0;
        for (int64_t step = 0; step < 120; step++) {
            const int64_t size = expected_at(&lists[n], step);
            assert_int_equal(xlm_batch_size_at(sizes, step), size);
            assert_int_equal(xlm_batch_sizes_before(sizes, step), before);
            for (int64_t k = before; k < before + size; k++)
                assert_int_equal(xlm_batch_sizes_step_of(sizes, k), step);
            before += size;
            largest = MAX(largest, size);
        }
        assert_int_equal(xlm_batch_sizes_largest(sizes), largest);
    }
}

static void halves_are_rounded_upwards(void **state)
{
    (void)state;
    static const int64_t rising[] = {0, 1, 1, 2, 2}, falling[] = {2, 2, 1, 1, 0};
    g_autofree xlm_piecewise *up = of(&(list){2, {{0, 0}, {4, 2}}}), *down = of(&(list){2, {{0, 2}, {4, 0}}});
    for (int64_t step = 0; step < 5; step++) {
        assert_int_equal(xlm_batch_size_at(up, step), rising[step]);
        assert_int_equal(xlm_batch_size_at(down, step), falling[step]);
    }
}

/* Nothing is added up step by step, and no product is too large. */
static void long_lists(void **state)
{
    (void)state;
    const int64_t steps = INT64_C(1000000000000), most = 1 << 20;
    g_autofree xlm_piecewise *rising = of(&(list){2, {{0, 0}, {steps, (double)most}}});
    g_autofree xlm_piecewise *falling = of(&(list){2, {{0, (double)most}, {steps, 0}}});
    assert_int_equal(xlm_batch_size_at(rising, steps / 2), most / 2);
    assert_int_equal(xlm_batch_size_at(rising, steps), most);
    /* Numbers at t and at L - t add up to the whole, but for halves. */
    const int64_t all = xlm_batch_sizes_before(rising, steps), other = xlm_batch_sizes_before(falling, steps);
    assert_in_range(all, (steps / 2 - 1) * most, steps / 2 * most);
    assert_in_range(all + other, (steps - 1) * most, (steps + 1) * most);
    const int64_t step = xlm_batch_sizes_step_of(rising, all / 4);
    assert_in_range(step, steps / 2 - steps / 1000, steps / 2 + steps / 1000);
    assert_true(xlm_batch_sizes_before(rising, step) <= all / 4 && all / 4 < xlm_batch_sizes_before(rising, step + 1));
}

/* A step that never comes and a batch of many millions: the sum is cut off, and stays above that of any earlier step. */
static void sums_that_are_too_large(void **state)
{
    (void)state;
    const int64_t never = INT64_C(1000000000000), most = 1 << 24;
    g_autofree xlm_piecewise *constant = of(&(list){1, {{0, (double)most}}});
    g_autofree xlm_piecewise *rising = of(&(list){3, {{never / 2, 1}, {never - 1, (double)most}, {never, 3}}});
    assert_int_equal(xlm_batch_sizes_before(constant, 1000), 1000 * most);
    assert_int_equal(xlm_batch_sizes_before(constant, never), INT64_MAX / 4);
    assert_int_equal(xlm_batch_sizes_step_of(constant, 1000 * most + 5), 1000);
    assert_int_equal(xlm_batch_sizes_before(rising, never), INT64_MAX / 4);
    assert_int_equal(xlm_batch_sizes_before(rising, 7), 7);
    assert_int_equal(xlm_batch_sizes_step_of(rising, 7), 7);
}

/* After the last instance there is the last step of the list. */
static void streams_that_end(void **state)
{
    (void)state;
    g_autofree xlm_piecewise *sizes = of(&(list){3, {{0, 4}, {9, 4}, {10, 0}}});
    assert_int_equal(xlm_batch_sizes_before(sizes, 1000), 40);
    assert_int_equal(xlm_batch_sizes_step_of(sizes, 39), 9);
    assert_int_equal(xlm_batch_sizes_step_of(sizes, 40), 10);
    assert_int_equal(xlm_batch_sizes_step_of(sizes, 4000), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_agree_with_steps), cmocka_unit_test(halves_are_rounded_upwards), cmocka_unit_test(long_lists),
        cmocka_unit_test(sums_that_are_too_large), cmocka_unit_test(streams_that_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
