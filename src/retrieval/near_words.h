/* xlm-mpi: the nearest neighbours of words, in their own language or another. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * By cos(x, y), and by CSLS(x, y) = 2 cos(x, y) − r(x) − r(y), r(x) the mean cosine of x with its k nearest candidates, r(y) that
 * of y with its k nearest among the rows of the word's side (Conneau et al. 2018; vectors/alignment.h). A word is not its own
 * neighbour in one space, whatever the languages are. */
#ifndef XLM_RETRIEVAL_NEAR_WORDS_H
#define XLM_RETRIEVAL_NEAR_WORDS_H

#include "comm/comm.h"
#include "vectors/word_space.h"

typedef struct xlm_near_words_input {
    const xlm_word_set *words;      /* n, whose neighbours are looked for */
    const xlm_word_set *candidates;
    GArray *sources; /* int32_t: rows of the words' space for r(y); NULL: all rows of words */
    int count;       /* neighbours of a word, at least 1 */
    int neighbours;  /* k; 0: by cosine alone */
} xlm_near_words_input;

/* By 0 cosine and 1 CSLS: [n x count] numbers of candidates, −1 after the last, and their scores. */
typedef struct xlm_near_words {
    int32_t *nearest[2]; /* NULL when it was not asked for */
    float *score[2];
} xlm_near_words;

/* Collective. The same on any number of ranks. xlm_near_words_free. Memory: as for xlm_alignment_nearest(), the vectors of the
 * candidates, and with CSLS those of the sources. CSLS is exact, although not all candidates are multiplied with all sources:
 * r(y) is computed only for the few candidates that can be among the best. */
xlm_near_words xlm_near_words_find(const xlm_comm *comm, const xlm_near_words_input *input);
void xlm_near_words_free(xlm_near_words *found);

#endif
