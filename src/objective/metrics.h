/* xlm-mpi: named metrics of objectives, besides their losses. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An objective declares a metric once (xlm_declare_metric) and adds to its sum and its count in a pass (xlm_loss_metric). The
 * caller of the pass provides the sums, which are added like those of the losses (objective/sums.h), micro-batch by micro-batch,
 * so that a metric has the same bits on any number of ranks. */
#ifndef XLM_OBJECTIVE_METRICS_H
#define XLM_OBJECTIVE_METRICS_H

#include <glib.h>
#include <xlm/loss.h>

#include "objective/sums.h"

/* The metrics of one objective. */
typedef struct xlm_metrics {
    const char *objective; /* its name, for messages */
    GPtrArray *names;
    GArray *of_training;   /* bool: held-out text never has it; as names */
    xlm_metric_sum *sums;  /* [names->len] that xlm_loss_metric adds to; NULL: not needed now */
} xlm_metrics;

/* objective is borrowed. */
xlm_metrics *xlm_metrics_new(const char *objective);
/* NULL is allowed. */
void xlm_metrics_free(xlm_metrics *metrics);

/* Declare a metric; of_training: one that held-out text never has. Ends the program unless the name consists of letters, digits
 * and "_-.", is not "weight", and is new. */
void xlm_metrics_add(xlm_metrics *metrics, const char *name, bool of_training);
/* The number of a metric; -1: it was not declared. */
int xlm_metrics_find(const xlm_metrics *metrics, const char *name);

#endif
