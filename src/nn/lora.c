/* xlm-mpi: LoRA, beside linear layers (Hu et al. 2021, arXiv:2106.09685). SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Adapter NAME beside the linear layer "encoder/layer.3/attention/query" has the parameters
 *     adapters/NAME/encoder/layer.3/attention/query/lora_a   r x in, from U(−1/√in, 1/√in)
 *     adapters/NAME/encoder/layer.3/attention/query/lora_b   out x r, zero, so that the model computes the same at first */
#include <stddef.h>

#include "nn/adapter.h"
#include "tensor/tape.h"

static const xlm_option settings[] = {
    {"rank", XLM_OPTION_INT, "8", 1, 1 << 16, NULL, "rank, r", offsetof(xlm_adapter, rank)},
    {"alpha", XLM_OPTION_REAL, "16", -1e6, 1e6, NULL, "what the adapter adds is multiplied by alpha / rank; not 0 if it learns",
     offsetof(xlm_adapter, alpha)},
    {"targets", XLM_OPTION_SET, "query,value", 0, 0, xlm_adapter_target_names,
     "linear layers beside which it is: query, key, value, attention_output, intermediate, feed_forward_output",
     offsetof(xlm_adapter, targets)},
    XLM_OPTION_END};

static bool fits(const xlm_adapter *a, const xlm_model_config *config, GError **error)
{
    (void)config;
    return !a->learns || a->alpha != 0 ||
           xlm_error_set(error, EX_CONFIG, "adapter %s: alpha = 0 multiplies all that it adds by 0, so that it learns nothing", a->name);
}

static void declare(const xlm_adapter *a, xlm_parameters *parameters, const char *linear, int64_t out, int64_t in)
{
    char name[XLM_ADAPTER_PARAMETER];
    xlm_parameters_add(parameters, xlm_adapter_parameter(a, linear, "lora_a", name), a->rank, in, XLM_INIT_UNIFORM, true);
    xlm_parameters_add(parameters, xlm_adapter_parameter(a, linear, "lora_b", name), out, a->rank, XLM_INIT_ZERO, true);
}

/* (α / r) dropout(x) Aᵀ Bᵀ */
static xlm_var *apply(const xlm_adapter *adapter, xlm_tape *tape, const char *linear, xlm_var *x)
{
    char name[XLM_ADAPTER_PARAMETER];
    xlm_var *a = xlm_param(tape, xlm_adapter_parameter(adapter, linear, "lora_a", name));
    xlm_var *b = xlm_param(tape, xlm_adapter_parameter(adapter, linear, "lora_b", name));
    xlm_var *z = xlm_linear(tape, xlm_dropout(tape, x, adapter->dropout), a, NULL);
    return xlm_linear(tape, xlm_scale(tape, z, adapter->alpha / (double)adapter->rank), b, NULL);
}

static const xlm_real *values_of(const xlm_adapter *adapter, const xlm_parameters *all, const char *linear, const char *what)
{
    char name[XLM_ADAPTER_PARAMETER];
    const int at = xlm_parameters_find(all, xlm_adapter_parameter(adapter, linear, what, name));
    return xlm_parameters_values(all) + xlm_parameters_get(all, at)->start;
}

/* W += (α / r) B A; sums are doubles. */
static void merge(const xlm_adapter *adapter, const xlm_parameters *all, const char *linear, int64_t out, int64_t in, xlm_real *w)
{
    const xlm_real *a = values_of(adapter, all, linear, "lora_a"), *b = values_of(adapter, all, linear, "lora_b");
    const int64_t rank = adapter->rank;
    const double factor = adapter->alpha / (double)rank;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < out; i++)
        for (int64_t j = 0; j < in; j++) {
            double sum = 0;
            for (int64_t k = 0; k < rank; k++)
                sum += (double)b[i * rank + k] * (double)a[k * in + j];
            w[i * in + j] = (xlm_real)((double)w[i * in + j] + factor * sum);
        }
}

static const xlm_adapter_beside beside = {.parameter = "lora_a", .declare = declare, .apply = apply, .merge = merge};

const xlm_adapter_class xlm_adapter_lora = {
    .name = "lora",
    .help = "lora: y = x Wᵀ + b + (alpha / rank) dropout(x) Aᵀ Bᵀ beside linear layers, with A of rank x in and B of out x rank "
            "(Hu et al. 2021)",
    .settings = settings,
    .fits = fits,
    .beside = &beside,
};
