/* xlm-mpi: the split of a corpus with text added to it (xlm_prep --append). SPDX-License-Identifier: GPL-3.0-or-later
 *
 * New pairs can hold out sentences that the old corpus has in its training text: those that they give as translations of a drawn
 * sentence, and then their translations, in old or new pairs, are in neither split (prep/split.h). The sentences of the old
 * corpus are known by decoding them, except those with an unknown subword, which are taken for others. Its held-out sentences stay
 * as they are. Sentences of its training text that are no longer for training are not copied, so that training still sees no
 * held-out sentence and no translation of one. All functions are collective. */
#ifndef XLM_PREP_APPEND_SPLIT_H
#define XLM_PREP_APPEND_SPLIT_H

#include "prep/appended.h"
#include "prep/scan.h"

/* Add the digests of the old corpus's pairs, before xlm_assignments_finish. Errors of reading. */
bool xlm_prep_append_pairs(const xlm_comm *comm, const xlm_appended *append, const xlm_sentence_reader *reader, GError **error);

/* After xlm_assignments_finish: set append->dropped and append->dropped_counts, the same on all ranks. Errors of reading. */
bool xlm_prep_find_dropped(const xlm_comm *comm, xlm_appended *append, const xlm_sentence_reader *reader, GError **error);

#endif
