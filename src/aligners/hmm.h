/* xlm-mpi: hidden Markov model of word positions. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Vogel, Ney and Tillmann 1996; with empty words as in Och and Ney 2003. Each of the m words of one sentence is
 * emitted by one of the n words of the other, at position i, or by the empty word, which keeps the position of the previous
 * word:
 *     p(i' | i) = (1 - p0) c(i' - i) / Σ_k c(k - i)        to position i'; before the first word i is -1
 *     p(empty | i) = p0
 * If the first word is emitted by the empty word, each position has probability 1 / n. */
#ifndef XLM_ALIGNERS_HMM_H
#define XLM_ALIGNERS_HMM_H

#include <stddef.h>

/* The maximum distance; longer jumps count as this one. */
enum { XLM_HMM_FARTHEST = 512, XLM_HMM_JUMPS = 2 * XLM_HMM_FARTHEST + 1 };

typedef struct xlm_hmm {
    float p0;
    float jump[XLM_HMM_JUMPS]; /* c(d) at d + XLM_HMM_FARTHEST, > 0 */
} xlm_hmm;

/* The number of floats that the workspace of xlm_hmm_posterior has. */
size_t xlm_hmm_workspace(int n, int m);

/* Forward-backward algorithm. emission [m x n]: probability of word j at position i. by_empty [m]: the same of the empty word.
 * [out] posterior [m x n], empty [m]: for each j their sum is 1. jumps [2 n + 1]: expected number of jumps of distance d - n,
 * including that from before the first word; may be NULL. Probabilities below about 1e-5 of a word's total are left out. */
void xlm_hmm_posterior(const xlm_hmm *hmm, int n, int m, const float *emission, const float *by_empty, float *posterior,
                       float *empty, float *jumps, float *workspace);

#endif
