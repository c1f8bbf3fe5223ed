/* xlm-mpi: the encoder and its heads, as seen by objectives and embedding programs. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_MODEL_H
#define XLM_MODEL_H

#include <xlm/tape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Languages that a model, and so a vocabulary, may have. */
enum { XLM_MOST_LANGUAGES = 65535 };

enum { XLM_POSITIONS_LEARNED, XLM_POSITIONS_SINUSOIDAL };
enum { XLM_GELU, XLM_GELU_TANH };
enum { XLM_HEAD_BERT, XLM_HEAD_XLM, XLM_HEAD_NONE /* a fine-tuned model's */ };

/* Section [model] of a job file, and what the corpus adds to it. */
typedef struct xlm_model_config {
    int64_t layers;              /* L */
    int64_t hidden_size;         /* d */
    int64_t attention_heads;     /* divides d */
    int64_t feed_forward_size;   /* 4 d when 0 */
    int64_t embedding_size;      /* e, the ALBERT factorisation; d when 0 */
    bool share_layers;           /* ALBERT: one set of weights for all layers */
    int64_t positions;           /* longest sequence */
    int64_t position_type;       /* XLM_POSITIONS_... */
    int64_t position_offset;     /* row of position 0: RoBERTa has pad id + 1 = 2 */
    bool language_embeddings;
    bool token_types;
    int64_t activation;          /* XLM_GELU..., of the feed-forward layers and the head */
    double layer_norm_epsilon;
    double dropout;              /* embeddings, both sublayer outputs */
    double attention_dropout;
    int64_t head;                /* XLM_HEAD_... */
    int64_t vocabulary_chunk;    /* rows of logits held at a time */
    int64_t vocabulary;          /* V, from the corpus */
    int64_t languages;           /* from the corpus */
} xlm_model_config;

typedef struct xlm_model xlm_model;

const xlm_model_config *xlm_model_get_config(const xlm_model *model);

enum { XLM_TOP_LAYER = -1 }; /* layer L, whatever the model */

/* H[0 … highest] of a batch: hidden[0] is the embedding layer's output, hidden[l] (T x d) that of layer l. highest: 0 … L, or
 * XLM_TOP_LAYER; layers above it are not computed. rows: NULL, or n rows of the batch, ascending, that are wanted of layer
 * `highest`: hidden[highest] then is n x d, the same values as these rows of all (to rounding), for a part of the work: keys and
 * values are made of all rows, all else of these. rows must last as long as the pass. Objectives do not call it: they declare
 * views (xlm/loss.h), which all objectives of a stream share.
 * [out] hidden: highest + 1 variables, memory of the tape. */
xlm_var **xlm_model_encode(const xlm_model *model, xlm_tape *tape, const xlm_batch *batch, int64_t highest, const int32_t *rows,
                           int32_t n);

/* What follows ends the program for XLM_HEAD_NONE.
 *
 * The head's transform of h (M x d), M x e, before the decoder: for `bert` LayerNorm(GELU(h Wᵀ + b)), GELU in the form of
 * the configuration, for `xlm` h. */
xlm_var *xlm_lm_transform(const xlm_model *model, xlm_tape *tape, xlm_var *h);

/* Mean over rows of −log p(target | h), with the LM head and the decoder tied to the word embeddings. */
xlm_var *xlm_lm_cross_entropy(const xlm_model *model, xlm_tape *tape, xlm_var *h, const int32_t *targets,
                              xlm_score *scores);

/* Logits of the LM head, M x V, without gradient: for filling in words. */
xlm_var *xlm_lm_logits(const xlm_model *model, xlm_tape *tape, xlm_var *h);

#ifdef __cplusplus
}
#endif
#endif
