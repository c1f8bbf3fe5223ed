/* xlm-mpi: a small batch of pairs, with a dictionary and a table of co-occurrences, for checks of objectives.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_LOSS_CHECK_BATCH_H
#define XLM_OBJECTIVE_LOSS_CHECK_BATCH_H

#include <xlm/loss.h>

enum { XLM_CHECK_VOCABULARY = 24, XLM_CHECK_LANGUAGES = 2, XLM_CHECK_POSITIONS = 8, XLM_CHECK_SEQUENCES = 4 };

/* All of these are static: the same memory at every call. */
const xlm_batch *xlm_check_batch(void);
const xlm_dictionary *xlm_check_dictionary(void);
const xlm_cooccurrence_table *xlm_check_cooccurrence(void);

#endif
