/* xlm-mpi: the declarations of an objective. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_DECLARATION_H
#define XLM_OBJECTIVE_DECLARATION_H

#include "objective/hosted.h"

/* Call the objective's `declare`, if it has one: its parameters "objectives/<name>/..." are added to `parameters`, its states and
 * its average to those of the host, everything else to `hosted`. EX_CONFIG if a view cannot be encoded, or a declaration lacks
 * what it needs. */
bool xlm_declare(xlm_hosted *hosted, xlm_parameters *parameters, GError **error);

#endif
