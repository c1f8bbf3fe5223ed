/* xlm-mpi: one vector for each sequence, from a layer of the model. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_VECTORS_SENTENCE_VECTORS_H
#define XLM_VECTORS_SENTENCE_VECTORS_H

#include "comm/comm.h"
#include "stream/examples.h"
#include "nn/model.h"

enum { XLM_POOL_MEAN, XLM_POOL_FIRST, XLM_POOL_MAX, XLM_POOLINGS };

/* "mean", "first", "max" */
const char *xlm_pooling_name(int pooling);
/* Find a pooling by its name; text NULL: `otherwise`. EX_USAGE if there is none of this name. */
bool xlm_pooling_find(const char *text, int otherwise, int *pooling, GError **error);

/* Pool the hidden states h of a text's sequence `<s> ids </s>` into y[d], which must be zeros before. pooling: XLM_POOL_....
 * Without special_tokens the rows of <s>, of the token of a language after it, and of </s> are left out. x: [d] scratch. */
void xlm_sentence_pool(int pooling, const xlm_var *h, const xlm_text *text, int64_t sequence, bool special_tokens, xlm_real *x,
                       double *y);

typedef struct xlm_sentence_encoder {
    const xlm_comm *comm;
    const xlm_model *model;
    xlm_tape *tape;
    int64_t layer;       /* H[layer], 0 … L */
    int pooling;         /* XLM_POOL_...: mean over the rows, the first of them, the maximum of each column */
    bool special_tokens; /* as in xlm_sentence_pool */
    const char *progress; /* what the progress line says, such as "encoding"; NULL: none, for callers with one of their own */
} xlm_sentence_encoder;

/* Collective. [out] vectors: [examples x d]. A sequence that has no rows to pool gets zeros. Dropout is off. The same bits on
 * every rank and for any number of ranks: passes are over fixed runs of examples, which ranks share. */
bool xlm_sentence_vectors(const xlm_sentence_encoder *encoder, const xlm_examples *examples, float *vectors, GError **error);

#endif
