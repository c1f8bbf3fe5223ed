/* xlm-mpi: one vocabulary for several files that have the same subwords. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_SUBWORDS_VOCABULARY_JOIN_H
#define XLM_SUBWORDS_VOCABULARY_JOIN_H

#include "subwords/vocabulary.h"

/* Are words found in the same way, and in the same case? Otherwise EX_DATAERR with the difference, such as "its words are found
 * by `icu`, there by `space`"; the caller puts the files before it and the remedy after it. */
bool xlm_vocabulary_same_word_form(const xlm_vocabulary *vocabulary, const xlm_vocabulary *other, GError **error);

/* Are ids the same subwords and special tokens in both, and is text cut into them alike? Counts and languages may differ, as in a
 * corpus that xlm_prep --like has made. Otherwise EX_DATAERR with the difference, as above. */
bool xlm_vocabulary_same_subwords(const xlm_vocabulary *vocabulary, const xlm_vocabulary *other, GError **error);

/* The vocabulary of the texts of `first` and `other` together, which is that of a corpus made of both (xlm_prep --like): the same
 * subwords, ids and segmenter, the sum of the counts, and the languages of `first`, then those that only `other` has. Special
 * tokens, subwords in their order, twins and segmenter must be the same, and languages of both must be made in the same way, or
 * not be synthetic. Otherwise NULL and EX_DATAERR with the difference, as above, of `other` from `first`. */
xlm_vocabulary *xlm_vocabulary_join(const xlm_vocabulary *first, const xlm_vocabulary *other, GError **error);

#endif
