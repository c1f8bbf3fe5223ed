/* xlm-mpi: the feed-forward sublayer as a block of a layer. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/feed_forward.h"

#include <glib.h>

#include "nn/block.h"
#include "nn/model_parts.h"
#include "tensor/products.h"

static void declare(const xlm_model_config *config, const char *block, xlm_parameters *p)
{
    const int64_t d = config->hidden_size, f = config->feed_forward_size;
    const struct { const char *name; int64_t out, in; } linears[] = {{"intermediate", f, d}, {"output", d, f}};
    char name[XLM_BLOCK_NAME + 16];
    for (size_t i = 0; i < G_N_ELEMENTS(linears); i++) {
        g_snprintf(name, sizeof name, "%s/%s", block, linears[i].name);
        xlm_model_add_linear(p, name, linears[i].out, linears[i].in);
    }
    g_snprintf(name, sizeof name, "%s/layer_norm", block);
    xlm_model_add_layer_norm(p, name, d);
}

/* GELU(x W₁ᵀ + b₁) W₂ᵀ: n x d */
static xlm_var *transform(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *x)
{
    xlm_var *inner = xlm_model_parameter(tape, block, "intermediate/weight");
    xlm_var *outer = xlm_model_parameter(tape, block, "output/weight");
    if (xlm_product_packs(tape, x->rows, inner) && xlm_product_packs(tape, x->rows, outer))
        return xlm_feed_forward(tape, x, inner, xlm_model_parameter(tape, block, "intermediate/bias"), outer,
                                model->config.activation == XLM_GELU_TANH);
    char name[XLM_BLOCK_NAME + 16];
    g_snprintf(name, sizeof name, "%s/intermediate", block);
    return xlm_linear(tape, xlm_model_gelu(model, tape, name, x), outer, NULL); /* inside T x F */
}

static xlm_var *apply(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *x, const xlm_block_rows *rows)
{
    (void)rows; /* each row is transformed by itself */
    return xlm_block_add_and_norm(model, tape, block, x, transform(model, tape, block, x));
}

const xlm_block_class xlm_feed_forward_block = {"feed_forward", declare, apply};

xlm_var *xlm_block_add_and_norm(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *x, xlm_var *z)
{
    return xlm_residual_norm(tape, x, z, xlm_model_parameter(tape, block, "output/bias"), model->config.dropout,
                             xlm_model_parameter(tape, block, "layer_norm/weight"),
                             xlm_model_parameter(tape, block, "layer_norm/bias"), model->config.layer_norm_epsilon);
}
