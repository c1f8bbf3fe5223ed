/* xlm-mpi: the subwords of a vocabulary that a language uses. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PREP_USED_SUBWORDS_H
#define XLM_PREP_USED_SUBWORDS_H

#include "prep/scan.h"
#include "subwords/segmenter.h"

/* The subwords of all text of a language: monolingual and parallel, training and held-out. A synthetic language needs twins of
 * only these. Reads all that text once more; collective. Returns [subwords] 1 or 0, by number, the same on every rank; g_free.
 * NULL on failure: errors of reading. */
int64_t *xlm_prep_used_subwords(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                                int language, const xlm_segmenter *segmenter, const xlm_word_counts *subwords, GError **error);

#endif
