/* xlm-mpi: sets of 64-bit numbers, ascending. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A set is a GArray of uint64_t in ascending order without duplicates. */
#ifndef XLM_PREP_ASCENDING_H
#define XLM_PREP_ASCENDING_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "comm/comm.h"

/* Make a set of numbers in any order. */
void xlm_ascending_sort(GArray *numbers);
bool xlm_ascending_contains(const GArray *set, uint64_t number);
/* Add to a set, which all ranks have alike, the numbers that each of them has found, in any order; `found` is emptied.
 * Collective. */
void xlm_ascending_unite(GArray *set, GArray *found, const xlm_comm *comm);

#endif
