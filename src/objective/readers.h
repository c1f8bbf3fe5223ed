/* xlm-mpi: the kinds of files that objectives can request. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_READERS_H
#define XLM_OBJECTIVE_READERS_H

#include <xlm/dictionary.h>

#include "objective/resources.h"
#include "store/store.h"

/* All readers, NULL-terminated. */
extern const xlm_resource_reader *const xlm_resource_readers[];

/* For step dumps: a dictionary as a dataset [n x 2] of its pairs, with attributes first and second, its language ids. */
bool xlm_dictionary_write_pairs(xlm_store *store, const char *dataset, const xlm_dictionary *dictionary, GError **error);

#endif
