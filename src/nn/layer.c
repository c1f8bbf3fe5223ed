/* xlm-mpi: layers of a model by (stack, number), and their names. SPDX-License-Identifier: GPL-3.0-or-later */
#include "nn/layer.h"

#include <glib.h>
#include <string.h>

static const char layer_prefix[] = "/layer.", shared[] = "shared";

const char *xlm_stack_name(xlm_stack stack) { return stack == XLM_STACK_ENCODER ? "encoder" : ""; }

int64_t xlm_layers_of(const xlm_model_config *config, xlm_stack stack)
{
    return stack != XLM_STACK_ENCODER ? 0 : config->share_layers ? 1 : config->layers;
}

int64_t xlm_layers_above(const xlm_model_config *config, xlm_layer layer)
{
    switch (layer.stack) {
    case XLM_STACK_EMBEDDINGS:
        return xlm_layers_of(config, XLM_STACK_ENCODER);
    case XLM_STACK_ENCODER:
        return xlm_layers_of(config, layer.stack) - 1 - layer.number;
    default:
        return 0;
    }
}

/* What is after the prefix; NULL: text does not begin with it. */
static const char *skip(const char *text, const char *prefix)
{
    return g_str_has_prefix(text, prefix) ? text + strlen(prefix) : NULL;
}

xlm_layer xlm_layer_of(const char *parameter, const char **rest)
{
    xlm_layer layer = {XLM_STACK_NONE, 0};
    const char *after = skip(parameter, xlm_stack_name(XLM_STACK_ENCODER));
    if (rest != NULL)
        *rest = parameter;
    if (g_str_has_prefix(parameter, "embeddings/")) {
        layer.stack = XLM_STACK_EMBEDDINGS;
    } else if (after != NULL && (after = skip(after, layer_prefix)) != NULL) {
        layer = (xlm_layer){XLM_STACK_ENCODER, g_str_has_prefix(after, shared) ? 0 : g_ascii_strtoll(after, NULL, 10)};
        if (rest != NULL)
            *rest = after + strcspn(after, "/") + (strchr(after, '/') != NULL);
    }
    return layer;
}

void xlm_layer_name(const xlm_model_config *config, xlm_layer layer, const char *block, char *name, size_t size)
{
    if (config->share_layers)
        g_snprintf(name, size, "%s%s%s/%s", xlm_stack_name(layer.stack), layer_prefix, shared, block);
    else
        g_snprintf(name, size, "%s%s%" G_GINT64_FORMAT "/%s", xlm_stack_name(layer.stack), layer_prefix, layer.number, block);
}
