/* xlm-mpi: which tokens masking chooses. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   tokens     each token independently, with probability `mask`. If no token of a sequence is chosen, the one with the smallest
 *              draw is taken, so that no sequence is encoded for nothing (Devlin et al. 2019)
 *   fragment   in each sentence of N tokens, m = round(mask · N) consecutive ones (MASS, Song et al. 2019): with probability 0.2
 *              its first ones, with probability 0.2 its last ones, otherwise from a start drawn uniformly. With span = K, they are
 *              m / K spans of K tokens and one of the remaining m mod K, in a random order and at random places; the first of
 *              them begins the sentence with probability 0.2, the last one ends it with probability 0.2. In sentences of fewer
 *              than 5 tokens nothing is chosen. Halves are rounded to the even number
 *
 * A selection is a function in this file's table. All of its draws are those of the tokens, of which it may use words 0 and 3. */
#ifndef XLM_STREAM_SELECTION_H
#define XLM_STREAM_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

/* In the order of XLM_SELECTION_NAMES. */
enum { XLM_SELECT_TOKENS, XLM_SELECT_FRAGMENT };
#define XLM_SELECTION_NAMES "tokens|fragment"

enum { XLM_FRAGMENT_MIN_TOKENS = 5 }; /* of a sentence */

/* The tokens of a sequence that can be chosen, which are those that are not special. */
typedef struct xlm_candidates {
    int32_t n;
    const xlm_rng_block *chance; /* [n] their draws */
    int32_t sentences;
    const int32_t *ends;         /* [sentences] sentence k has tokens [ends[k-1], ends[k]) */
} xlm_candidates;

typedef struct xlm_selection {
    int64_t how;  /* XLM_SELECT_... */
    double share; /* key `mask`, above 0 */
    int64_t span; /* K; 0: the fragment is one span */
} xlm_selection;

/* [in, out] chosen: [n], false before */
void xlm_select(const xlm_selection *selection, const xlm_candidates *candidates, bool *chosen);
/* Number of tokens chosen from that many instances and tokens, `deviations` standard deviations above the mean. */
int64_t xlm_select_max(const xlm_selection *selection, int64_t instances, int64_t tokens, double deviations);

#endif
