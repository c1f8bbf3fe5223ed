/* xlm-mpi: dependents of nouns and verbs in the order of another language. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The permutation model of Wang and Eisner (2016), "The Galactic Dependencies Treebanks": a noun (NOUN,
 * PROPN, PRON) or verb (VERB) and its dependents, n items in all, get the order pi with the probability
 *
 *   p(pi) = exp(sum over features f of weight(f) x count of f in pi) / Z
 *
 * with the features of order_weights.h, counted three times over: items as tags, as relations, and as both; HI as both
 * only, rows with BOS and EOS as often as they fit, not longer than n. Nouns and verbs have weights of their own. A dependent
 * moves together with everything that depends on it, so the result is projective; other words keep their dependents where they
 * were, before or after them. Names are those of Universal Dependencies 1 (ud_version1.h); a subtype that the weights do not know
 * (compound:prt) counts as its relation.
 *
 * Up to XLM_PERMUTE_EXACT items an order is drawn with exactly this probability; the authors' program does so up to 7 items
 * and leaves out sentences with more. Above that orders are drawn by Gibbs sampling: XLM_PERMUTE_ROUNDS times each item is
 * taken out and put back at a place drawn from its n places, with scores that count little at first and in full in the second
 * half, so that the order that there was is forgotten. For 25 verbs and nouns of 8 items of English-EWT with the weights of
 * French, the distribution that this gives differs from the exact one by 0.0009 in total variation on average, 0.0097 at
 * most. Above XLM_PERMUTE_MAX items (lists, tables) the order stays. The authors' program mixes 5 % of the weights of the
 * language itself into those of the other; here the weights are those given and no more.
 *
 * Draws depend only on the seed, the number of the sentence in its file, and the word. */
#ifndef XLM_SYNTHETIC_PERMUTE_H
#define XLM_SYNTHETIC_PERMUTE_H

#include "formats/conllu.h"

enum { XLM_PERMUTE_EXACT = 9, XLM_PERMUTE_ROUNDS = 100, XLM_PERMUTE_MAX = 64 };

typedef struct xlm_permuter xlm_permuter;

/* Read the weights for nouns and for verbs. Errors: as xlm_order_weights_read. */
xlm_permuter *xlm_permuter_new(const char *nouns, const char *verbs, uint64_t seed, GError **error);
/* NULL is allowed. */
void xlm_permuter_free(xlm_permuter *permuter);

/* Order the words of a sentence that has a tree. [in] number: the sentence's. [in,out] order: indices of all words as
 * they are. */
void xlm_permuter_order(xlm_permuter *permuter, const xlm_conllu *tree, int64_t number, uint32_t *order);

#endif
