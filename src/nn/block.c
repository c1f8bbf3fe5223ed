/* xlm-mpi: what all blocks of a layer have: norm and residual connection. SPDX-License-Identifier: GPL-3.0-or-later */
#include "nn/block.h"

#include <glib.h>

#include "nn/model_parts.h"

void xlm_block_declare_norm(const xlm_model_config *config, const xlm_sublayer *block, xlm_parameters *parameters)
{
    char name[XLM_BLOCK_NAME + 16];
    xlm_model_name(name, sizeof name, block->name, "layer_norm");
    if (block->norm)
        xlm_model_add_layer_norm(config, parameters, name, config->hidden_size);
}

xlm_var *xlm_block_begin(const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x)
{
    char name[XLM_BLOCK_NAME + 16];
    xlm_model_name(name, sizeof name, block->name, "layer_norm");
    return model->config.norm == XLM_NORM_PRE && block->norm ? xlm_model_layer_norm(model, tape, name, x) : x;
}

/* x + dropout(z + b), and in a post-LN model its LayerNorm. */
static xlm_var *join(const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x, xlm_var *z, xlm_var *bias,
                     double p)
{
    const xlm_model_config *c = &model->config;
    if (c->norm == XLM_NORM_PRE)
        return xlm_residual(tape, x, z, bias, p);
    return xlm_residual_norm(tape, x, z, bias, p, xlm_model_parameter(tape, block->name, "layer_norm/weight"),
                             c->norm_biases ? xlm_model_parameter(tape, block->name, "layer_norm/bias") : NULL,
                             c->layer_norm_epsilon);
}

xlm_var *xlm_block_end(const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x, xlm_var *z)
{
    return join(model, tape, block, x, z, xlm_model_bias(model, tape, block->name, "output/bias"), model->config.dropout);
}

xlm_var *xlm_block_join(const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x, xlm_var *f)
{
    return join(model, tape, block, x, f, NULL, 0);
}
