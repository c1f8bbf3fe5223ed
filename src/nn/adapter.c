/* xlm-mpi: names of adapters, of their parameters and of where they are. SPDX-License-Identifier: GPL-3.0-or-later */
#include "nn/adapter.h"

#include <string.h>

#include "options/options.h"

static const char prefix[] = "adapters/";

/* ---- targets ---- */

const char xlm_adapter_target_names[] = "query,key,value,attention_output,intermediate,feed_forward_output";
static const char *const linears[XLM_ADAPTER_TARGETS] = {
    "attention/query", "attention/key", "attention/value", "attention/output", "feed_forward/intermediate", "feed_forward/output",
};

char *xlm_adapter_targets_print(uint32_t targets)
{
    const xlm_option set = {"targets", XLM_OPTION_SET, NULL, 0, 0, xlm_adapter_target_names, NULL, 0};
    return xlm_option_print(&set, &targets);
}

const char *xlm_adapter_target_linear(int i) { return linears[i]; }

uint32_t xlm_adapter_target_of(const char *linear)
{
    static const char memory[] = "memory_";
    const char *rest;
    if (xlm_layer_of(linear, &rest).stack == XLM_STACK_NONE)
        return 0;
    rest += g_str_has_prefix(rest, memory) ? strlen(memory) : 0;
    for (int i = 0; i < XLM_ADAPTER_TARGETS; i++) {
        const size_t size = strlen(linears[i]);
        if (strncmp(rest, linears[i], size) == 0 &&
            (rest[size] == '\0' || strcmp(rest + size, "/weight") == 0))
            return 1u << i;
    }
    return 0;
}

/* ---- adapters and their parameters ---- */

bool xlm_adapter_is_name(const char *name)
{
    const size_t size = strlen(name);
    return size > 0 && size < XLM_ADAPTER_NAME && strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-") == size;
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

const char *xlm_adapter_parameter(const xlm_adapter *adapter, const char *part, const char *what,
                                  char name[XLM_ADAPTER_PARAMETER])
{
    g_snprintf(name, XLM_ADAPTER_PARAMETER, "%s%s/%s/%s", prefix, adapter->name, part, what);
    return name;
}
