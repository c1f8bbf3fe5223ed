/* xlm-mpi: what an objective declares of its own. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_DECLARATION_H
#define XLM_OBJECTIVE_DECLARATION_H

#include <glib.h>
#include <xlm/loss.h>

#include "tensor/parameters.h"

/* Call the objective's `declare`, if it has one: parameters "objectives/<name>/..." are added to `parameters`, its states
 * to `kept` (an array of xlm_saved_state), its metrics to loss->metrics, if that is not NULL. */
void xlm_declare(xlm_loss *loss, xlm_parameters *parameters, GArray *kept);

#endif
