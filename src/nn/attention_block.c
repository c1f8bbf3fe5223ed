/* xlm-mpi: attention to the text itself or to a memory, as a block of a layer. SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>

#include "nn/block.h"
#include "nn/model_parts.h"
#include "tensor/attention_weights.h"
#include "tensor/products.h"

static const char *const parts[] = {"query", "key", "value"};
enum { PARTS = G_N_ELEMENTS(parts), PART_NAME = XLM_BLOCK_NAME + 16 };

static const char *name_part(const char *block, int part, const char *what, char name[PART_NAME])
{
    g_snprintf(name, PART_NAME, "%s/%s/%s", block, parts[part], what);
    return name;
}

/* The weights of query, key and value are next to one another, so that one product computes all three. */
static void declare(const xlm_model_config *config, const char *block, xlm_parameters *p)
{
    const int64_t d = config->hidden_size;
    char name[XLM_BLOCK_NAME + 16], weights[PARTS][PART_NAME], biases[PARTS][PART_NAME];
    const char *weight_names[PARTS], *bias_names[PARTS];
    for (int i = 0; i < PARTS; i++) {
        weight_names[i] = name_part(block, i, "weight", weights[i]);
        bias_names[i] = name_part(block, i, "bias", biases[i]);
    }
    xlm_parameters_add_stack(p, PARTS, weight_names, d, d, XLM_INIT_NORMAL, true);
    xlm_parameters_add_stack(p, PARTS, bias_names, 1, d, XLM_INIT_ZERO, false);
    g_snprintf(name, sizeof name, "%s/output", block);
    xlm_model_add_linear(p, name, d, d);
    g_snprintf(name, sizeof name, "%s/layer_norm", block);
    xlm_model_add_layer_norm(p, name, d);
}

/* The linear layers of n parts from `first` on, applied to x, side by side: T x n d. */
static xlm_var *project(xlm_tape *tape, const char *block, xlm_var *x, int first, int n)
{
    char weight[PART_NAME], bias[PART_NAME];
    return xlm_linear_to_rounded(tape, x, xlm_param_stack(tape, name_part(block, first, "weight", weight), n),
                                 xlm_param_stack(tape, name_part(block, first, "bias", bias), n));
}

/* Rows of `at` attend to rows of `to` in the sequence with the same number. */
struct sides {
    xlm_var *at, *to;                       /* the same variable if all rows attend to one another */
    const int32_t *at_offsets, *to_offsets; /* [sequences + 1] */
    const int32_t *visible;                 /* [rows of at] (xlm_attention_inputs), or NULL */
};

static xlm_var *attend(const xlm_model *model, xlm_tape *tape, const char *block, const struct sides *s, int32_t sequences,
                       xlm_real *weights)
{
    const xlm_model_config *c = &model->config;
    xlm_attention_inputs inputs = {
        .width = c->hidden_size, .heads = c->attention_heads, .offsets = s->to_offsets, .query_offsets = s->at_offsets,
        .visible = s->visible, .sequences = sequences, .dropout = c->attention_dropout,
    };
    const bool one = s->at == s->to;
    inputs.query = project(tape, block, s->at, 0, one ? PARTS : 1);
    inputs.key = inputs.value = one ? inputs.query : project(tape, block, s->to, 1, 2);
    inputs.value_column = inputs.key->cols - c->hidden_size;
    inputs.key_column = inputs.value_column - c->hidden_size;
    if (weights != NULL)
        xlm_attention_weights(&inputs, weights);
    return xlm_attention(tape, &inputs);
}

static xlm_var *finish(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *x, xlm_var *attended)
{
    xlm_var *z = xlm_linear(tape, attended, xlm_model_parameter(tape, block, "output/weight"), NULL);
    return xlm_block_add_and_norm(model, tape, block, x, z);
}

/* ---- with a cache ---- */

static xlm_var *attend_to_cache(const xlm_model *model, xlm_tape *tape, xlm_var *query, xlm_cache_rows cache,
                                const int32_t *const *rows, const int32_t *lengths)
{
    const xlm_cached_attention_inputs inputs = {.query = query, .width = model->config.hidden_size,
                                                .heads = model->config.attention_heads, .cache = cache, .rows = rows,
                                                .lengths = lengths};
    return xlm_cached_attention(tape, &inputs);
}

static xlm_var *attend_to_cached_tokens(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *x,
                                        const xlm_block_cache *cache)
{
    const int64_t d = model->config.hidden_size;
    xlm_var *all = project(tape, block, x, 0, PARTS);
    xlm_cache_rows_write(cache->tokens, d, all, d, cache->step->write);
    return attend_to_cache(model, tape, all, cache->tokens, cache->step->tokens, cache->step->token_lengths);
}

static xlm_var *attend_to_cached_memory(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *x,
                                        const xlm_block_cache *cache)
{
    return attend_to_cache(model, tape, project(tape, block, x, 0, 1), cache->memory, cache->step->memory,
                           cache->step->memory_lengths);
}

xlm_var *xlm_memory_attention_keys(xlm_tape *tape, const char *block, xlm_var *memory)
{
    return project(tape, block, memory, 1, 2);
}

/* ---- the blocks ---- */

static xlm_var *apply_to_itself(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *x, const xlm_block_rows *rows)
{
    if (rows->cache != NULL)
        return finish(model, tape, block, x, attend_to_cached_tokens(model, tape, block, x, rows->cache));
    const struct sides sides = {
        .at = rows->wanted != NULL ? xlm_rows(tape, x, rows->wanted, rows->n) : x, .to = x,
        .at_offsets = rows->wanted_offsets, .to_offsets = rows->offsets, .visible = rows->visible,
    };
    return finish(model, tape, block, sides.at, attend(model, tape, block, &sides, rows->sequences, NULL));
}

static xlm_var *apply_to_memory(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *x, const xlm_block_rows *rows)
{
    if (rows->cache != NULL)
        return finish(model, tape, block, x, attend_to_cached_memory(model, tape, block, x, rows->cache));
    const struct sides sides = {
        .at = x, .to = rows->memory, .at_offsets = rows->wanted != NULL ? rows->wanted_offsets : rows->offsets,
        .to_offsets = rows->memory_offsets,
    };
    return finish(model, tape, block, sides.at, attend(model, tape, block, &sides, rows->sequences, rows->memory_weights));
}

const xlm_block_class xlm_self_attention = {"attention", declare, apply_to_itself};
const xlm_block_class xlm_memory_attention = {"memory_attention", declare, apply_to_memory};
