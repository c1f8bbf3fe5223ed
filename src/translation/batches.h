/* xlm-mpi: sentences in batches of similar length. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TRANSLATION_BATCHES_H
#define XLM_TRANSLATION_BATCHES_H

#include <glib.h>
#include <stdint.h>

/* Sentences sorted by length, the longest first, and cut into batches; none is padded. */
typedef struct xlm_sentence_batches {
    int64_t sentences, batches;
    int64_t *sentence; /* [sentences] their numbers */
    int64_t *first;    /* [batches + 1] batch b has sentence[first[b]] to sentence[first[b + 1] − 1] */
    int64_t *cost;     /* [batches] of all its sentences */
} xlm_sentence_batches;

/* cost: [n] tokens that each sentence counts for; 0: it is in no batch. A batch has at most `most` of them, unless one sentence has
 * more. For several ranks, which take one batch after the other (comm/turns.h), the last ones are smaller, down to a quarter, so
 * that all ranks end at about the same time; and none is more than a rank's share. */
void xlm_sentence_batches_make(int64_t n, const int64_t *cost, int64_t most, int ranks, xlm_sentence_batches *batches);
void xlm_sentence_batches_clear(xlm_sentence_batches *batches);

#endif
