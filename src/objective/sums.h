/* xlm-mpi: sums that passes add their losses and metrics to. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_SUMS_H
#define XLM_OBJECTIVE_SUMS_H

#include <glib.h>

/* Sum and count; the metric's value is their quotient. */
typedef struct xlm_metric_sum {
    double sum, count;
} xlm_metric_sum;

/* Sums of all objectives of a job; the host knows which belong to which (objective/host.h). Sums of several passes are added in a
 * fixed order, so that the result has the same bits on any number of ranks. */
typedef struct xlm_sums {
    int means, metrics;
    double *mean;           /* [means] Σ mean · terms */
    xlm_metric_sum *metric; /* [metrics] */
} xlm_sums;

/* All 0. */
xlm_sums xlm_sums_new(int means, int metrics);
void xlm_sums_free(xlm_sums *sums);
void xlm_sums_clear(xlm_sums *sums);
/* to += from; both belong to the same job. */
void xlm_sums_add(xlm_sums *to, const xlm_sums *from);

/* The sums as an array of numbers, for the exchange between ranks: their number, and writing them to and reading them from
 * numbers[xlm_sums_numbers]. */
int xlm_sums_numbers(const xlm_sums *sums);
void xlm_sums_write(const xlm_sums *sums, double *numbers);
void xlm_sums_read(xlm_sums *sums, const double *numbers);

#endif
