/* xlm-mpi: layers of a model by (stack, number), and their names. SPDX-License-Identifier: GPL-3.0-or-later */
#include "nn/layer.h"
#include "nn/model_parts.h"

#include <glib.h>
#include <string.h>

static const char adapters[] = "adapters/";
static const char layer_prefix[] = "/layer.", shared[] = "shared", embeddings[] = "embeddings/", head[] = "lm_head/";
static const char final_norm[] = "/layer_norm/";

const char *xlm_stack_name(xlm_stack stack)
{
    return stack == XLM_STACK_ENCODER ? "encoder" : stack == XLM_STACK_DECODER ? "decoder" : "";
}

int64_t xlm_layers_of(const xlm_model_config *config, xlm_stack stack)
{
    const int64_t layers = stack == XLM_STACK_ENCODER ? config->layers : stack == XLM_STACK_DECODER ? config->decoder_layers : 0;
    return config->share_layers ? MIN(layers, 1) : layers;
}

int64_t xlm_layers_above(const xlm_model_config *config, xlm_layer layer)
{
    const int64_t encoder = xlm_layers_of(config, XLM_STACK_ENCODER), decoder = xlm_layers_of(config, XLM_STACK_DECODER);
    switch (layer.stack) {
    case XLM_STACK_EMBEDDINGS:
        return encoder + decoder;
    case XLM_STACK_ENCODER:
        return encoder - 1 - layer.number + decoder;
    case XLM_STACK_DECODER:
        return decoder - 1 - layer.number;
    default:
        return 0;
    }
}

/* The text after the prefix; NULL if it does not begin with the prefix. */
static const char *skip(const char *text, const char *prefix)
{
    return g_str_has_prefix(text, prefix) ? text + strlen(prefix) : NULL;
}

const char *xlm_part_name(const xlm_model_config *config, xlm_stack stack, const char *part, char name[XLM_PART_NAME])
{
    const bool own = stack == XLM_STACK_DECODER && !config->share_embeddings;
    if (own)
        xlm_model_name(name, XLM_PART_NAME, xlm_stack_name(stack), part);
    else
        g_strlcpy(name, part, XLM_PART_NAME);
    return name;
}

const char *xlm_part_of(const char *parameter)
{
    const char *after = skip(parameter, xlm_stack_name(XLM_STACK_DECODER)), *part = after != NULL ? skip(after, "/") : NULL;
    return part != NULL && (g_str_has_prefix(part, embeddings) || g_str_has_prefix(part, head)) ? part : parameter;
}

bool xlm_part_is_of_languages(const char *parameter)
{
    const char *part = xlm_part_of(parameter);
    return strcmp(part, "embeddings/language/weight") == 0 || strcmp(part, "embeddings/language_token/weight") == 0;
}

/* The name after that of its adapter, "adapters/NAME/"; all of it if it is of none. */
static const char *without_adapter(const char *parameter)
{
    const char *name = skip(parameter, adapters), *end = name != NULL ? strchr(name, '/') : NULL;
    return end != NULL ? end + 1 : parameter;
}

xlm_layer xlm_layer_of(const char *parameter, const char **rest)
{
    parameter = without_adapter(parameter);
    xlm_layer layer = {XLM_STACK_NONE, 0};
    const bool decoder = g_str_has_prefix(parameter, xlm_stack_name(XLM_STACK_DECODER));
    const xlm_stack stack = decoder ? XLM_STACK_DECODER : XLM_STACK_ENCODER;
    const char *after = skip(parameter, xlm_stack_name(stack));
    if (rest != NULL)
        *rest = parameter;
    if (g_str_has_prefix(xlm_part_of(parameter), embeddings)) {
        const bool own = xlm_part_of(parameter) != parameter;
        layer = own ? (xlm_layer){XLM_STACK_DECODER, XLM_OWN_EMBEDDINGS} : (xlm_layer){XLM_STACK_EMBEDDINGS, 0};
    } else if (after != NULL && (after = skip(after, layer_prefix)) != NULL) {
        layer = (xlm_layer){stack, g_str_has_prefix(after, shared) ? 0 : g_ascii_strtoll(after, NULL, 10)};
        if (rest != NULL)
            *rest = after + strcspn(after, "/") + (strchr(after, '/') != NULL);
    }
    return layer;
}

bool xlm_layer_is_final_norm(const char *parameter, xlm_stack stack)
{
    const char *after = skip(parameter, xlm_stack_name(stack));
    return after != NULL && g_str_has_prefix(after, final_norm);
}

void xlm_layer_name(const xlm_model_config *config, xlm_layer layer, const char *block, char *name, size_t size)
{
    if (config->share_layers)
        g_snprintf(name, size, "%s%s%s/%s", xlm_stack_name(layer.stack), layer_prefix, shared, block);
    else
        g_snprintf(name, size, "%s%s%" G_GINT64_FORMAT "/%s", xlm_stack_name(layer.stack), layer_prefix, layer.number, block);
}
