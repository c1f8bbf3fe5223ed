/* xlm-mpi: word counts of all text, and the vocabulary made of them. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PREP_COUNT_H
#define XLM_PREP_COUNT_H

#include "prep/scan.h"
#include "text/vocabulary.h"

/* Learn who is held out with whom: read all pairs, then xlm_fates_settle. Collective. */
bool xlm_prepare_pairs(const xlm_comm *comm, const xlm_prepare_options *options, const xlm_sentence_maker *maker,
                       GError **error);

/* The vocabulary that the options ask for, the same on every rank, from given files or from the words of the text to
 * train on. Collective. NULL on failure. */
xlm_vocabulary *xlm_prepare_vocabulary(const xlm_comm *comm, const xlm_prepare_options *options,
                                       const xlm_sentence_maker *maker, GError **error);

#endif
