/* xlm-mpi: translations found by a model's hidden states, as in BUCC. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sentence is encoded alone, `<s> text </s>`, and is one vector of H[l], pooled over its tokens. How pairs are found among the
 * vectors of two texts is in retrieval/mined_pairs.h, the form of files in vectors/numbered_sentences.h. */
#ifndef XLM_RETRIEVAL_SENTENCE_MINING_H
#define XLM_RETRIEVAL_SENTENCE_MINING_H

#include <stdbool.h>
#include <stdint.h>

#include "comm/comm.h"

typedef struct xlm_mining_options {
    const char *checkpoint;
    const char *files[2];     /* sentences */
    const char *gold;         /* pairs of these; NULL: none */
    const char *training[3];  /* sentences and gold pairs on which the threshold is chosen; NULL: none */
    const char *languages[2]; /* NULL: the endings of the files' names */
    int64_t layer;            /* 0 ... L; -1: L */
    int pooling;              /* XLM_POOL_... (vectors/sentence_vectors.h) */
    bool special_tokens;      /* pooling includes <s>, the token of the language and </s> */
    bool margin;              /* score; else the cosine */
    int neighbours;           /* k */
    double threshold;         /* NAN: chosen on `training`, or on the gold pairs of `files` without it */
    const char *output;       /* file of the pairs: score<tab>source id<tab>target id; NULL: none */
    const char *csv;          /* file of the result; NULL: none */
} xlm_mining_options;

/* Collective. Find pairs, print precision, recall and F1 where there are gold pairs. The same on any number of ranks. Memory of a
 * rank: the vectors of all sentences, four times those of the larger side while they are made. Errors: those of reading;
 * EX_USAGE: a layer that the model does not have, languages; EX_CANTCREAT. */
bool xlm_sentence_mining(const xlm_comm *comm, const xlm_mining_options *options, GError **error);

#endif
