/* xlm-mpi: how many instances of a stream each step reads. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/batch_sizes.h"

#include <glib.h>

/* The steps from one point of a list to before the next one, in which the number rises or falls by `change` in all. */
typedef struct slope {
    int64_t first, steps; /* steps >= 1 */
    int64_t from, change; /* change >= 0 */
    bool rises;
} slope;

/* Sums stop rising here: no run reads so many instances, but a step that never comes may be 10^12 and a batch many millions. */
#define MOST (INT64_MAX / 4)

static int64_t whole(const xlm_piecewise_point *point) { return (int64_t)point->value; }

static slope slope_at(const xlm_piecewise *sizes, int64_t i)
{
    const xlm_piecewise_point *p = &sizes->point[i];
    const int64_t from = whole(p), to = whole(p + 1);
    return (slope){.first = p->step, .steps = p[1].step - p->step, .from = from, .change = ABS(to - from), .rises = to > from};
}

/* After how many steps the rounded number has changed by k, from 1 to the whole change c in L steps: the first t with
 * t c / L >= k − 1/2 where it rises, > where it falls. L is divided by 2 c first, so that no product is too large. */
static int64_t steps_to_change(const slope *s, int64_t k)
{
    const int64_t odd = 2 * k - 1, parts = 2 * s->change;
    return odd * (s->steps / parts) + (odd * (s->steps % parts) + parts - s->rises) / parts;
}

/* By how much the number has changed after so many steps. */
static int64_t change_after(const slope *s, int64_t steps)
{
    int64_t least = 0, most = s->change;
    while (least < most) {
        const int64_t k = least + (most - least + 1) / 2;
        if (steps_to_change(s, k) <= steps)
            least = k;
        else
            most = k - 1;
    }
    return least;
}

/* The sum over n >= 0 steps of one number. */
static int64_t times(int64_t n, int64_t number) { return number > 0 && n > MOST / number ? MOST : n * number; }

/* Of the first n steps. */
static int64_t sum_of(const slope *s, int64_t n)
{
    int64_t change = 0;
    if (times(n, s->from + s->change) == MOST)
        return MOST;
    for (int64_t k = n > 0 ? change_after(s, n - 1) : 0; k > 0; k--)
        change += n - steps_to_change(s, k);
    return n * s->from + (s->rises ? change : -change);
}

int64_t xlm_batch_size_at(const xlm_piecewise *sizes, int64_t step)
{
    const xlm_piecewise_point *p = sizes->point;
    if (step <= p->step)
        return whole(p);
    for (int64_t i = 0; i + 1 < sizes->points; i++)
        if (step < p[i + 1].step) {
            const slope s = slope_at(sizes, i);
            const int64_t change = change_after(&s, step - s.first);
            return s.from + (s.rises ? change : -change);
        }
    return whole(p + sizes->points - 1);
}

int64_t xlm_batch_sizes_before(const xlm_piecewise *sizes, int64_t step)
{
    const xlm_piecewise_point *p = sizes->point, *last = p + sizes->points - 1;
    int64_t sum = times(MIN(step, p->step), whole(p));
    for (int64_t i = 0; i + 1 < sizes->points && p[i].step < step; i++) {
        const slope s = slope_at(sizes, i);
        sum = MIN(sum + sum_of(&s, MIN(step - s.first, s.steps)), MOST);
    }
    return MIN(sum + times(MAX(step - last->step, 0), whole(last)), MOST);
}

/* The step that instance k of a slope is read in. */
static int64_t step_in(const slope *s, int64_t k)
{
    int64_t least = 0, most = s->steps - 1;
    while (least < most) {
        const int64_t middle = least + (most - least) / 2;
        if (sum_of(s, middle + 1) > k)
            most = middle;
        else
            least = middle + 1;
    }
    return s->first + least;
}

int64_t xlm_batch_sizes_step_of(const xlm_piecewise *sizes, int64_t k)
{
    const xlm_piecewise_point *p = sizes->point, *last = p + sizes->points - 1;
    int64_t before = times(p->step, whole(p));
    if (k < before)
        return k / whole(p);
    for (int64_t i = 0; i + 1 < sizes->points; i++) {
        const slope s = slope_at(sizes, i);
        const int64_t n = sum_of(&s, s.steps);
        if (k < before + n)
            return step_in(&s, k - before);
        before = MIN(before + n, MOST);
    }
    return last->step + (whole(last) > 0 ? (k - before) / whole(last) : 0);
}

int64_t xlm_batch_sizes_largest(const xlm_piecewise *sizes)
{
    int64_t largest = 0;
    for (int64_t i = 0; i < sizes->points; i++)
        largest = MAX(largest, whole(&sizes->point[i]));
    return largest;
}
