/* xlm-mpi: the feed-forward sublayer as a block of a layer. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tensor/feed_forward.h"

#include <glib.h>

#include "nn/adapter.h"
#include "nn/block.h"
#include "nn/model_parts.h"
#include "tensor/products.h"

static void declare(const xlm_model_config *config, const xlm_sublayer *block, xlm_parameters *p)
{
    const int64_t d = config->hidden_size, f = config->feed_forward_size, gate = config->gated_feed_forward ? 2 : 1;
    const struct { const char *name; int64_t out, in; uint32_t target; } linears[] = {
        {"intermediate", gate * f, d, XLM_ADAPT_INTERMEDIATE}, {"output", d, f, XLM_ADAPT_FEED_FORWARD_OUTPUT}};
    char name[XLM_BLOCK_NAME + 16];
    for (size_t i = 0; i < G_N_ELEMENTS(linears); i++) {
        xlm_model_name(name, sizeof name, block->name, linears[i].name);
        xlm_model_add_linear(config, p, name, linears[i].out, linears[i].in);
        xlm_adapters_declare_beside(config, p, name, linears[i].target, linears[i].out, linears[i].in);
    }
    xlm_adapters_declare_after(config, p, block->name);
    xlm_block_declare_norm(config, block, p);
}

/* y = x Wᵀ + b, with what LoRA adapters add. */
static xlm_var *adapted_linear(const xlm_model *model, xlm_tape *tape, const char *block, const char *part, uint32_t target,
                               xlm_var *x, xlm_var *bias)
{
    char name[XLM_BLOCK_NAME + 16];
    xlm_model_name(name, sizeof name, block, part);
    const xlm_adapted_linear linear = {name, target, 0};
    xlm_var *y = xlm_linear(tape, x, xlm_model_parameter(tape, name, "weight"), bias);
    return xlm_adapters_are_beside(&model->config, target) ? xlm_adapters_apply_beside(model, tape, 1, &linear, x, y, NULL) : y;
}

/* f(x): n x d. last: b₂; NULL: without it */
static xlm_var *transform(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *x, xlm_var *last)
{
    xlm_var *inner = xlm_model_parameter(tape, block, "intermediate/weight");
    xlm_var *bias = xlm_model_bias(model, tape, block, "intermediate/bias");
    xlm_var *outer = xlm_model_parameter(tape, block, "output/weight");
    const xlm_activation activation = (xlm_activation)model->config.activation;
    const bool adapted = xlm_adapters_are_beside(&model->config, XLM_ADAPT_INTERMEDIATE | XLM_ADAPT_FEED_FORWARD_OUTPUT);
    if (!adapted && last == NULL && xlm_product_packs(tape, x->rows, inner) && xlm_product_packs(tape, x->rows, outer))
        return xlm_feed_forward(tape, activation, x, inner, bias, outer);
    xlm_var *z = adapted_linear(model, tape, block, "intermediate", XLM_ADAPT_INTERMEDIATE, x, NULL); /* T x F, or T x 2 F */
    z = model->config.gated_feed_forward ? xlm_gate(tape, activation, z, bias) : xlm_activate(tape, activation, z, bias);
    return adapted_linear(model, tape, block, "output", XLM_ADAPT_FEED_FORWARD_OUTPUT, z, last);
}

static xlm_var *apply(const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x, const xlm_block_rows *rows)
{
    (void)rows; /* each row is transformed by itself */
    xlm_var *h = xlm_block_begin(model, tape, block, x);
    if (!xlm_adapters_are_after(&model->config))
        return xlm_block_end(model, tape, block, x, transform(model, tape, block->name, h, NULL));
    xlm_var *f = transform(model, tape, block->name, h, xlm_model_bias(model, tape, block->name, "output/bias"));
    f = xlm_adapters_apply_after(model, tape, block, x, xlm_dropout(tape, f, model->config.dropout));
    return xlm_block_join(model, tape, block, x, f);
}

const xlm_block_class xlm_feed_forward_block = {"feed_forward", declare, apply};
