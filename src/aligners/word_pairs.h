/* xlm-mpi: pairs of words that occur in a sentence pair. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A source word e and a target word f that occur together in at least one sentence pair have a number, which is the index of
 * translation tables. For each sentence pair of n and m words, the cells [m x n] have the number of the pair of target word j and
 * source word i. */
#ifndef XLM_ALIGNERS_WORD_PAIRS_H
#define XLM_ALIGNERS_WORD_PAIRS_H

#include "aligners/bitext.h"
#include "files/large_array.h"

typedef struct xlm_word_pairs {
    int64_t n;          /* different pairs of words */
    int64_t *rows;      /* [source types + 1] pairs of source word e are rows[e] … rows[e + 1] */
    int32_t *targets;   /* [n] the target word of each */
    int64_t *offsets;   /* [sentence pairs + 1] where the cells of each begin */
    xlm_large_array cells; /* uint32_t [offsets[sentence pairs]] */
} xlm_word_pairs;

/* For this rank's text, with OpenMP threads. scratch: a directory for the cells if they would take more than `memory` bytes.
 * EX_UNAVAILABLE when there are more than 2^32 pairs; EX_OSERR, EX_CANTCREAT, EX_IOERR. Not collective. xlm_word_pairs_free. */
bool xlm_word_pairs_make(xlm_word_pairs *pairs, const xlm_bitext *bitext, int64_t memory, const char *scratch, GError **error);
void xlm_word_pairs_free(xlm_word_pairs *pairs); /* an empty one is allowed */

static inline const uint32_t *xlm_word_pairs_cells(const xlm_word_pairs *pairs, int64_t sentence)
{
    return (const uint32_t *)pairs->cells.data + pairs->offsets[sentence];
}

#endif
