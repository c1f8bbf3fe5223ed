/* xlm-mpi: linear layers and norms by the names of their parameters. SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>

#include "nn/model_parts.h"
#include "tensor/parameters.h"

enum { NAME_SIZE = 256 };

void xlm_model_name(char *name, size_t size, const char *prefix, const char *part)
{
    const size_t n = g_strlcpy(name, prefix, size);
    if (n + 1 < size) {
        name[n] = '/';
        g_strlcpy(name + n + 1, part, size - n - 1);
    }
}

/* ---- declared ---- */

void xlm_model_add(xlm_parameters *p, const char *prefix, const char *name, int64_t rows, int64_t cols, xlm_init init, bool decay)
{
    char full[NAME_SIZE];
    xlm_model_name(full, sizeof full, prefix, name);
    xlm_parameters_add(p, full, rows, cols, init, decay);
}

void xlm_model_add_linear(const xlm_model_config *config, xlm_parameters *p, const char *prefix, int64_t out, int64_t in)
{
    xlm_model_add(p, prefix, "weight", out, in, XLM_INIT_NORMAL, true);
    if (config->linear_biases)
        xlm_model_add(p, prefix, "bias", 1, out, XLM_INIT_ZERO, false);
}

void xlm_model_add_layer_norm(const xlm_model_config *config, xlm_parameters *p, const char *prefix, int64_t width)
{
    xlm_model_add(p, prefix, "weight", 1, width, XLM_INIT_ONE, false);
    if (config->norm_biases)
        xlm_model_add(p, prefix, "bias", 1, width, XLM_INIT_ZERO, false);
}

/* ---- computed ---- */

xlm_var *xlm_model_parameter(xlm_tape *tape, const char *prefix, const char *name)
{
    char full[NAME_SIZE];
    xlm_model_name(full, sizeof full, prefix, name);
    return xlm_param(tape, full);
}

xlm_var *xlm_model_bias(const xlm_model *model, xlm_tape *tape, const char *prefix, const char *name)
{
    return model->config.linear_biases ? xlm_model_parameter(tape, prefix, name) : NULL;
}

xlm_var *xlm_model_linear(const xlm_model *model, xlm_tape *tape, const char *prefix, xlm_var *x)
{
    return xlm_linear(tape, x, xlm_model_parameter(tape, prefix, "weight"), xlm_model_bias(model, tape, prefix, "bias"));
}

xlm_var *xlm_model_activate(const xlm_model *model, xlm_tape *tape, const char *prefix, xlm_var *x)
{
    xlm_var *z = xlm_linear(tape, x, xlm_model_parameter(tape, prefix, "weight"), NULL);
    return xlm_activate(tape, (xlm_activation)model->config.activation, z, xlm_model_bias(model, tape, prefix, "bias"));
}

xlm_var *xlm_model_layer_norm(const xlm_model *model, xlm_tape *tape, const char *prefix, xlm_var *x)
{
    xlm_var *bias = model->config.norm_biases ? xlm_model_parameter(tape, prefix, "bias") : NULL;
    return xlm_layer_norm(tape, x, xlm_model_parameter(tape, prefix, "weight"), bias, model->config.layer_norm_epsilon);
}
