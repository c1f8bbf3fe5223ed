/* xlm-mpi: what an objective declares of its own. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_DECLARATION_H
#define XLM_OBJECTIVE_DECLARATION_H

#include "objective/hosted.h"

/* Call the objective's `declare`, if it has one: its parameters "objectives/<name>/..." are added to `parameters`, its states to
 * those of the host, its views and metrics to itself. EX_CONFIG for a view that cannot be. */
bool xlm_declare(xlm_hosted *hosted, xlm_parameters *parameters, GError **error);

#endif
