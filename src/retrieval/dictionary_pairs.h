/* xlm-mpi: cosines of translations, and whether they are nearest. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The vector of a subword is its row of the word embeddings, plus its language's where the model has language embeddings.
 * Retrieval in a direction is that of vectors/alignment.h at rank 1: subword x is right when one of its translations is the
 * nearest of all candidates y, by cos(x, y), or by CSLS(x, y) = 2 cos(x, y) − r(x) − r(y), r the mean cosine with the k
 * nearest subwords of the other language (Conneau et al. 2018). A subword of both languages is neither a candidate nor a
 * neighbour of itself, unless the dictionary pairs it with itself. */
#ifndef XLM_RETRIEVAL_DICTIONARY_PAIRS_H
#define XLM_RETRIEVAL_DICTIONARY_PAIRS_H

#include <xlm/dictionary.h>

#include "comm/comm.h"
#include "corpus/corpus.h"
#include "nn/model.h"

typedef struct xlm_dictionary_pairs_input {
    const xlm_model_config *model;
    const xlm_parameters *parameters;
    const xlm_dictionary *in, *left_out; /* pairs that training has seen, and those that it has not */
    const xlm_corpus *corpus; /* candidates are all subwords of a language's training text and of the dictionary; NULL: only those
                                 of the dictionary */
    bool words_alone;         /* without the embeddings of languages */
    int neighbours;           /* k of CSLS, at least 1 */
} xlm_dictionary_pairs_input;

/* Groups: all pairs, those of `in`, those of `left_out`. For the last group, only words that are in no pair of `in` are looked
 * up. */
enum { XLM_PAIRS_ALL, XLM_PAIRS_IN, XLM_PAIRS_LEFT_OUT, XLM_PAIRS_GROUPS };
extern const char *const xlm_dictionary_pairs_names[XLM_PAIRS_GROUPS];

typedef struct xlm_dictionary_pairs_score {
    int64_t pairs;
    double cosine;        /* mean over the pairs; NaN if there are none */
    double shuffled;      /* mean over all combinations of a first and a second word of these pairs: xlm_pair_cosines */
    /* By direction: 0 from the dictionary's first language to its second. */
    int64_t words[2];     /* with a translation */
    double by_cosine[2], by_csls[2]; /* share of the words that are right, 0 … 1 */
} xlm_dictionary_pairs_score;

typedef struct xlm_dictionary_pairs {
    xlm_dictionary_pairs_score group[XLM_PAIRS_GROUPS];
    int64_t candidates[2]; /* of the second language, and of the first, by direction */
} xlm_dictionary_pairs;

/* Collective. The same numbers on any number of ranks, which share the words; memory of a rank: twice the vectors of all
 * candidates of both languages. Errors: reading the corpus; EX_DATAERR: no training text of a language. */
bool xlm_dictionary_pairs_measure(const xlm_comm *comm, const xlm_dictionary_pairs_input *input, xlm_dictionary_pairs *result,
                                  GError **error);

#endif
