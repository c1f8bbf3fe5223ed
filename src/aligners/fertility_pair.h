/* xlm-mpi: posteriors of a sentence pair by position and fertility. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In direction 0, source words explain target words; in 1 it is the other way round. Matrices of a direction are
 * [explained x explaining]. */
#ifndef XLM_ALIGNERS_FERTILITY_PAIR_H
#define XLM_ALIGNERS_FERTILITY_PAIR_H

#include "aligners/fertility_model.h"

/* Probable links by word: those of word w have the numbers first[w] … first[w + 1]. */
typedef struct xlm_word_links {
    int32_t *first;     /* [words + 1] */
    int32_t *other;     /* the word on the other side, ascending within a word */
    float *probability; /* above XLM_LINK_NEGLIGIBLE */
} xlm_word_links;

typedef struct xlm_fertility_pair {
    int size[2];              /* source words, target words */
    const int32_t *words[2];
    const uint32_t *cells;    /* [target x source] */
    uint16_t *own;            /* of the cells: what they have added to the counts, which is their agreed posterior */
    uint16_t *own_empty[2];   /* of target words; of source words */
    float *emission[2], *posterior[2];
    float *by_empty[2], *empty[2]; /* [explained] p(word | empty), posterior of the empty word */
    float *jumps[2];          /* [2 explaining + 1] expected number of jumps of d positions at d + explaining */
    xlm_word_links links[2];  /* of source words; of target words */
    float *weighted;          /* emission with fertility; before and after that, room for a matrix */
    float *own_row, *factor;  /* [explaining] */
    float *numbers;           /* [(words + 1) x XLM_LINK_NUMBERS] */
    float *hmm;
} xlm_fertility_pair;

/* Bytes for a pair of n source and m target words. */
size_t xlm_fertility_workspace(int n, int m);
/* A view of a sentence pair in memory of that size. */
xlm_fertility_pair xlm_fertility_pair_of(const xlm_alignment_run *run, int64_t sentence, void *memory);
/* posterior, empty; also jumps, if they are counted. In a run that began with a model, `own` changes. */
void xlm_fertility_find_posteriors(const xlm_alignment_run *run, xlm_fertility_pair *pair, bool count_jumps);
/* The posteriors of both directions combined, in `own`. */
void xlm_fertility_agree(const xlm_alignment_run *run, const xlm_fertility_pair *pair);
/* Find `links`, which are those that `own` has. */
void xlm_fertility_find_links(const xlm_fertility_pair *pair);

#endif
