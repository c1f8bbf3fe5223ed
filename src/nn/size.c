/* xlm-mpi: the size of a model's work: operations and memory. SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>

#include "nn/model.h"
#include "tensor/attention.h"
#include "tensor/feed_forward.h"

double xlm_model_forward_flops(const xlm_model_config *config, const xlm_pass_size *size)
{
    const double t = (double)size->tokens, m = (double)size->predicted, d = (double)config->hidden_size,
                 e = (double)config->embedding_size;
    const double f = (double)config->feed_forward_size, v = (double)config->vocabulary;
    const double all = size->layers > 0 ? (double)(size->layers - 1) * t + (double)size->rows : 0;
    /* Key and value of all rows; query, output, the two of the feed-forward part and attention of those that are wanted. */
    const double key_value = 4 * t * d * d, wanted = 2 * d * (2 * d + 2 * f) + 4 * size->pairs / t * d;
    const double projection = e != d ? 2 * t * e * d : 0;
    const double dense = config->head == XLM_HEAD_BERT || e != d ? 2 * m * d * e : 0;
    const double head = config->head != XLM_HEAD_NONE ? dense + 2 * m * e * v : 0;
    return (double)size->layers * key_value + all * wanted + projection + head;
}

double xlm_model_frozen_flops(const xlm_model_config *config, const xlm_pass_size *size)
{
    xlm_pass_size frozen = *size;
    frozen.layers = size->frozen;
    frozen.predicted = 0;
    if (size->frozen < size->layers)
        frozen.rows = size->tokens;
    return size->frozen > 0 ? xlm_model_forward_flops(config, &frozen) : 0;
}

/* All in reals a token, or a masked token, unless stated otherwise. */

/* `parts` of query, key and value: in bfloat16 half as wide. */
static double attended(const xlm_model_config *c, int parts, bool rounded)
{
    return (rounded ? 0.5 : 1) * parts * (double)c->hidden_size;
}

/* In bfloat16 with a rounded copy. */
static double norm(int64_t width, bool rounded) { return (rounded ? 1.5 : 1) * (double)width; }

/* Of the inner layer: itself and GELU, F each; where it is packed GELU and its derivative, in bfloat16 half as wide, which the
 * backward pass alone wants. */
static double inner_results(const xlm_model_config *c, const xlm_pass_size *size)
{
    const double both = 2 * (double)c->feed_forward_size;
    return !size->packed ? both : size->constant ? 0 : size->rounded ? both / 2 : both;
}

/* A layer's results, in the order of the encoder: query, key and value, attention d and a log-sum-exp a head, its output, which
 * the sum takes the place of, d, and norm; those of the inner layer; output, or sum, d, and norm. A norm keeps 2 numbers beside,
 * dropout a bit an element. */
static double layer_results(const xlm_model_config *c, const xlm_pass_size *size)
{
    const double d = (double)c->hidden_size, bit = 1.0 / (8 * sizeof(xlm_real));
    return attended(c, 3, size->rounded) + 3 * d + 2 * norm(c->hidden_size, size->rounded) + inner_results(c, size) +
           (double)c->attention_heads + 4 +
           (c->dropout > 0 ? 2 * d * bit : 0);
}

static double embedding_results(const xlm_model_config *c, bool rounded)
{
    const double e = (double)c->embedding_size, bit = 1.0 / (8 * sizeof(xlm_real));
    const int tables = 2 + c->language_embeddings + c->token_types;
    return e + norm(c->embedding_size, rounded) + 2 + (c->dropout > 0 ? e * (1 + bit) : 0) +
           (e != (double)c->hidden_size ? (double)c->hidden_size : 0) +
           (tables + 1) * (double)sizeof(int32_t) / (double)sizeof(xlm_real);
}

/* Rows taken out, dense, GELU, norm, and the gradients of the first two: those of the others take their places. */
static double head_results(const xlm_model_config *c, bool rounded)
{
    const double d = (double)c->hidden_size, e = (double)c->embedding_size;
    return 2 * d + (c->head == XLM_HEAD_BERT ? 3 * e + norm(c->embedding_size, rounded) + 2 : e);
}

/* Gradients are memory used by turns; a buffer serves others of its size, down to half. Of width d: a layer's input, a
 * sublayer's output, and dropout in between. Wider: of the inner layer F, of query, key and value 3 d, together if sizes
 * allow. Then sums over chunks of 64 rows: of GELU F, of the ends of sublayers 4 d, which those of query, key and value fit.
 * Where parameters are packed those of GELU, and of query, key and value, whose sums fit, are over chunks of 16 rows. In bfloat16 the
 * gradients that products read are rounded, half as wide: of the inner layer F and of its output d, which those of query, key and
 * value 3 d and of attention's output find; those of the inner layer are not there as a whole. */
static double gradients(const xlm_model_config *c, const xlm_pass_size *size)
{
    const double d = (double)c->hidden_size, f = (double)c->feed_forward_size;
    const double wide = f >= 3 * d && f <= 6 * d ? f : f + 3 * d;
    const double sums = f / (size->packed ? 16 : 64) + 4 * d / 64;
    return (size->rounded ? 3 * d + wide / 2 + d / 2 : wide) + (c->dropout > 0 ? 3 : 2) * d + sums;
}

/* Reals of `layers` whole ones. When layers are recomputed all keep a copy of their last result, and one has the others too; so
 * do the `frozen` lowest ones in any case. */
static double encoder_results(const xlm_model_config *c, int64_t layers, const xlm_pass_size *size, bool recompute)
{
    const int64_t alone = recompute ? layers : MIN(size->frozen, layers);
    const double each = layer_results(c, size), f = (double)c->feed_forward_size;
    return (double)(layers - alone) * each + (double)alone * (double)c->hidden_size + (alone > 0 ? each : 0) +
           (size->packed && size->constant ? size->rounded ? f / 2 : f : 0); /* GELU, of one layer at a time */
}

/* Reals of a last layer that is computed for some rows: keys and values of all, and the gradient of both, part of which serves
 * others; all else a computed row, where no gradient fits into the place of a whole layer's. */
static double last_layer(const xlm_model_config *c, const xlm_pass_size *size)
{
    const double all = attended(c, 2, size->rounded), own = layer_results(c, size) - all;
    if (size->constant)
        return (double)size->tokens * all + (double)size->rows * own;
    return (double)size->tokens * (all + (double)c->hidden_size) + (double)size->rows * (own + gradients(c, size));
}

/* Layers that are computed for all rows. */
static int64_t whole_layers(const xlm_pass_size *size)
{
    return size->layers - (size->layers > 0 && size->rows < size->tokens);
}

uint64_t xlm_model_layer_bytes(const xlm_model_config *config, const xlm_pass_size *size)
{
    const double reals = (double)size->tokens * layer_results(config, size);
    return whole_layers(size) > 0 ? (uint64_t)((double)sizeof(xlm_real) * reals) : 0;
}

uint64_t xlm_model_pass_bytes(const xlm_model_config *config, const xlm_pass_size *size, bool recompute)
{
    const double tokens = (double)size->tokens;
    /* Rows of logits. Of a packed vocabulary they are kept for the backward pass alone; in bfloat16 at half the size, and
     * transposed once more in it. */
    const double logits = config->head != XLM_HEAD_NONE ? (double)MIN(size->predicted, config->vocabulary_chunk) : 0;
    const bool some_rows = whole_layers(size) < size->layers;
    const int64_t whole = whole_layers(size);
    const double sinusoids = config->position_type == XLM_POSITIONS_SINUSOIDAL
                                 ? (double)(config->positions + config->position_offset) * (double)config->embedding_size : 0;
    const double reals = tokens * (encoder_results(config, whole, size, recompute) +
                                   embedding_results(config, size->rounded) +
                                   (whole > 0 && !size->constant ? gradients(config, size) : 0)) +
                         (some_rows ? last_layer(config, size) : 0) +
                         (double)size->predicted * head_results(config, size->rounded) +
                         (size->packed && size->constant ? 0 : 1) * logits * (double)config->vocabulary + sinusoids;
    const int64_t widest = MAX(config->feed_forward_size, config->hidden_size);
    const uint64_t blocks = size->rounded ? xlm_feed_forward_scratch_bytes(widest) : 0;
    return (uint64_t)((double)sizeof(xlm_real) * reals) + blocks +
           xlm_attention_scratch_bytes(size->length, config->hidden_size / config->attention_heads, size->rounded);
}
