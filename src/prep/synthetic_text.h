/* xlm-mpi: sentences of synthetic languages. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PREP_SYNTHETIC_TEXT_H
#define XLM_PREP_SYNTHETIC_TEXT_H

#include "prep/scan.h"

/* The order of words of one synthetic language. */
typedef struct xlm_word_order xlm_word_order;

/* language: borrowed. seed: for orders that are drawn. Errors: those of reading the weights of a syntax. */
xlm_word_order *xlm_word_order_new(const xlm_synthetic *language, uint64_t seed, GError **error);
/* NULL is allowed. */
void xlm_word_order_free(xlm_word_order *word_order);

/* Put the words of a sentence of the base into the order of the synthetic language. [in] words: [n] of sentence->text[0]. [out]
 * ordered: array of xlm_word, set to the same words. */
void xlm_word_order_apply(xlm_word_order *word_order, const xlm_sentence *sentence, const xlm_word *words, size_t n,
                          GArray *ordered);

/* The order of the words of a CoNLL-U sentence in the synthetic language. [in] number: of the sentence in its file. [out] order:
 * array of uint32_t, set to indices of words. */
void xlm_word_order_of_tree(xlm_word_order *word_order, const xlm_conllu *tree, int64_t number, GArray *order);

#endif
