/* xlm-mpi: the derivative of a function that is computed with rounding errors. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * D(h) = (f(h) − f(−h)) / 2h = f' + c₂h² + c₄h⁴ + …: of two neighbours (4 D(h/2) − D(h)) / 3 has no term in h², of two of those
 * (16 … − …) / 15 none in h⁴, and so on. Rounding of D grows as 1/h, and is carried along. */
#include "run/derivative.h"

#include <glib.h>
#include <math.h>
#include <stdbool.h>

enum { SIZES = 6 };

/* An extrapolation of D, and the bound of what rounding adds to it: twice the standard deviation. */
typedef struct estimate {
    double value, rounding;
} estimate;

double xlm_derivative_least_error(double h, double rounding)
{
    /* Of (4 D(h/2) − D(h)) / 3; all other extrapolations use shorter steps. */
    return (4 * 2 * rounding / (sqrt(2) * h / 2) + 2 * rounding / (sqrt(2) * h)) / 3;
}

/* D(h). */
static estimate difference(xlm_function *f, void *data, double h, double rounding)
{
    const double above = f(data, h), below = f(data, -h);
    return (estimate){(above - below) / (2 * h), 2 * rounding / (sqrt(2) * h)};
}

xlm_derivative xlm_derivative_at_zero(xlm_function *f, void *data, double h, double rounding, double expected, double close)
{
    const double shortest = ldexp(h, 1 - SIZES), near = close * fabs(expected);
    estimate last[SIZES], row[SIZES]; /* extrapolated 0, 1, 2, … times, the smallest step being h · 2 and h */
    estimate shown = {0};             /* by the shortest steps */
    xlm_derivative best = {.error = INFINITY};
    for (int i = 0; i < SIZES; i++, h /= 2) {
        row[0] = difference(f, data, h, rounding);
        double factor = 4;
        for (int order = 1; order <= i; order++, factor *= 4) {
            const estimate a = row[order - 1], b = last[order - 1];
            const double value = (factor * a.value - b.value) / (factor - 1);
            row[order] = (estimate){value, (factor * a.rounding + b.rounding) / (factor - 1)};
            const double error = fmax(2 * fmax(fabs(value - a.value), fabs(value - b.value)), row[order].rounding);
            if (error <= best.error)
                best = (xlm_derivative){row[order].value, error};
        }
        for (int order = 0; order <= i; order++)
            last[order] = row[order];
        shown = row[MIN(i, 1)];
        const bool met = best.error <= near && fabs(best.value - expected) <= near;
        const bool worse = xlm_derivative_least_error(h, rounding) > best.error; /* whatever shorter steps give */
        if (i >= 2 && i < SIZES - 2 && (met || worse)) {
            shown = difference(f, data, shortest, rounding);
            break;
        }
    }
    /* Where steps are longer than f is smooth, extrapolations can agree on something else than f'(0); the shortest steps show it,
     * as far as rounding lets them. */
    best.error = fmax(best.error, fabs(best.value - shown.value) - 2 * shown.rounding);
    return best;
}
