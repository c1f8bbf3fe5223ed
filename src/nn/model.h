/* xlm-mpi: building a model: configuration, parameters, size. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Parameters and their names (d hidden, e embedding, F feed-forward, V vocabulary; layer.i is layer.shared when layers
 * are shared):
 *   embeddings/word/weight [V x e] · embeddings/position/weight [(positions + offset) x e] (learned only) ·
 *   embeddings/language/weight [languages x e] · embeddings/token_type/weight [2 x e] ·
 *   embeddings/layer_norm/{weight,bias} [e] · embeddings/projection/{weight [d x e],bias [d]} (when e != d)
 *   encoder/layer.i/attention/{query,key,value,output}/{weight [d x d],bias [d]} · .../attention/layer_norm/{weight,bias}
 *   encoder/layer.i/feed_forward/{intermediate [F x d],output [d x F]}/{weight,bias} · .../feed_forward/layer_norm/{weight,bias}
 *   lm_head/dense/{weight [e x d],bias [e]}, lm_head/layer_norm/{weight,bias} [e] (bert; dense alone when e != d and
 *   head = xlm) · lm_head/bias [V] */
#ifndef XLM_NN_MODEL_H
#define XLM_NN_MODEL_H

#include <xlm/model.h>
#include <xlm/options.h>

#include "base/error.h"
#include "tensor/parameters.h"

enum { XLM_MOST_LAYERS = 1000 };

/* Options of section [model]; offsets in xlm_model_config. */
extern const xlm_option xlm_model_options[];

/* Check a configuration, whoever made it (a job file, a checkpoint, a caller), and fill in the defaults that depend on others:
 * every number in the range of its option, heads divide d, a vocabulary and languages. With that no size computed of it
 * overflows: the largest product, of the ranges of layers, hidden_size and feed_forward_size, is 2^54 elements. EX_CONFIG;
 * EX_DATAERR where the vocabulary is to blame. */
bool xlm_model_check(xlm_model_config *config, GError **error);
/* Sizes that are 0 in a job file follow from others: feed_forward_size and embedding_size. */
void xlm_model_fill_in_sizes(xlm_model_config *config);
/* Declare the model's parameters. config must be checked; it is copied. */
xlm_model *xlm_model_new(const xlm_model_config *config, xlm_parameters *parameters);
void xlm_model_free(xlm_model *model);

/* How many layers have weights of their own: L, or 1 when all share theirs. */
int64_t xlm_model_weight_layers(const xlm_model_config *config);
/* The layer that a parameter is of, by its name: 0 of the embeddings, 1 ... n of the encoder (n as above), n + 1 of what stands
 * on it: the LM head, and parameters that objectives declare. */
int64_t xlm_model_layer_of(const xlm_model_config *config, const char *parameter);

/* An encoding of a packed batch, and the prediction of some of its tokens. */
typedef struct xlm_pass_size {
    int64_t tokens, length; /* in all; of the longest sequence */
    double pairs;           /* Σ over sequences of length² */
    int64_t layers;         /* computed, 0 … L */
    int64_t rows;           /* computed of the last of these: tokens, or fewer */
    int64_t predicted;      /* rows that the head for words reads; 0: none */
    bool constant;          /* there is no gradient, as in an evaluation */
    int64_t frozen;         /* lowest layers, of those computed, that have none where others do */
    bool packed, rounded;   /* parameters are packed for their products; these are in bfloat16 */
} xlm_pass_size;

/* Bytes of the tape for a forward and a backward pass: results of all operators, gradients as they live side by side, one chunk
 * of logits, attention's scratch for the threads there are. recompute: layers keep their last result alone, as where the tape
 * recomputes them, and in views without gradient. Within 10 % for passes of some hundred tokens or more; not in it: parameters,
 * their gradients, moments, the batch, and what objectives other than mlm make. */
uint64_t xlm_model_pass_bytes(const xlm_model_config *config, const xlm_pass_size *size, bool recompute);
/* Those of them that are of the layer at hand where layers keep their last result alone: one memory, which all layers use by
 * turns. */
uint64_t xlm_model_layer_bytes(const xlm_model_config *config, const xlm_pass_size *size);
/* Floating-point operations of the products of one forward pass: linears, attention, vocabulary. The backward pass costs
 * twice as much. Where not all rows are computed, they are taken to be spread evenly over sequences. */
double xlm_model_forward_flops(const xlm_model_config *config, const xlm_pass_size *size);
/* Those of the frozen layers among them, for which there is no backward pass. */
double xlm_model_frozen_flops(const xlm_model_config *config, const xlm_pass_size *size);

#endif
