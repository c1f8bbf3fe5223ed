/* xlm-mpi: alignment of a model's word embeddings over a dictionary. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_RETRIEVAL_MODEL_ALIGNMENT_H
#define XLM_RETRIEVAL_MODEL_ALIGNMENT_H

#include <xlm/dictionary.h>

#include "corpus/corpus.h"
#include "nn/model.h"
#include "vectors/alignment.h"

typedef struct xlm_alignment_input {
    const xlm_model_config *model;
    const xlm_parameters *parameters;
    const xlm_corpus *corpus;           /* the subwords of each language, and how often they occur */
    const xlm_dictionary *in, *left_out; /* pairs that training has seen, and those that it has not */
    bool reverse;                       /* from the dictionary's second language to its first */
} xlm_alignment_input;

/* Groups of tokens that are reported together: all; those with a translation that training has seen, and those without; and each
 * band of frequency in the source language's training text. */
enum { XLM_ALIGNMENT_GROUPS = 7 };
typedef struct xlm_alignment_group {
    const char *name; /* "all", "in dictionary", "left out", "top 1 %", "1-10 %", "10-50 %", "50-100 %" */
    xlm_alignment_score score;
    double self; /* share of the source tokens that are also a candidate, which is left out for them */
} xlm_alignment_group;

/* Collective. Source tokens are those with a translation in the dictionary; candidates all subwords that the training text of the
 * target language has, and all translations; a source token that is among them is not a candidate for itself, unless
 * the dictionary pairs it with itself. Vectors are rows of embeddings/word/weight, plus the language's embedding when
 * the model has them. *candidates: how many there were. Errors: reading the corpus; EX_DATAERR when the training text of a
 * language is not there. */
bool xlm_alignment_measure(const xlm_comm *comm, const xlm_alignment_input *input,
                           xlm_alignment_group groups[XLM_ALIGNMENT_GROUPS], int64_t *candidates, GError **error);

#endif
