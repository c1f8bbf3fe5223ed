/* xlm-mpi: what adapters are, and LoRA. SPDX-License-Identifier: GPL-3.0-or-later */
#include "nn/adapter.h"

#include <math.h>
#include <string.h>

#include "nn/model_parts.h"
#include "tensor/columns.h"
#include "tensor/tape.h"

const xlm_adapter_target xlm_adapter_targets[XLM_ADAPTER_TARGETS] = {
    {"query", "attention/query"},
    {"key", "attention/key"},
    {"value", "attention/value"},
    {"attention_output", "attention/output"},
    {"intermediate", "feed_forward/intermediate"},
    {"feed_forward_output", "feed_forward/output"},
};
const char *const xlm_adapter_kinds[] = {"lora", "bottleneck", NULL};

static const char prefix[] = "adapters/";

/* ---- what adapters are ---- */

uint32_t xlm_adapter_targets_read(char *const *names, GError **error)
{
    uint32_t targets = 0;
    for (; names != NULL && *names != NULL; names++) {
        int i = 0;
        while (i < XLM_ADAPTER_TARGETS && strcmp(xlm_adapter_targets[i].name, *names) != 0)
            i++;
        if (i == XLM_ADAPTER_TARGETS) {
            g_autofree char *all = xlm_adapter_targets_print((1u << XLM_ADAPTER_TARGETS) - 1);
            xlm_error_set(error, EX_CONFIG, "targets: \"%s\" is not one of %s", *names, all);
            return 0;
        }
        targets |= 1u << i;
    }
    if (targets == 0)
        xlm_error_set(error, EX_CONFIG, "targets: no linear layer is named");
    return targets;
}

char *xlm_adapter_targets_print(uint32_t targets)
{
    GString *text = g_string_new(NULL);
    for (int i = 0; i < XLM_ADAPTER_TARGETS; i++)
        if ((targets >> i & 1) != 0)
            g_string_append_printf(text, "%s%s", text->len > 0 ? "," : "", xlm_adapter_targets[i].name);
    return g_string_free(text, FALSE);
}

bool xlm_adapter_is_name(const char *name)
{
    const size_t size = strlen(name);
    return size > 0 && size < XLM_ADAPTER_NAME && strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-") == size;
}

static bool check_lora(const xlm_adapter *a, GError **error)
{
    enum { MAX_RANK = 1 << 16 };
    return (a->rank >= 1 && a->rank <= MAX_RANK && isfinite(a->alpha) && a->targets != 0 &&
            a->targets >> XLM_ADAPTER_TARGETS == 0) ||
           xlm_error_set(error, EX_CONFIG, "adapter %s: rank = %" G_GINT64_FORMAT ", alpha = %g: the rank is from 1 to %d, and "
                         "alpha finite", a->name, a->rank, a->alpha, MAX_RANK);
}

static bool check_bottleneck(const xlm_adapter *a, GError **error)
{
    enum { MAX_SIZE = 1 << 20 };
    return (a->size >= 0 && a->size <= MAX_SIZE && a->targets == 0) ||
           xlm_error_set(error, EX_CONFIG, "adapter %s: size = %" G_GINT64_FORMAT ": the size is from 1 to %d, or 0 for a "
                         "sixteenth of hidden_size", a->name, a->size, MAX_SIZE);
}

static bool check_one(const xlm_adapters *adapters, const xlm_adapter *a, GError **error)
{
    if (!xlm_adapter_is_name(a->name))
        return xlm_error_set(error, EX_CONFIG, "adapter \"%s\": names are of letters, digits, _ and -", a->name);
    if (xlm_adapters_find(adapters, a->name) != a)
        return xlm_error_set(error, EX_CONFIG, "adapter %s is there twice", a->name);
    if (!(a->dropout >= 0) || !(a->dropout < 1))
        return xlm_error_set(error, EX_CONFIG, "adapter %s: dropout = %g is not from 0 to below 1", a->name, a->dropout);
    return a->kind == XLM_ADAPTER_BOTTLENECK ? check_bottleneck(a, error) : check_lora(a, error);
}

bool xlm_adapters_check(const xlm_adapters *adapters, GError **error)
{
    bool good = (adapters->n >= 0 && adapters->n <= XLM_MAX_ADAPTERS) ||
                xlm_error_set(error, EX_CONFIG, "a model can have %d adapters, not %" G_GINT64_FORMAT, XLM_MAX_ADAPTERS,
                              adapters->n);
    for (int64_t k = 0; good && k < adapters->n; k++)
        good = check_one(adapters, &adapters->one[k], error);
    return good;
}

void xlm_adapters_fill_in_sizes(xlm_adapters *adapters, int64_t d)
{
    enum { USUAL = 16 };
    for (int64_t k = 0; k < adapters->n; k++)
        if (adapters->one[k].kind == XLM_ADAPTER_BOTTLENECK && adapters->one[k].size == 0)
            adapters->one[k].size = MAX(d / USUAL, 1);
}

const xlm_adapter *xlm_adapters_find(const xlm_adapters *adapters, const char *name)
{
    for (int64_t k = 0; k < adapters->n; k++)
        if (strcmp(adapters->one[k].name, name) == 0)
            return &adapters->one[k];
    return NULL;
}

const xlm_adapter *xlm_adapters_of_parameter(const xlm_adapters *adapters, const char *parameter)
{
    if (!g_str_has_prefix(parameter, prefix))
        return NULL;
    const char *name = parameter + strlen(prefix);
    for (int64_t k = 0; k < adapters->n; k++) {
        const size_t size = strlen(adapters->one[k].name);
        if (strncmp(name, adapters->one[k].name, size) == 0 && name[size] == '/')
            return &adapters->one[k];
    }
    return NULL;
}

uint32_t xlm_adapter_target_of(const char *linear)
{
    static const char memory[] = "memory_";
    const char *rest;
    if (xlm_layer_of(linear, &rest).stack == XLM_STACK_NONE)
        return 0;
    rest += g_str_has_prefix(rest, memory) ? strlen(memory) : 0;
    for (int i = 0; i < XLM_ADAPTER_TARGETS; i++) {
        const size_t size = strlen(xlm_adapter_targets[i].linear);
        if (strncmp(rest, xlm_adapter_targets[i].linear, size) == 0 &&
            (rest[size] == '\0' || strcmp(rest + size, "/weight") == 0))
            return 1u << i;
    }
    return 0;
}

static char *difference_of_lora(const xlm_adapter *there, const xlm_adapter *here)
{
    if (there->rank != here->rank)
        return g_strdup_printf("rank = %" G_GINT64_FORMAT " there, %" G_GINT64_FORMAT " here", there->rank, here->rank);
    if (there->alpha < here->alpha || there->alpha > here->alpha)
        return g_strdup_printf("alpha = %g there, %g here", there->alpha, here->alpha);
    if (there->targets == here->targets)
        return NULL;
    g_autofree char *targets = xlm_adapter_targets_print(there->targets), *others = xlm_adapter_targets_print(here->targets);
    return g_strdup_printf("targets = %s there, %s here", targets, others);
}

static char *difference_of_bottleneck(const xlm_adapter *there, const xlm_adapter *here)
{
    if (there->size != here->size)
        return g_strdup_printf("size = %" G_GINT64_FORMAT " there, %" G_GINT64_FORMAT " here", there->size, here->size);
    return there->invertible == here->invertible ? NULL
                                                 : g_strdup_printf("invertible = %s there, %s here",
                                                                   there->invertible ? "true" : "false",
                                                                   here->invertible ? "true" : "false");
}

char *xlm_adapter_difference(const xlm_adapter *there, const xlm_adapter *here)
{
    if (there->kind != here->kind)
        return g_strdup_printf("kind = %s there, %s here", xlm_adapter_kinds[there->kind], xlm_adapter_kinds[here->kind]);
    return there->kind == XLM_ADAPTER_BOTTLENECK ? difference_of_bottleneck(there, here) : difference_of_lora(there, here);
}

/* ---- parameters ---- */

const char *xlm_adapter_parameter(const xlm_adapter *adapter, const char *linear, const char *what,
                                  char name[XLM_ADAPTER_PARAMETER])
{
    g_snprintf(name, XLM_ADAPTER_PARAMETER, "%s%s/%s/%s", prefix, adapter->name, linear, what);
    return name;
}

void xlm_adapters_declare(const xlm_model_config *config, xlm_parameters *parameters, const char *linear, uint32_t target,
                          int64_t out, int64_t in)
{
    char name[XLM_ADAPTER_PARAMETER];
    for (int64_t k = 0; k < config->adapters.n; k++) {
        const xlm_adapter *a = &config->adapters.one[k];
        if ((a->targets & target) == 0)
            continue;
        xlm_parameters_add(parameters, xlm_adapter_parameter(a, linear, "lora_a", name), a->rank, in, XLM_INIT_UNIFORM, true);
        xlm_parameters_add(parameters, xlm_adapter_parameter(a, linear, "lora_b", name), out, a->rank, XLM_INIT_ZERO, true);
    }
}

bool xlm_adapters_are_at(const xlm_model_config *config, uint32_t targets)
{
    for (int64_t k = 0; k < config->adapters.n; k++)
        if ((config->adapters.one[k].targets & targets) != 0)
            return true;
    return false;
}

/* ---- computed ---- */

/* (α / r) dropout(x) Aᵀ Bᵀ */
static xlm_var *low_rank(xlm_tape *tape, const xlm_adapter *adapter, const char *linear, xlm_var *x)
{
    char name[XLM_ADAPTER_PARAMETER];
    xlm_var *a = xlm_param(tape, xlm_adapter_parameter(adapter, linear, "lora_a", name));
    xlm_var *b = xlm_param(tape, xlm_adapter_parameter(adapter, linear, "lora_b", name));
    xlm_var *z = xlm_linear(tape, xlm_dropout(tape, x, adapter->dropout), a, NULL);
    return xlm_linear(tape, xlm_scale(tape, z, adapter->alpha / (double)adapter->rank), b, NULL);
}

xlm_var *xlm_adapters_apply(const xlm_model *model, xlm_tape *tape, int n, const xlm_adapted_linear *linear, xlm_var *x,
                            xlm_var *y, const xlm_rotation *rotation)
{
    const xlm_adapters *all = &model->config.adapters;
    xlm_var *added[XLM_MAX_ADAPTERS * XLM_ADAPTER_TARGETS];
    int64_t column[XLM_MAX_ADAPTERS * XLM_ADAPTER_TARGETS];
    int terms = 0;
    for (int i = 0; i < n; i++)
        for (int64_t k = 0; k < all->n; k++) {
            if ((all->one[k].targets & linear[i].target) == 0)
                continue;
            column[terms] = linear[i].column;
            added[terms++] = low_rank(tape, &all->one[k], linear[i].name, x);
        }
    return xlm_add_columns(tape, y, terms, added, column, rotation);
}

bool xlm_adapters_learn(const xlm_model *model, const xlm_tape *tape, xlm_layer layer)
{
    char part[XLM_BLOCK_NAME], name[XLM_ADAPTER_PARAMETER];
    for (int64_t k = 0; k < model->config.adapters.n; k++) {
        const xlm_adapter *a = &model->config.adapters.one[k];
        const bool lora = a->kind == XLM_ADAPTER_LORA;
        const char *block = lora ? xlm_adapter_targets[g_bit_nth_lsf(a->targets, -1)].linear : "feed_forward";
        xlm_layer_name(&model->config, layer, block, part, sizeof part);
        if (!xlm_tape_is_frozen(tape, xlm_adapter_parameter(a, part, lora ? "lora_a" : "down/weight", name)))
            return true;
    }
    return false;
}
