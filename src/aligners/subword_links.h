/* xlm-mpi: links between words, and between their subwords. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Subwords are linked when their words are. Words are numbered from 0 in a sentence; word[i] is the word of its subword i. */
#ifndef XLM_ALIGNERS_SUBWORD_LINKS_H
#define XLM_ALIGNERS_SUBWORD_LINKS_H

#include "aligners/links.h"
#include "subwords/vocabulary.h"

/* [in] ids: [n] subwords of a sentence, without special tokens. [out] word: [n] the word of each. Returns the number of words.
 * The words are those between which xlm_vocabulary_decode() puts spaces. */
int32_t xlm_subword_words(const xlm_vocabulary *vocabulary, const int32_t *ids, int64_t n, int32_t *word);

/* Append to links (xlm_link) the links between subwords that follow from n links between words, which are in the order of
 * xlm_links_sort(); so are the appended ones, each once. scores: [n] of the words' links, or NULL. source_word: [sources],
 * target_word: [targets], ascending. link_scores: float, gets for each link the score of its words; NULL without scores. */
void xlm_subword_links(const xlm_link *words, const float *scores, int64_t n, const int32_t *source_word, int64_t sources,
                       const int32_t *target_word, int64_t targets, GArray *links, GArray *link_scores);

#endif
