/* xlm-mpi: gradients of hosted objectives against finite differences, in double precision.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_DIFFERENCES_H
#define XLM_OBJECTIVE_DIFFERENCES_H

#include <stdio.h>

#include "objective/host.h"

#ifndef XLM_DOUBLE
#error "differences need the double-precision build"
#endif

/* A pass that is computed repeatedly. All is borrowed. */
typedef struct xlm_differences {
    xlm_host *host;
    xlm_parameters *parameters;
    xlm_tape *tape;
    const xlm_pass_input *input; /* counted and labelled */
    uint64_t seed;
} xlm_differences;

/* Returns Σ_k loss of objective k, and adds its gradient to gradient[xlm_parameters_size], unless that is NULL. */
double xlm_differences_pass(const xlm_differences *d, double *gradient, const xlm_host_outputs *outputs);

/* Compare the gradient of every parameter with differences of fourth order. table: receives a row for each parameter, or NULL.
 * [out] largest: the largest absolute gradient; NULL: not wanted. EX_SOFTWARE: a gradient or the loss of a second pass differs, or
 * there are no terms. */
bool xlm_differences_check(const xlm_differences *d, FILE *table, double *largest, GError **error);

#endif
