/* xlm-mpi: self-attention as a block of a layer. SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>

#include "nn/block.h"
#include "nn/model_internal.h"
#include "tensor/products.h"

static const char *const parts[] = {"query", "key", "value"};
enum { PARTS = G_N_ELEMENTS(parts), PART_NAME = XLM_BLOCK_NAME + 16 };

static const char *name_part(const char *block, int part, const char *what, char name[PART_NAME])
{
    g_snprintf(name, PART_NAME, "%s/%s/%s", block, parts[part], what);
    return name;
}

/* Query, key and value lie together, so that one product makes all three. */
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

/* x times the weights of n parts from `first` on, side by side: T x n d. */
static xlm_var *project(xlm_tape *tape, const char *block, xlm_var *x, int first, int n)
{
    char weight[PART_NAME], bias[PART_NAME];
    return xlm_linear_to_rounded(tape, x, xlm_param_stack(tape, name_part(block, first, "weight", weight), n),
                                 xlm_param_stack(tape, name_part(block, first, "bias", bias), n));
}

/* at: the rows of x that attend. */
static xlm_var *attend(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *x, xlm_var *at,
                       const xlm_block_rows *rows)
{
    const xlm_model_config *c = &model->config;
    xlm_attention_inputs inputs = {
        .width = c->hidden_size, .heads = c->attention_heads, .offsets = rows->offsets, .query_offsets = rows->wanted_offsets,
        .sequences = rows->sequences, .dropout = c->attention_dropout,
    };
    inputs.query = project(tape, block, at, 0, at == x ? PARTS : 1);
    inputs.key = inputs.value = at == x ? inputs.query : project(tape, block, x, 1, 2);
    inputs.value_column = inputs.key->cols - c->hidden_size;
    inputs.key_column = inputs.value_column - c->hidden_size;
    return xlm_attention(tape, &inputs);
}

static xlm_var *apply(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *x, const xlm_block_rows *rows)
{
    xlm_var *at = rows->wanted != NULL ? xlm_rows(tape, x, rows->wanted, rows->n) : x;
    xlm_var *attended = attend(model, tape, block, x, at, rows);
    xlm_var *z = xlm_linear(tape, attended, xlm_model_parameter(tape, block, "output/weight"), NULL);
    return xlm_block_add_and_norm(model, tape, block, at, z);
}

const xlm_block_class xlm_self_attention = {"attention", declare, apply};
