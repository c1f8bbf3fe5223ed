/* xlm-mpi: the weight of an objective's loss, and the steps that it takes part in. SPDX-License-Identifier: GPL-3.0-or-later */
#include "objective/loss_weight.h"

#include <glib.h>

#include "options/piecewise.h"

bool xlm_loss_weight_changes(const xlm_loss_weight *weight)
{
    return weight->numbers != NULL && !xlm_piecewise_is_constant(weight->numbers);
}

double xlm_loss_weight_at(const xlm_loss_weight *weight, int64_t step)
{
    return weight->numbers != NULL ? xlm_piecewise_at(weight->numbers, step) : 1;
}

bool xlm_loss_weight_takes_part(const xlm_loss_weight *weight, int64_t step)
{
    return step >= weight->begin && (!xlm_loss_weight_changes(weight) || xlm_loss_weight_at(weight, step) != 0);
}

int64_t xlm_loss_weight_first_step(const xlm_loss_weight *weight, int64_t steps)
{
    return xlm_loss_weight_changes(weight) ? xlm_piecewise_first_nonzero(weight->numbers, weight->begin, steps)
                                           : MIN(weight->begin, steps);
}
