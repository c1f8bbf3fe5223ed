/* xlm-mpi: which tokens masking chooses. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   token      each token independently, with probability `mask`. If no token of a sequence is chosen, the one with the smallest
 *              draw is, so that no sequence is encoded for nothing (Devlin et al. 2019)
 *   fragment   in each sentence of N tokens, m = round(mask · N) consecutive ones (MASS, Song et al. 2019): with probability 0.2
 *              its first ones, with probability 0.2 its last ones, otherwise from a start drawn uniformly. With span = K, they are
 *              m / K spans of K tokens and one of the remaining m mod K, in a random order and at random places; the first of
 *              them begins the sentence with probability 0.2, the last one ends it with probability 0.2. In sentences of fewer
 *              than 5 tokens nothing is chosen. Halves are rounded to the even number
 *   word       whole words, drawn one after another among those that are not chosen yet, until m tokens are chosen. m is mask · n
 *              for the n tokens of the sequence, rounded up or down by chance. If the last word has w tokens and only r < w are
 *              still to be chosen, it is chosen with probability r / w, so that the mean number of chosen tokens is mask · n
 *   span       the same with spans of words that begin at the word that was drawn (SpanBERT, Joshi et al. 2020):
 *              p(length) ∝ 0.8^length for at most 10 words
 *   ngram      the same with p(length) ∝ 1 / length for at most 3 words (ALBERT, Lan et al. 2020)
 *
 * A span ends before a word that is already chosen and before a special token, so it never crosses the end of a sentence. As with
 * tokens, if nothing would be chosen in a sequence, its first drawn word is. All words of a span are replaced in the same way,
 * which the draw of its first token decides.
 *
 * Each selection is a function in the table of selection.c. It draws only from the draws of the tokens, and of each only from
 * words 0 and 3. */
#ifndef XLM_STREAM_SELECTION_H
#define XLM_STREAM_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

/* In the order of XLM_SELECTION_NAMES. */
enum { XLM_SELECT_TOKENS, XLM_SELECT_WORDS, XLM_SELECT_SPANS, XLM_SELECT_NGRAMS, XLM_SELECT_FRAGMENT };
#define XLM_SELECTION_NAMES "token|word|span|ngram|fragment"

enum { XLM_FRAGMENT_MIN_TOKENS = 5 }; /* sentences with fewer have no fragment */

/* The position of a token among the candidates. */
enum { XLM_INSIDE_WORD, XLM_BEGINS_WORD, XLM_BEGINS_RUN /* begins a word, and comes after a special token */ };

/* The tokens of a sequence that can be chosen, which are those that are not special. */
typedef struct xlm_candidates {
    int32_t n;
    const xlm_rng_block *chance; /* [n] their draws */
    int32_t sentences;
    const int32_t *ends;         /* [sentences] sentence k has tokens [ends[k-1], ends[k]) */
    const uint8_t *position;     /* [n] XLM_INSIDE_WORD ...; only for a selection of words (xlm_selects_words) */
} xlm_candidates;

typedef struct xlm_selection {
    int64_t how;  /* XLM_SELECT_... */
    double share; /* key `mask`, above 0 */
    int64_t span; /* K; 0: the fragment is one span */
} xlm_selection;

/* Does the selection choose whole words, so that candidates must have a position? */
bool xlm_selects_words(const xlm_selection *selection);
/* Choose candidates. [in, out] leader: [n] all -1 before; then, for each chosen candidate, the candidate whose draw decides how
 * it is replaced: itself, or the first of its span. */
void xlm_select(const xlm_selection *selection, const xlm_candidates *candidates, int32_t *leader);
/* Number of tokens chosen from that many instances and tokens, `deviations` standard deviations above the mean. */
int64_t xlm_select_max(const xlm_selection *selection, int64_t instances, int64_t tokens, double deviations);

#endif
