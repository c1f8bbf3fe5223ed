/* xlm-mpi: post-LN transformer encoder (Vaswani et al. 2017, Devlin et al. 2019). SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>

#include "nn/model_internal.h"
#include "tensor/feed_forward.h"
#include "tensor/parameters.h"
#include "tensor/products.h"
#include "tensor/tape.h"

static xlm_var *parameter(xlm_tape *tape, const char *prefix, const char *name)
{
    char full[256];
    g_snprintf(full, sizeof full, "%s/%s", prefix, name);
    return xlm_param(tape, full);
}

xlm_var *xlm_model_linear(xlm_tape *tape, const char *prefix, xlm_var *x)
{
    return xlm_linear(tape, x, parameter(tape, prefix, "weight"), parameter(tape, prefix, "bias"));
}

xlm_var *xlm_model_gelu(const xlm_model *model, xlm_tape *tape, const char *prefix, xlm_var *x)
{
    xlm_var *z = xlm_linear(tape, x, parameter(tape, prefix, "weight"), NULL), *bias = parameter(tape, prefix, "bias");
    return model->config.activation == XLM_GELU_TANH ? xlm_gelu_tanh(tape, z, bias) : xlm_gelu(tape, z, bias);
}

xlm_var *xlm_model_layer_norm(const xlm_model *model, xlm_tape *tape, const char *prefix, xlm_var *x)
{
    return xlm_layer_norm(tape, x, parameter(tape, prefix, "weight"), parameter(tape, prefix, "bias"),
                          model->config.layer_norm_epsilon);
}

/* H[0]: dropout(LayerNorm(word + position + language + token type)), T x d. */
static xlm_var *embed(const xlm_model *m, xlm_tape *tape, const xlm_batch *batch)
{
    const xlm_model_config *c = &m->config;
    xlm_var *table[4];
    const int32_t *index[4];
    int tables = 0;

    table[tables] = xlm_param(tape, "embeddings/word/weight");
    index[tables++] = batch->ids;
    int32_t *rows = xlm_tape_take(tape, sizeof *rows * (uint64_t)MAX(batch->tokens, 1));
    for (int32_t i = 0; i < batch->tokens; i++)
        rows[i] = batch->positions[i] + (int32_t)c->position_offset;
    table[tables] = m->sinusoids != NULL
                        ? xlm_constant(tape, c->positions + c->position_offset, c->embedding_size, m->sinusoids)
                        : xlm_param(tape, "embeddings/position/weight");
    index[tables++] = rows;
    if (c->language_embeddings) {
        table[tables] = xlm_param(tape, "embeddings/language/weight");
        index[tables++] = batch->languages;
    }
    if (c->token_types) {
        table[tables] = xlm_param(tape, "embeddings/token_type/weight");
        index[tables++] = batch->types;
    }
    xlm_var *x = xlm_embedding_sum(tape, tables, table, index, batch->tokens, batch->keys); /* T x e */
    x = xlm_dropout(tape, xlm_model_layer_norm(m, tape, "embeddings/layer_norm", x), c->dropout);
    return c->embedding_size == c->hidden_size ? x : xlm_model_linear(tape, "embeddings/projection", x);
}

/* What a layer needs beside its input. */
struct layer {
    const xlm_model *model;
    const xlm_layer_names *names;
    const int32_t *offsets; /* [sequences + 1] */
    int32_t sequences;
    const int32_t *rows;    /* [n] that are wanted of its result; NULL: all */
    int32_t n;
    const int32_t *row_offsets; /* [sequences + 1] of rows; NULL with them */
};

/* n of the layer's query, key and value from `weight` on, side by side: T x n d. */
static xlm_var *stack(xlm_tape *tape, xlm_var *x, const char *weight, const char *bias, int n)
{
    return xlm_linear_to_rounded(tape, x, xlm_param_stack(tape, weight, n), xlm_param_stack(tape, bias, n));
}

/* at: the rows of x that attend. */
static xlm_var *attend(const struct layer *layer, xlm_tape *tape, xlm_var *x, xlm_var *at)
{
    const xlm_model *m = layer->model;
    const xlm_layer_names *n = layer->names;
    const int64_t d = m->config.hidden_size;
    xlm_attention_inputs inputs = {
        .width = d, .heads = m->config.attention_heads,
        .offsets = layer->offsets, .query_offsets = layer->row_offsets, .sequences = layer->sequences,
        .dropout = m->config.attention_dropout,
    };
    inputs.query = stack(tape, at, n->query_weight, n->query_bias, at == x ? 3 : 1);
    inputs.key = inputs.value = at == x ? inputs.query : stack(tape, x, n->key_weight, n->key_bias, 2);
    inputs.value_column = inputs.key->cols - d;
    inputs.key_column = inputs.value_column - d;
    return xlm_attention(tape, &inputs);
}

/* LayerNorm(x + dropout(z + b)) */
static xlm_var *add_and_norm(const xlm_model *m, xlm_tape *tape, const char *linear, const char *norm, xlm_var *x, xlm_var *z)
{
    return xlm_residual_norm(tape, x, z, parameter(tape, linear, "bias"), m->config.dropout, parameter(tape, norm, "weight"),
                             parameter(tape, norm, "bias"), m->config.layer_norm_epsilon);
}

/* GELU(x W₁ᵀ + b₁) W₂ᵀ: n x d */
static xlm_var *feed_forward(const struct layer *layer, xlm_tape *tape, xlm_var *x)
{
    const xlm_layer_names *n = layer->names;
    xlm_var *inner = parameter(tape, n->intermediate, "weight"), *outer = parameter(tape, n->output, "weight");
    if (xlm_product_packs(tape, x->rows, inner) && xlm_product_packs(tape, x->rows, outer))
        return xlm_feed_forward(tape, x, inner, parameter(tape, n->intermediate, "bias"), outer,
                                layer->model->config.activation == XLM_GELU_TANH);
    return xlm_linear(tape, xlm_model_gelu(layer->model, tape, n->intermediate, x), outer, NULL); /* inside T x F */
}

static xlm_var *run_layer(xlm_tape *tape, xlm_var *x, const void *data)
{
    const struct layer *layer = data;
    const xlm_model *m = layer->model;
    const xlm_layer_names *n = layer->names;
    xlm_var *at = layer->rows != NULL ? xlm_rows(tape, x, layer->rows, layer->n) : x;
    xlm_var *attended = xlm_linear(tape, attend(layer, tape, x, at), parameter(tape, n->attention_output, "weight"), NULL);
    x = add_and_norm(m, tape, n->attention_output, n->attention_norm, at, attended);
    return add_and_norm(m, tape, n->output, n->output_norm, x, feed_forward(layer, tape, x));
}

/* A layer that is frozen with all below it (tensor/parameters.h) is computed as in a pass without gradient: nothing of it is
 * kept for the backward pass, which ends above it. */
static xlm_var *run_segment(xlm_tape *tape, xlm_var *x, const struct layer *layer)
{
    xlm_tape_mode mode = xlm_tape_get_mode(tape);
    const bool gradient = mode.gradient;
    if (gradient && x->grad == NULL && xlm_tape_is_frozen(tape, layer->names->query_weight)) {
        mode.gradient = false;
        xlm_tape_set_mode(tape, mode);
    }
    xlm_var *y = xlm_tape_segment(tape, x, run_layer, layer);
    mode = xlm_tape_get_mode(tape);
    mode.gradient = gradient;
    xlm_tape_set_mode(tape, mode);
    return y;
}

/* How many of the ascending rows stand before each sequence: [sequences + 1]. */
static const int32_t *offsets_of_rows(xlm_tape *tape, const xlm_batch *batch, const int32_t *rows, int32_t n)
{
    int32_t *offsets = xlm_tape_take(tape, sizeof *offsets * (uint64_t)(batch->sequences + 1));
    int32_t row = 0;
    for (int32_t s = 0; s < batch->sequences; s++) {
        offsets[s] = row;
        while (row < n && rows[row] < batch->offsets[s + 1])
            row++;
    }
    offsets[batch->sequences] = row;
    return offsets;
}

xlm_var **xlm_model_encode(const xlm_model *model, xlm_tape *tape, const xlm_batch *batch, int64_t highest, const int32_t *rows,
                           int32_t n)
{
    const int64_t layers = highest == XLM_TOP_LAYER ? model->config.layers : highest;
    g_assert(layers >= 0 && layers <= model->config.layers);
    xlm_var **hidden = xlm_tape_take(tape, sizeof *hidden * (uint64_t)(layers + 1));
    hidden[0] = embed(model, tape, batch);
    if (layers == 0 && rows != NULL)
        hidden[0] = xlm_rows(tape, hidden[0], rows, n);
    for (int64_t l = 0; l < layers; l++) {
        struct layer *layer = xlm_tape_take(tape, sizeof *layer);
        *layer = (struct layer){.model = model, .names = &model->names[model->config.share_layers ? 0 : l],
                                .offsets = batch->offsets, .sequences = batch->sequences};
        if (l == layers - 1 && rows != NULL) {
            /* Few results, and the first that the backward pass needs: not worth recomputing. */
            layer->rows = rows, layer->n = n, layer->row_offsets = offsets_of_rows(tape, batch, rows, n);
            hidden[layers] = run_layer(tape, hidden[l], layer);
        } else {
            hidden[l + 1] = run_segment(tape, hidden[l], layer);
        }
    }
    return hidden;
}
