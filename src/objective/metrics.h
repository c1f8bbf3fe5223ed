/* xlm-mpi: named metrics of objectives, beside their losses. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An objective declares a metric once (xlm_declare_metric) and adds to its sum and its count in a pass (xlm_loss_metric). Whoever
 * runs the pass says where: into sums that are added as those of the losses are (objective/sums.h), micro-batch by micro-batch, so
 * that a metric has the same bits on any number of ranks. */
#ifndef XLM_OBJECTIVE_METRICS_H
#define XLM_OBJECTIVE_METRICS_H

#include <glib.h>
#include <xlm/loss.h>

#include "objective/sums.h"

/* Those of one objective. */
typedef struct xlm_metrics {
    const char *objective; /* its name, for messages */
    GPtrArray *names;
    xlm_metric_sum *sums;  /* [names->len] that xlm_loss_metric adds to; NULL: nobody asks now */
} xlm_metrics;

/* objective is borrowed. */
xlm_metrics *xlm_metrics_new(const char *objective);
/* NULL is allowed. */
void xlm_metrics_free(xlm_metrics *metrics);

/* Declare one. Names are of letters, digits and "_-.", each once; others end the program. */
void xlm_metrics_add(xlm_metrics *metrics, const char *name);
/* Its number; -1: it was not declared. */
int xlm_metrics_find(const xlm_metrics *metrics, const char *name);

#endif
