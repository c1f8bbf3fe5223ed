/* xlm-mpi: n-grams that a sentence shares with others. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The symbols are numbers of words, or characters. The n-grams of a hypothesis, of orders 1 ... N, are counted first, then those of
 * references:
 *
 *   xlm_ngrams_begin -> { xlm_ngrams_see ... -> xlm_ngrams_matches -> xlm_ngrams_forget } ... */
#ifndef XLM_TRANSLATION_SCORES_NGRAMS_H
#define XLM_TRANSLATION_SCORES_NGRAMS_H

#include <stdint.h>

typedef struct xlm_ngrams xlm_ngrams;

xlm_ngrams *xlm_ngrams_new(int orders);
void xlm_ngrams_free(xlm_ngrams *ngrams);

/* Count the n-grams of a hypothesis, symbols[size], instead of the one before. */
void xlm_ngrams_begin(xlm_ngrams *ngrams, const uint32_t *symbols, int64_t size);
/* Count those of a reference. */
void xlm_ngrams_see(xlm_ngrams *ngrams, const uint32_t *symbols, int64_t size);
/* Add to matches[orders], for each order, the sum over its n-grams g of min(count of g in the hypothesis, largest count of g in
 * a reference that was seen). */
void xlm_ngrams_matches(const xlm_ngrams *ngrams, int64_t *matches);
/* Forget all references. */
void xlm_ngrams_forget(xlm_ngrams *ngrams);

/* How many n-grams of order n a sequence has. */
static inline int64_t xlm_ngrams_of(int64_t size, int n) { return size >= n ? size - n + 1 : 0; }

#endif
