/* xlm-mpi: gradients of hosted objectives against differences, in double precision. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_DIFFERENCES_H
#define XLM_OBJECTIVE_DIFFERENCES_H

#include <stdio.h>

#include "objective/host.h"

#ifndef XLM_DOUBLE
#error "differences need the double-precision build"
#endif

/* What is computed repeatedly. */
typedef struct xlm_differences {
    xlm_host *host;
    xlm_parameters *parameters;
    xlm_tape *tape;
    const xlm_pass_input *input; /* counted and labelled */
    uint64_t seed;
} xlm_differences;

/* Computes Σ_k loss of objective k, and its gradient into gradient[all parameters] unless that is NULL. */
double xlm_differences_pass(const xlm_differences *d, double *gradient, const xlm_host_outputs *outputs);

/* Compare the gradient of every parameter with differences of fourth order. table: a row for each, or NULL. [out] largest: of all
 * gradients; NULL: not wanted. EX_SOFTWARE: one differs, two passes differ, or there are no terms. */
bool xlm_differences_check(const xlm_differences *d, FILE *table, double *largest, GError **error);

#endif
