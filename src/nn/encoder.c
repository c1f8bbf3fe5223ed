/* xlm-mpi: the post-LN transformer encoder (Vaswani et al. 2017, Devlin et al. 2019). SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>

#include "nn/parts.h"
#include "tensor/parameters.h"
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

xlm_var *xlm_model_gelu(xlm_tape *tape, const char *prefix, xlm_var *x)
{
    return xlm_gelu(tape, xlm_linear(tape, x, parameter(tape, prefix, "weight"), NULL), parameter(tape, prefix, "bias"));
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
};

static xlm_var *attend(const struct layer *layer, xlm_tape *tape, xlm_var *x)
{
    const xlm_model *m = layer->model;
    const xlm_layer_names *n = layer->names;
    const int64_t d = m->config.hidden_size;
    xlm_var *qkv = xlm_linear(tape, x, xlm_param_stack(tape, n->query_weight, 3), xlm_param_stack(tape, n->query_bias, 3)); /* T x 3d */
    const xlm_attention_inputs inputs = {
        .query = qkv, .key = qkv, .value = qkv,
        .query_column = 0, .key_column = d, .value_column = 2 * d,
        .width = d, .heads = m->config.attention_heads,
        .offsets = layer->offsets, .sequences = layer->sequences,
        .dropout = m->config.attention_dropout,
    };
    return xlm_attention(tape, &inputs);
}

/* LayerNorm(x + dropout(h Wᵀ + b)) */
static xlm_var *add_and_norm(const xlm_model *m, xlm_tape *tape, const char *linear, const char *norm, xlm_var *x, xlm_var *h)
{
    xlm_var *z = xlm_linear(tape, h, parameter(tape, linear, "weight"), NULL);
    return xlm_residual_norm(tape, x, z, parameter(tape, linear, "bias"), m->config.dropout, parameter(tape, norm, "weight"),
                             parameter(tape, norm, "bias"), m->config.layer_norm_epsilon);
}

static xlm_var *run_layer(xlm_tape *tape, xlm_var *x, const void *data)
{
    const struct layer *layer = data;
    const xlm_model *m = layer->model;
    const xlm_layer_names *n = layer->names;
    x = add_and_norm(m, tape, n->attention_output, n->attention_norm, x, attend(layer, tape, x));
    xlm_var *wide = xlm_model_gelu(tape, n->intermediate, x); /* T x F */
    return add_and_norm(m, tape, n->output, n->output_norm, x, wide);
}

xlm_var **xlm_model_encode(const xlm_model *model, xlm_tape *tape, const xlm_batch *batch)
{
    const int64_t layers = model->config.layers;
    xlm_var **hidden = xlm_tape_take(tape, sizeof *hidden * (uint64_t)(layers + 1));
    hidden[0] = embed(model, tape, batch);
    for (int64_t l = 0; l < layers; l++) {
        struct layer *layer = xlm_tape_take(tape, sizeof *layer);
        *layer = (struct layer){.model = model, .names = &model->names[model->config.share_layers ? 0 : l],
                                .offsets = batch->offsets, .sequences = batch->sequences};
        hidden[l + 1] = xlm_tape_segment(tape, hidden[l], run_layer, layer);
    }
    return hidden;
}
