/* xlm-mpi: vocabularies of BPE with fewer and more merges. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * There are two kinds. Our BPE splits again what the vocabulary does not have (bpe/bpe.h), so all merges can be kept, and the
 * intermediate results on the way to a new word need no subwords. XLM's BPE splits nothing: only merges on the way to a subword
 * that is kept are kept, and all intermediate results on the way to a new word become subwords too. */
#ifndef XLM_SUBWORDS_BPE_CHANGE_H
#define XLM_SUBWORDS_BPE_CHANGE_H

#include "bpe/codes.h"

/* xlm_segmenter_keep for the results of the codes with used[rank] = 1. */
void bpe_keep_results(const xlm_bpe *bpe, const uint8_t *used, const xlm_word_counts *subwords, xlm_word_counts *kept);
/* The symbols that merges make of a word: "lo", "west</w>". g_strfreev. */
char **bpe_symbols(const xlm_bpe *bpe, const char *word);

/* ---- of XLM, whose subwords are written as symbols are ---- */

/* reduce and enlarge of the class (subwords/segmenter.h). */
xlm_bpe *bpe_strict_reduce(const xlm_bpe *bpe, const xlm_word_counts *subwords, xlm_word_counts *kept);
xlm_bpe *bpe_strict_enlarge(const xlm_bpe *bpe, const xlm_word_counts *subwords, const xlm_word_counts *wanted,
                            xlm_word_counts *added, GError **error);

#endif
