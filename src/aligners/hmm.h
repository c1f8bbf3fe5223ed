/* xlm-mpi: hidden Markov model of word positions. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Vogel, Ney and Tillmann 1996; with empty words as in Och and Ney 2003. The words of one sentence, m of them, are each
 * emitted by a word of the other, n of them, at a position, or by the empty word, which keeps the position of the word
 * before:
 *     p(i' | i) = (1 - p0) c(i' - i) / Σ_k c(k - i)        to position i'; before the first word i is -1
 *     p(empty | i) = p0
 * An empty word in the first place keeps each position with probability 1 / n. */
#ifndef XLM_ALIGNERS_HMM_H
#define XLM_ALIGNERS_HMM_H

#include <stddef.h>

/* Maximum distance that is distinguished; longer ones count as this one. */
enum { XLM_HMM_FARTHEST = 512, XLM_HMM_JUMPS = 2 * XLM_HMM_FARTHEST + 1 };

typedef struct xlm_hmm {
    float p0;
    float jump[XLM_HMM_JUMPS]; /* c(d) at d + XLM_HMM_FARTHEST, > 0 */
} xlm_hmm;

/* Floats that xlm_hmm_posterior needs besides. */
size_t xlm_hmm_workspace(int n, int m);

/* Forward-backward algorithm. emission [m x n]: probability of word j at position i. by_empty [m]: the same for the empty word.
 * [out] posterior [m x n], empty [m]: for each j their sum is 1. jumps [2 n + 1]: expected number of jumps of distance d - n,
 * including that from before the first word; may be NULL. Probabilities below about 1e-5 of a word's whole are left out. */
void xlm_hmm_posterior(const xlm_hmm *hmm, int n, int m, const float *emission, const float *by_empty, float *posterior,
                       float *empty, float *jumps, float *workspace);

#endif
