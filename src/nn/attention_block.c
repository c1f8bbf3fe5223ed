/* xlm-mpi: attention to the text itself or to a memory, as a block of a layer. SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>

#include "nn/adapter.h"
#include "nn/block.h"
#include "nn/model_parts.h"
#include "tensor/attention_weights.h"
#include "tensor/products.h"

static const char *const parts[] = {"query", "key", "value"};
enum { PARTS = G_N_ELEMENTS(parts), PART_NAME = XLM_BLOCK_NAME + 16 };
static const uint32_t part_targets[PARTS] = {XLM_ADAPT_QUERY, XLM_ADAPT_KEY, XLM_ADAPT_VALUE};

static const char *name_part(const char *block, int part, const char *what, char name[PART_NAME])
{
    char whole[PART_NAME];
    xlm_model_name(whole, sizeof whole, block, parts[part]);
    xlm_model_name(name, PART_NAME, whole, what);
    return name;
}

/* The weights of query, key and value are next to one another, so that one product computes all three. */
static void declare(const xlm_model_config *config, const xlm_sublayer *block, xlm_parameters *p)
{
    const int64_t d = config->hidden_size;
    char name[XLM_BLOCK_NAME + 16], weights[PARTS][PART_NAME], biases[PARTS][PART_NAME];
    const char *weight_names[PARTS], *bias_names[PARTS];
    for (int i = 0; i < PARTS; i++) {
        weight_names[i] = name_part(block->name, i, "weight", weights[i]);
        bias_names[i] = name_part(block->name, i, "bias", biases[i]);
    }
    xlm_parameters_add_stack(p, PARTS, weight_names, d, d, XLM_INIT_NORMAL, true);
    if (config->linear_biases)
        xlm_parameters_add_stack(p, PARTS, bias_names, 1, d, XLM_INIT_ZERO, false);
    xlm_model_name(name, sizeof name, block->name, "output");
    xlm_model_add_linear(config, p, name, d, d);
    xlm_adapters_declare_beside(config, p, name, XLM_ADAPT_ATTENTION_OUTPUT, d, d);
    for (int i = 0; i < PARTS; i++) {
        xlm_model_name(name, sizeof name, block->name, parts[i]);
        xlm_adapters_declare_beside(config, p, name, part_targets[i], d, d);
    }
    xlm_block_declare_norm(config, block, p);
}

/* What n linear layers from `first` on made of x, with what adapters add. */
static xlm_var *adapt(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *x, xlm_var *y, int first, int n,
                      const xlm_rotation *rotation)
{
    char name[PARTS][PART_NAME];
    xlm_adapted_linear linear[PARTS];
    for (int i = 0; i < n; i++) {
        xlm_model_name(name[i], PART_NAME, block, parts[first + i]);
        linear[i] = (xlm_adapted_linear){name[i], part_targets[first + i], i * model->config.hidden_size};
    }
    return xlm_adapters_apply_beside(model, tape, n, linear, x, y, rotation);
}

static bool has_adapters(const xlm_model_config *config, int first, int n)
{
    uint32_t targets = 0;
    for (int i = first; i < first + n; i++)
        targets |= part_targets[i];
    return xlm_adapters_are_beside(config, targets);
}

/* The linear layers of n parts from `first` on, applied to x, side by side: T x n d.
 * rotation: of queries and keys; NULL: none. */
static xlm_var *project(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *x, int first, int n,
                        const xlm_rotation *rotation)
{
    char name[PART_NAME];
    xlm_var *weight = xlm_param_stack(tape, name_part(block, first, "weight", name), n);
    xlm_var *bias = model->config.linear_biases ? xlm_param_stack(tape, name_part(block, first, "bias", name), n) : NULL;
    const bool adapted = has_adapters(&model->config, first, n);
    if (rotation == NULL && !adapted)
        return xlm_linear_to_rounded(tape, x, weight, bias);
    xlm_rotation of_parts = rotation != NULL ? *rotation : (xlm_rotation){0};
    if (n == PARTS)
        of_parts.heads *= 2; /* values are the last part */
    if (adapted)
        return adapt(model, tape, block, x, xlm_linear(tape, x, weight, bias), first, n, rotation != NULL ? &of_parts : NULL);
    return xlm_linear_rotated(tape, x, weight, bias, &of_parts);
}

/* Rows of `at` attend to rows of `to` in the sequence with the same number. */
struct sides {
    xlm_var *at, *to;                       /* the same variable if all rows attend to one another */
    const int32_t *at_offsets, *to_offsets; /* [sequences + 1] */
    const int32_t *visible_from, *visible;  /* [rows of at] (xlm_attention_inputs), or NULL */
    const xlm_rotation *rotation;           /* of the rows of `to`, or NULL */
    const int32_t *at_positions;            /* of the rows of `at`, if it is another variable */
};

static xlm_var *attend(const xlm_model *model, xlm_tape *tape, const char *block, const struct sides *s, int32_t sequences,
                       xlm_real *weights)
{
    const xlm_model_config *c = &model->config;
    xlm_attention_inputs inputs = {
        .width = c->hidden_size, .heads = c->attention_heads, .offsets = s->to_offsets, .query_offsets = s->at_offsets,
        .visible_from = s->visible_from, .visible = s->visible, .sequences = sequences, .dropout = c->attention_dropout,
    };
    const bool one = s->at == s->to;
    xlm_rotation at = s->rotation != NULL ? *s->rotation : (xlm_rotation){0};
    if (!one)
        at.at = s->at_positions;
    inputs.query = project(model, tape, block, s->at, 0, one ? PARTS : 1, s->rotation != NULL ? &at : NULL);
    inputs.key = inputs.value = one ? inputs.query : project(model, tape, block, s->to, 1, 2, s->rotation);
    inputs.value_column = inputs.key->cols - c->hidden_size;
    inputs.key_column = inputs.value_column - c->hidden_size;
    if (weights != NULL)
        xlm_attention_weights(&inputs, weights);
    return xlm_attention(tape, &inputs);
}

static xlm_var *finish(const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x, xlm_var *attended)
{
    char name[PART_NAME];
    xlm_model_name(name, sizeof name, block->name, "output");
    const xlm_adapted_linear output = {name, XLM_ADAPT_ATTENTION_OUTPUT, 0};
    xlm_var *z = xlm_linear(tape, attended, xlm_model_parameter(tape, name, "weight"), NULL);
    if (xlm_adapters_are_beside(&model->config, output.target))
        z = xlm_adapters_apply_beside(model, tape, 1, &output, attended, z, NULL);
    return xlm_block_end(model, tape, block, x, z);
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
                                        const xlm_block_cache *cache, const xlm_rotation *rotation)
{
    const int64_t d = model->config.hidden_size;
    xlm_var *all = project(model, tape, block, x, 0, PARTS, rotation);
    xlm_cache_rows_write(cache->tokens, d, all, d, cache->step->write);
    return attend_to_cache(model, tape, all, cache->tokens, cache->step->tokens, cache->step->token_lengths);
}

static xlm_var *attend_to_cached_memory(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *x,
                                        const xlm_block_cache *cache)
{
    return attend_to_cache(model, tape, project(model, tape, block, x, 0, 1, NULL), cache->memory, cache->step->memory,
                           cache->step->memory_lengths);
}

xlm_var *xlm_memory_attention_keys(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *memory)
{
    return project(model, tape, block, memory, 1, 2, NULL);
}

/* ---- the blocks ---- */

/* The positions of the wanted rows. */
static const int32_t *wanted_positions(xlm_tape *tape, const xlm_block_rows *rows)
{
    int32_t *positions = xlm_tape_take(tape, sizeof *positions * (uint64_t)MAX(rows->n, 1));
    for (int32_t i = 0; i < rows->n; i++)
        positions[i] = rows->rotation->at[rows->wanted[i]];
    return positions;
}

static xlm_var *apply_to_itself(const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x,
                                const xlm_block_rows *rows)
{
    xlm_var *h = xlm_block_begin(model, tape, block, x);
    if (rows->cache != NULL)
        return finish(model, tape, block, x, attend_to_cached_tokens(model, tape, block->name, h, rows->cache, rows->rotation));
    const bool some = rows->wanted != NULL;
    xlm_var *at = some ? xlm_rows(tape, x, rows->wanted, rows->n) : x;
    const struct sides sides = {
        .at = !some ? h : h == x ? at : xlm_rows(tape, h, rows->wanted, rows->n), .to = h, .at_offsets = rows->wanted_offsets,
        .to_offsets = rows->offsets, .visible_from = rows->visible_from, .visible = rows->visible, .rotation = rows->rotation,
        .at_positions = some && rows->rotation != NULL ? wanted_positions(tape, rows) : NULL,
    };
    return finish(model, tape, block, at, attend(model, tape, block->name, &sides, rows->sequences, NULL));
}

static xlm_var *apply_to_memory(const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x,
                                const xlm_block_rows *rows)
{
    xlm_var *h = xlm_block_begin(model, tape, block, x);
    if (rows->cache != NULL)
        return finish(model, tape, block, x, attend_to_cached_memory(model, tape, block->name, h, rows->cache));
    const struct sides sides = {
        .at = h, .to = rows->memory, .at_offsets = rows->wanted != NULL ? rows->wanted_offsets : rows->offsets,
        .to_offsets = rows->memory_offsets, .visible_from = rows->memory_visible_from, .visible = rows->memory_visible,
    };
    return finish(model, tape, block, x, attend(model, tape, block->name, &sides, rows->sequences, rows->memory_weights));
}

const xlm_block_class xlm_self_attention = {"attention", declare, apply_to_itself};
const xlm_block_class xlm_memory_attention = {"memory_attention", declare, apply_to_memory};
