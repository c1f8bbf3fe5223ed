/* xlm-mpi: how long the steps to come will take. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How long a step takes depends on which objectives are trained in it: those that take part (objective/loss_weight.h) and whose
 * stream is read. So only steps since the last change of these are timed, and what they say holds until the next change: of the
 * steps after that, nothing is known before they come. */
#ifndef XLM_RUN_TIME_LEFT_H
#define XLM_RUN_TIME_LEFT_H

#include "job/job.h"

/* All zero before the first step. */
typedef struct xlm_time_left {
    int64_t until;  /* the first step that trains other objectives than those before it; the number of steps: none does */
    int64_t steps;  /* since the last change */
    double seconds; /* of these steps */
} xlm_time_left;

/* The first step after this one that trains other objectives than the step before it; train.steps if there is none. */
int64_t xlm_next_change(const xlm_job *job, int64_t step);

/* Count a step, numbered from 0, that took so many seconds. Steps come in order. */
void xlm_time_left_count(xlm_time_left *left, const xlm_job *job, int64_t step, double seconds);
/* For the log, after `step` of `steps` updates, of which at least one was counted: "1:52 left", or "0:40 left to step 1920" where
 * others are trained from that step on, and "? left" where others are from the next step on. g_free. */
char *xlm_time_left_text(const xlm_time_left *left, int64_t step, int64_t steps);

#endif
