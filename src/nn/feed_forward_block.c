/* xlm-mpi: the feed-forward sublayer as a block of a layer. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/feed_forward.h"

#include <glib.h>

#include "nn/block.h"
#include "nn/model_parts.h"
#include "tensor/products.h"

static void declare(const xlm_model_config *config, const xlm_sublayer *block, xlm_parameters *p)
{
    const int64_t d = config->hidden_size, f = config->feed_forward_size, gate = config->gated_feed_forward ? 2 : 1;
    const struct { const char *name; int64_t out, in; } linears[] = {{"intermediate", gate * f, d}, {"output", d, f}};
    char name[XLM_BLOCK_NAME + 16];
    for (size_t i = 0; i < G_N_ELEMENTS(linears); i++) {
        g_snprintf(name, sizeof name, "%s/%s", block->name, linears[i].name);
        xlm_model_add_linear(config, p, name, linears[i].out, linears[i].in);
    }
    xlm_block_declare_norm(config, block, p);
}

/* f(x) without b₂: n x d */
static xlm_var *transform(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *x)
{
    xlm_var *inner = xlm_model_parameter(tape, block, "intermediate/weight");
    xlm_var *bias = xlm_model_bias(model, tape, block, "intermediate/bias");
    xlm_var *outer = xlm_model_parameter(tape, block, "output/weight");
    const xlm_activation activation = (xlm_activation)model->config.activation;
    if (xlm_product_packs(tape, x->rows, inner) && xlm_product_packs(tape, x->rows, outer))
        return xlm_feed_forward(tape, activation, x, inner, bias, outer);
    xlm_var *z = xlm_linear(tape, x, inner, NULL); /* T x F, or T x 2 F */
    z = model->config.gated_feed_forward ? xlm_gate(tape, activation, z, bias) : xlm_activate(tape, activation, z, bias);
    return xlm_linear(tape, z, outer, NULL);
}

static xlm_var *apply(const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x, const xlm_block_rows *rows)
{
    (void)rows; /* each row is transformed by itself */
    return xlm_block_end(model, tape, block, x, transform(model, tape, block->name, xlm_block_begin(model, tape, block, x)));
}

const xlm_block_class xlm_feed_forward_block = {"feed_forward", declare, apply};
