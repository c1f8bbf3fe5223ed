/* xlm-mpi: bottleneck adapters, and invertible ones. SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>

#include "nn/adapter.h"
#include "nn/model_parts.h"
#include "tensor/columns.h"

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

bool xlm_bottlenecks_are_there(const xlm_model_config *config)
{
    for (int64_t k = 0; k < config->adapters.n; k++)
        if (config->adapters.one[k].kind == XLM_ADAPTER_BOTTLENECK)
            return true;
    return false;
}

void xlm_bottlenecks_declare(const xlm_model_config *config, xlm_parameters *parameters, const char *block)
{
    for (int64_t k = 0; k < config->adapters.n; k++) {
        const xlm_adapter *a = &config->adapters.one[k];
        if (a->kind == XLM_ADAPTER_BOTTLENECK)
            declare_one(a, parameters, block, config->hidden_size, a->size, config->hidden_size);
    }
}

xlm_var *xlm_bottlenecks_apply(const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x, xlm_var *f)
{
    const xlm_model_config *c = &model->config;
    char norm[XLM_BLOCK_NAME + 16];
    g_snprintf(norm, sizeof norm, "%s/layer_norm", block->name);
    for (int64_t k = 0; k < c->adapters.n; k++) {
        const xlm_adapter *a = &c->adapters.one[k];
        if (a->kind != XLM_ADAPTER_BOTTLENECK)
            continue;
        xlm_var *h = xlm_add(tape, x, f);
        if (c->norm == XLM_NORM_POST)
            h = xlm_model_layer_norm(model, tape, norm, h);
        f = xlm_add(tape, f, apply_one(tape, a, block->name, h));
    }
    return f;
}

/* ---- invertible ---- */

static const char *const parts[] = {"f", "g"};

static const char *name_part(const xlm_model_config *config, xlm_stack stack, int part, char name[XLM_PART_NAME])
{
    char whole[XLM_PART_NAME];
    g_snprintf(whole, sizeof whole, "embeddings/invertible/%s", parts[part]);
    return xlm_part_name(config, stack, whole, name);
}

void xlm_invertible_declare(const xlm_model_config *config, xlm_parameters *parameters, xlm_stack stack)
{
    const int64_t e = config->embedding_size, width[] = {e / 2, e - e / 2};
    char name[XLM_PART_NAME];
    for (int64_t k = 0; k < config->adapters.n; k++)
        for (int i = 0; i < 2 && config->adapters.one[k].invertible; i++)
            declare_one(&config->adapters.one[k], parameters, name_part(config, stack, i, name), width[i],
                        MAX(width[1 - i] / 2, 1), width[1 - i]);
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

xlm_var *xlm_invertible_apply(const xlm_model *model, xlm_tape *tape, xlm_stack stack, xlm_var *x, bool back)
{
    const xlm_model_config *c = &model->config;
    for (int64_t k = 0; k < c->adapters.n; k++) {
        const xlm_adapter *a = &c->adapters.one[back ? c->adapters.n - 1 - k : k];
        for (int i = 0; i < 2 && a->invertible; i++)
            x = couple(c, tape, stack, a, back ? 1 - i : i, x, back);
    }
    return x;
}
