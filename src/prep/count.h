/* xlm-mpi: word counts of all text, and the vocabulary that is made from them. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PREP_COUNT_H
#define XLM_PREP_COUNT_H

#include "prep/scan.h"
#include "subwords/vocabulary.h"

/* Find the sentences that are held out because others are: read all pairs, then call xlm_assignments_finish. Collective. */
bool xlm_prep_pairs(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                    GError **error);

/* The vocabulary that the options request, the same on every rank, from given files or from the words of the training text.
 * Collective. NULL on failure. */
xlm_vocabulary *xlm_prep_vocabulary(const xlm_comm *comm, const xlm_prep_options *options,
                                    const xlm_sentence_reader *reader, GError **error);

#endif
