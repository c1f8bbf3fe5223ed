/* xlm-mpi: the weight of an objective's loss, and the steps that it takes part in. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_LOSS_WEIGHT_H
#define XLM_OBJECTIVE_LOSS_WEIGHT_H

#include <xlm/options.h>

typedef struct xlm_loss_weight {
    xlm_piecewise *numbers; /* NULL: 1 */
    int64_t begin;          /* first step that the objective takes part in */
} xlm_loss_weight;

/* Does the weight depend on the step? */
bool xlm_loss_weight_changes(const xlm_loss_weight *weight);
/* The factor of the loss in the sum. step: number of updates made before. */
double xlm_loss_weight_at(const xlm_loss_weight *weight, int64_t step);
/* Does the objective take part in a step? Nothing of it is computed, reported or evaluated in the others: those before `begin`,
 * and those where a weight that changes is 0. With a constant weight of 0 it takes part in every step, so that a loss can be
 * observed without learning from it. */
bool xlm_loss_weight_takes_part(const xlm_loss_weight *weight, int64_t step);
/* The first step that it takes part in; `steps` if it takes part in none of the steps 0 … steps − 1. */
int64_t xlm_loss_weight_first_step(const xlm_loss_weight *weight, int64_t steps);

#endif
