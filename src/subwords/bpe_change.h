/* xlm-mpi: vocabularies of BPE with fewer and more merges. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Of two kinds. Ours takes apart again what the vocabulary does not have (bpe/bpe.h): all merges can stay, and a new word needs
 * no subword for what is made on the way to it. XLM's takes nothing apart: merges stay that are on the way to a subword that
 * stays, and all that is made on the way to a new word is a subword too. */
#ifndef XLM_SUBWORDS_BPE_CHANGE_H
#define XLM_SUBWORDS_BPE_CHANGE_H

#include "bpe/codes.h"

/* The same codes in their order; keep: [codes] 0 for those that are left out, NULL for none. xlm_bpe_free. */
xlm_bpe *bpe_copy(const xlm_bpe *bpe, const uint8_t *keep);
/* The symbols that a word is merged into: "lo", "west</w>". g_strfreev. */
char **bpe_symbols(const xlm_bpe *bpe, const char *word);

/* ---- of XLM, whose subwords are written as symbols are ---- */

/* reduce and enlarge of the class (subwords/segmenter.h). */
xlm_bpe *bpe_strict_reduce(const xlm_bpe *bpe, const xlm_word_counts *subwords, xlm_word_counts *kept);
xlm_bpe *bpe_strict_enlarge(const xlm_bpe *bpe, const xlm_word_counts *subwords, const xlm_word_counts *wanted,
                         xlm_word_counts *added, GError **error);

#endif
