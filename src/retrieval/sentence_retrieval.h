/* xlm-mpi: how often a sentence's translation is the nearest of all. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Both sides of each pair are encoded alone, `<s> text </s>`. A sentence is one vector of a layer l: the mean of H[l] over its
 * own tokens, without <s>, the token of its language and </s>, or their first or maximum; or the row of <s>. Accuracy from source
 * to target is the share of source sentences x whose translation has, among the target sentences y of all pairs, the largest
 *   cos(x, y), or
 *   CSLS(x, y) = 2 cos(x, y) − r(x) − r(y), r(x), r(y) the mean cosine with the k nearest sentences of the other side
 * (Conneau et al. 2018); from target to source with the sides exchanged. Sentences with the same subwords as the translation are
 * right answers too. Other ties count against it (vectors/alignment.h). */
#ifndef XLM_RETRIEVAL_SENTENCE_RETRIEVAL_H
#define XLM_RETRIEVAL_SENTENCE_RETRIEVAL_H

#include "aligners/align_input.h"

typedef struct xlm_retrieval_options {
    const char *checkpoint;
    xlm_align_source source; /* as for xlm_model_links() */
    int64_t layer;           /* 0 … L, or XLM_LAYER_ALL (model_aligner/model_links.h) */
    int64_t pool;            /* number of pairs among which sentences are looked for, one run of pairs after another; pairs after
                                the last whole run are left out. 0: all pairs */
    int neighbours;          /* k, at least 1 */
    int pooling;             /* XLM_POOL_... (vectors/sentence_vectors.h); -1: the mean and, beside it, the row of <s> */
    bool special_tokens;     /* pooling includes <s>, the token of the language and </s> */
    const char *csv;         /* file of the table; NULL: none */
} xlm_retrieval_options;

/* Collective. Measure and print a table. Pairs without subwords on a side, or longer than the model's positions, are left out,
 * with a warning. The same numbers on any number of ranks. Memory of a rank: the vectors of its own pairs in all layers asked
 * for, and three times those of all pairs in one. Errors: those of reading the files; EX_USAGE: a layer that the model does not
 * have, languages that it does not know or that it needs, a pool of more pairs than there are; EX_DATAERR: a corpus of another
 * vocabulary, no pairs; EX_UNAVAILABLE: a rank has more than 2^32 elements of a layer; EX_CANTCREAT. */
bool xlm_sentence_retrieval(const xlm_comm *comm, const xlm_retrieval_options *options, GError **error);

#endif
