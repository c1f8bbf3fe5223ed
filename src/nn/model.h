/* xlm-mpi: building a model: configuration and parameters. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Parameters and their names (d hidden, e embedding, F feed-forward, V vocabulary; layer.i is layer.shared when layers
 * are shared):
 *   embeddings/word/weight [V x e] · embeddings/position/weight [(positions + offset) x e] (learned only) ·
 *   embeddings/language/weight [languages x e] · embeddings/token_type/weight [2 x e] ·
 *   embeddings/layer_norm/{weight,bias} [e] · embeddings/projection/{weight [d x e],bias [d]} (when e != d)
 *   encoder/layer.i/attention/{query,key,value,output}/{weight [d x d],bias [d]} · .../attention/layer_norm/{weight,bias}
 *   encoder/layer.i/feed_forward/{intermediate [F x d],output [d x F]}/{weight,bias} · .../feed_forward/layer_norm/{weight,bias}
 *   (intermediate is [2 F x d] with a gate; biases of linear layers, norms and their biases are there if the configuration has
 *   them) · encoder/layer_norm/{weight,bias} [d], decoder/layer_norm/... (final_norm)
 *   decoder/layer.i/attention/..., decoder/layer.i/memory_attention/..., decoder/layer.i/feed_forward/... as the encoder's (D >
 *   0) lm_head/dense/{weight [e x d],bias [e]}, lm_head/layer_norm/{weight,bias} [e] (bert; dense alone when e != d and
 *   head = xlm) · lm_head/bias [V] (output_bias)
 *   decoder/embeddings/..., decoder/lm_head/... as the encoder's (share_embeddings = false)
 *   decoder/embeddings/language_token/weight [languages x e] (language_tokens) */
#ifndef XLM_NN_MODEL_H
#define XLM_NN_MODEL_H

#include <xlm/model.h>
#include <xlm/options.h>

#include "base/error.h"
#include "tensor/parameters.h"

enum { XLM_MAX_LAYERS = 1000 };

/* Options of section [model]; offsets in xlm_model_config. */
extern const xlm_option xlm_model_options[];

/* Check a configuration from any origin (a job file, a checkpoint, a caller), and fill in the defaults that depend on other
 * values: every number must be in the range of its option, heads must divide d, and there must be a vocabulary and languages.
 * Then no size computed from it overflows: a model with the maximum of every range has fewer than 2^55 parameters. EX_CONFIG;
 * EX_DATAERR if the vocabulary or the languages are the cause. */
bool xlm_model_check(xlm_model_config *config, GError **error);
/* Set sizes that are 0 in a job file and follow from others: feed_forward_size and embedding_size. */
void xlm_model_fill_in_sizes(xlm_model_config *config);
/* Are positions sinusoids? Then there is no table of them to learn. */
bool xlm_model_has_sinusoids(const xlm_model_config *config);
/* The value of such a position embedding (XLM_POSITIONS_SINUSOIDAL...) in one of its `width` columns. */
double xlm_sinusoid(int64_t position_type, int64_t position, int64_t column, int64_t width);
/* Declare the model's parameters in `parameters`. config must have passed xlm_model_check; it is copied. xlm_model_free. */
xlm_model *xlm_model_new(const xlm_model_config *config, xlm_parameters *parameters);
/* NULL is allowed. */
void xlm_model_free(xlm_model *model);

#endif
