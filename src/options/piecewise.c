/* xlm-mpi: a number that is piecewise linear in the step. SPDX-License-Identifier: GPL-3.0-or-later */
#include "options/piecewise.h"

#include <glib.h>
#include <string.h>

xlm_piecewise *xlm_piecewise_new(const xlm_piecewise_point *point, int64_t points)
{
    const size_t bytes = sizeof *point * (size_t)points;
    xlm_piecewise *numbers = g_malloc(sizeof *numbers + bytes);
    numbers->points = points;
    memcpy(numbers->point, point, bytes);
    return numbers;
}

bool xlm_piecewise_is_constant(const xlm_piecewise *numbers) { return numbers->points == 1; }

double xlm_piecewise_at(const xlm_piecewise *numbers, int64_t step)
{
    const xlm_piecewise_point *p = numbers->point, *last = p + numbers->points - 1;
    if (step <= p->step)
        return p->value;
    while (p < last && p[1].step <= step)
        p++;
    if (p == last)
        return last->value;
    return p->value + (p[1].value - p->value) * ((double)(step - p->step) / (double)(p[1].step - p->step));
}

/* Between two points the number is 0 at one step at most, or at all. So the first step at which it is not 0 is `begin`, a point,
 * or the step after one of these. */
int64_t xlm_piecewise_first_nonzero(const xlm_piecewise *numbers, int64_t begin, int64_t end)
{
    for (int64_t i = -1; i < numbers->points; i++) {
        const int64_t from = i < 0 ? begin : MAX(begin, numbers->point[i].step);
        for (int64_t step = from; step <= from + 1 && step < end; step++)
            if (xlm_piecewise_at(numbers, step) != 0)
                return step;
    }
    return end;
}
