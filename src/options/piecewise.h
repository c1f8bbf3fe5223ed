/* xlm-mpi: a number that is piecewise linear in the step. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * It is read and printed like any option (options/options.h), and evaluated with xlm_piecewise_at (xlm/options.h). */
#ifndef XLM_OPTIONS_PIECEWISE_H
#define XLM_OPTIONS_PIECEWISE_H

#include <xlm/options.h>

typedef struct xlm_piecewise_point {
    int64_t step;
    double value;
} xlm_piecewise_point;

/* One block of memory, for g_free. */
struct xlm_piecewise {
    int64_t points; /* at least 1 */
    xlm_piecewise_point point[]; /* steps ascending, none twice */
};

/* A copy of points whose steps ascend. g_free. */
xlm_piecewise *xlm_piecewise_new(const xlm_piecewise_point *point, int64_t points);

/* Is there only one point, so that the number is the same at all steps? */
bool xlm_piecewise_is_constant(const xlm_piecewise *numbers);

/* The first step from `begin` on, before `end`, at which the number is not 0; `end` if there is none. */
int64_t xlm_piecewise_first_nonzero(const xlm_piecewise *numbers, int64_t begin, int64_t end);

#endif
