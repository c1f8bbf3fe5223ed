/* xlm-mpi: bottleneck adapters, and invertible ones. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Adapter NAME has in each layer
 *     adapters/NAME/encoder/layer.3/feed_forward/{down,up}/{weight,bias}    D: m x d, d: m; U: d x m, u: d
 * and, if it is invertible, two of them of half the width (below):
 *     adapters/NAME/embeddings/invertible/{f,g}/{down,up}/{weight,bias}
 * with weights from N(0, 0.02²) and biases of zero. */
#include <glib.h>
#include <stddef.h>

#include "nn/adapter.h"
#include "nn/model_parts.h"
#include "tensor/columns.h"

/* ---- settings ---- */

static const xlm_option settings[] = {
    {"size", XLM_OPTION_INT, "0", 0, 1 << 20, NULL, "width of the bottleneck, m; 0: hidden_size / 16",
     offsetof(xlm_adapter, size)},
    {"invertible", XLM_OPTION_FLAG, "false", 0, 0, NULL,
     "also an invertible adapter after the embeddings, taken back before the product with them: for adapters of languages "
     "(MAD-X)", offsetof(xlm_adapter, invertible)},
    XLM_OPTION_END};

static void complete(xlm_adapter *a, const xlm_adapter *like, int64_t d)
{
    enum { USUAL = 16 };
    if (a->size == 0)
        a->size = like != NULL ? like->size : MAX(d / USUAL, 1);
}

static bool fits(const xlm_adapter *a, const xlm_model_config *config, GError **error)
{
    return !a->invertible || config->embedding_size >= 2 ||
           xlm_error_set(error, EX_CONFIG, "adapter %s: invertible = true is for embeddings of at least 2 columns", a->name);
}

/* ---- x -> max(D x + d, 0) Uᵀ + u ---- */

static void declare_one(const xlm_adapter *a, xlm_parameters *p, const char *part, int64_t out, int64_t size, int64_t in)
{
    char name[XLM_ADAPTER_PARAMETER];
    xlm_parameters_add(p, xlm_adapter_parameter(a, part, "down/weight", name), size, in, XLM_INIT_NORMAL, true);
    xlm_parameters_add(p, xlm_adapter_parameter(a, part, "down/bias", name), 1, size, XLM_INIT_ZERO, false);
    xlm_parameters_add(p, xlm_adapter_parameter(a, part, "up/weight", name), out, size, XLM_INIT_NORMAL, true);
    xlm_parameters_add(p, xlm_adapter_parameter(a, part, "up/bias", name), 1, out, XLM_INIT_ZERO, false);
}

static xlm_var *parameter(xlm_tape *tape, const xlm_adapter *a, const char *part, const char *what)
{
    char name[XLM_ADAPTER_PARAMETER];
    return xlm_param(tape, xlm_adapter_parameter(a, part, what, name));
}

static xlm_var *apply_one(xlm_tape *tape, const xlm_adapter *a, const char *part, xlm_var *x)
{
    xlm_var *z = xlm_linear(tape, xlm_dropout(tape, x, a->dropout), parameter(tape, a, part, "down/weight"), NULL);
    z = xlm_activate(tape, XLM_RELU, z, parameter(tape, a, part, "down/bias"));
    return xlm_linear(tape, z, parameter(tape, a, part, "up/weight"), parameter(tape, a, part, "up/bias"));
}

/* ---- after a feed-forward sublayer ---- */

static void declare_after(const xlm_adapter *a, const xlm_model_config *config, xlm_parameters *parameters, const char *block)
{
    declare_one(a, parameters, block, config->hidden_size, a->size, config->hidden_size);
}

static xlm_var *apply_after(const xlm_adapter *a, const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x,
                            xlm_var *f)
{
    char norm[XLM_BLOCK_NAME + 16];
    xlm_model_name(norm, sizeof norm, block->name, "layer_norm");
    xlm_var *h = xlm_add(tape, x, f);
    if (model->config.norm == XLM_NORM_POST)
        h = xlm_model_layer_norm(model, tape, norm, h);
    return xlm_add(tape, f, apply_one(tape, a, block->name, h));
}

static const xlm_adapter_after after = {.parameter = "down/weight", .declare = declare_after, .apply = apply_after};

/* ---- invertible (Pfeiffer et al. 2020, MAD-X; Dinh et al. 2015, NICE) ----
 *
 * A row x = (x₁, x₂) of width e, in halves, the first of e/2 rounded down, becomes y = (y₁, y₂):
 *     y₁ = x₁ + F(x₂), y₂ = x₂ + G(y₁),   F(v) = max(D v + d, 0) Uᵀ + u, G in the same way, D: a quarter of e wide */

static const char *const parts[] = {"f", "g"};

static const char *name_part(const xlm_model_config *config, xlm_stack stack, int part, char name[XLM_PART_NAME])
{
    char whole[XLM_PART_NAME];
    g_snprintf(whole, sizeof whole, "embeddings/invertible/%s", parts[part]);
    return xlm_part_name(config, stack, whole, name);
}

static void declare_around(const xlm_adapter *a, const xlm_model_config *config, xlm_parameters *parameters, xlm_stack stack)
{
    const int64_t e = config->embedding_size, width[] = {e / 2, e - e / 2};
    char name[XLM_PART_NAME];
    for (int i = 0; i < 2 && a->invertible; i++)
        declare_one(a, parameters, name_part(config, stack, i, name), width[i], MAX(width[1 - i] / 2, 1), width[1 - i]);
}

/* y = x with ± F of its second half added to the first (part 0), or ± G of the first to the second (part 1). */
static xlm_var *couple(const xlm_model_config *c, xlm_tape *tape, xlm_stack stack, const xlm_adapter *a, int part, xlm_var *x,
                       bool back)
{
    const int64_t half = x->cols / 2, start[] = {0, half}, width[] = {half, x->cols - half};
    char name[XLM_PART_NAME];
    xlm_var *v = xlm_columns(tape, x, start[1 - part], width[1 - part]);
    v = apply_one(tape, a, name_part(c, stack, part, name), v);
    if (back)
        v = xlm_scale(tape, v, -1);
    return xlm_add_columns(tape, x, 1, &v, &start[part], NULL);
}

static xlm_var *apply_around(const xlm_adapter *a, const xlm_model *model, xlm_tape *tape, xlm_stack stack, xlm_var *x, bool back)
{
    for (int i = 0; i < 2 && a->invertible; i++)
        x = couple(&model->config, tape, stack, a, back ? 1 - i : i, x, back);
    return x;
}

static const xlm_adapter_around around = {.declare = declare_around, .apply = apply_around};

const xlm_adapter_class xlm_adapter_bottleneck = {
    .name = "bottleneck",
    .help = "bottleneck: f + max(D dropout(h) + d, 0) Uᵀ + u after the feed-forward sublayer f of each layer, with D of size x "
            "hidden_size (Pfeiffer et al. 2020)",
    .settings = settings,
    .has_relu = true,
    .complete = complete,
    .fits = fits,
    .after = &after,
    .around = &around,
};
