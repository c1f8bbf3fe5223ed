/* xlm-mpi: the derivative of a function that is computed with rounding errors. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_RUN_DERIVATIVE_H
#define XLM_RUN_DERIVATIVE_H

/* f at distance h from the point of interest. */
typedef double xlm_function(void *data, double h);

typedef struct xlm_derivative {
    double value;
    double error; /* estimated: the largest of twice the difference between two orders of extrapolation, the effect of rounding,
                     and the distance of the shortest steps */
} xlm_derivative;

/* f'(0) from central differences (f(h) − f(−h)) / 2h with h, h/2, h/4, …, extrapolated to 0 (Ridders 1982): the extrapolation
 * with the smallest estimated error, so that h may be as large as the range in which f is smooth. rounding: standard deviation of
 * the error of a value of f.
 *
 * f is called 12 times, or 8 to 10 where shorter steps would only be worse, because of rounding, and where the estimate has an
 * error of at most close · |expected| and is as near to `expected`; then, too, the shortest step counts. close = 0 looks for no
 * such agreement. */
xlm_derivative xlm_derivative_at_zero(xlm_function *f, void *data, double h, double rounding, double expected, double close);

/* What the error of this derivative is at least, because of rounding. */
double xlm_derivative_least_error(double h, double rounding);

#endif
