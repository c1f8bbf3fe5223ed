/* xlm-mpi: which parameters learn, and how fast. SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/rates.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "nn/adapter.h"

bool xlm_rates_read_freeze(const char *freeze, int64_t layers, int64_t *frozen, GError **error)
{
    guint64 n = 0;
    *frozen = -1;
    if (freeze == NULL)
        return true;
    if (strcmp(freeze, "embeddings") != 0 && !g_ascii_string_to_unsigned(freeze, 10, 1, (guint64)layers, &n, NULL))
        return xlm_error_set(error, EX_CONFIG, "freeze = %s: must be embeddings, or a number of layers from 1 to %"
                             G_GINT64_FORMAT "%s", freeze, layers,
                             layers == 1 ? ", those that share their weights being one" : "");
    *frozen = (int64_t)n;
    return true;
}

bool xlm_rates_check_freeze(const xlm_jobfile *file, const char *section, const char *freeze, bool adapters_learn, int64_t layers,
                            GError **error)
{
    int64_t frozen;
    g_autoptr(GError) why = NULL;
    if (freeze != NULL && adapters_learn)
        return xlm_jobfile_refuse(file, section, "freeze", error, "freeze is for runs in which no adapter learns: where one does, "
                                  "all of the model is frozen");
    return xlm_rates_read_freeze(freeze, layers, &frozen, &why) ||
           xlm_jobfile_refuse(file, section, "freeze", error, "%s", why->message);
}

/* Is the parameter kept as it is? frozen: of xlm_rates_read_freeze. The norm after the last layer is frozen with that layer. */
static bool is_frozen(const xlm_model_config *model, const char *parameter, int64_t frozen)
{
    const xlm_layer layer = xlm_layer_of(parameter, NULL);
    const bool all = frozen == xlm_layers_of(model, XLM_STACK_ENCODER);
    return frozen >= 0 && (layer.stack == XLM_STACK_EMBEDDINGS || (layer.stack == XLM_STACK_ENCODER && layer.number < frozen) ||
                           (all && xlm_layer_is_final_norm(parameter, XLM_STACK_ENCODER)));
}

/* What stays as it is; layers: as xlm_rates_read_freeze has it; parameters: of how many elements. */
static void log_frozen(int64_t layers, int64_t frozen, int64_t elements)
{
    g_autoptr(GString) what = g_string_new(layers >= 0 ? "the embeddings" : "the LM head");
    if (layers > 0)
        g_string_append_printf(what, " and the lowest %" G_GINT64_FORMAT " layer%s", layers, layers > 1 ? "s" : "");
    xlm_log_info("frozen: %s, %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " parameters", what->str, frozen, elements);
}

static void log_decay(const xlm_optimiser_config *config, const xlm_model_config *model)
{
    const xlm_layer shared = {.stack = XLM_STACK_EMBEDDINGS}, own = {XLM_STACK_DECODER, XLM_OWN_EMBEDDINGS};
    const double all = config->learning_rate * pow(config->layer_decay, (double)xlm_layers_above(model, shared));
    const double some = config->learning_rate * pow(config->layer_decay, (double)xlm_layers_above(model, own));
    g_autofree char *decoder = model->share_embeddings ? g_strdup("") : g_strdup_printf(", %g in the decoder's own", some);
    xlm_log_info("learning rates: %g in the topmost layer and above, times %g for each layer below, %g in the embeddings%s",
                 config->learning_rate, config->layer_decay, all, decoder);
}

/* What of a model with adapters stays as it is: adapters that do not learn and, if one does, all but adapters, and what
 * objectives and tasks have. */
static bool is_kept(const xlm_adapters *adapters, const char *parameter)
{
    const xlm_adapter *own = xlm_adapters_of_parameter(adapters, parameter);
    if (own != NULL)
        return !own->learns;
    bool learn = false;
    for (int64_t k = 0; k < adapters->n; k++)
        learn |= adapters->one[k].learns;
    return learn && !g_str_has_prefix(parameter, "objectives/");
}

static void log_adapters(const xlm_adapters *adapters, int64_t frozen, int64_t elements)
{
    g_autoptr(GString) names = g_string_new(NULL);
    for (int64_t k = 0; k < adapters->n; k++)
        if (adapters->one[k].learns)
            g_string_append_printf(names, "%s%s", names->len > 0 ? ", " : "", adapters->one[k].name);
    if (names->len > 0)
        xlm_log_info("adapters learn: %s; the model stays as it is, %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " parameters",
                     names->str, frozen, elements);
    else
        xlm_log_info("adapters stay as they are, and the model learns: no section [adapter NAME] asks for them");
}

bool xlm_rates_set(const xlm_optimiser_config *config, const xlm_model_config *model, bool head_frozen,
                   xlm_parameters *parameters, GError **error)
{
    const double decay = config->layer_decay;
    int64_t layers, frozen = 0;
    if (!xlm_rates_read_freeze(config->freeze, xlm_layers_of(model, XLM_STACK_ENCODER), &layers, error))
        return false;
    for (int i = 0; i < xlm_parameters_count(parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(parameters, i);
        const xlm_layer layer = xlm_layer_of(p->name, NULL);
        const bool still = is_kept(&model->adapters, p->name) || is_frozen(model, p->name, layers) ||
                           (head_frozen && g_str_has_prefix(xlm_part_of(p->name), "lm_head/"));
        xlm_parameters_set_rate(parameters, i, still ? 0 : pow(decay, (double)xlm_layers_above(model, layer)));
        frozen += still ? p->rows * p->cols : 0;
    }
    if (model->adapters.n > 0)
        log_adapters(&model->adapters, frozen, xlm_parameters_elements(parameters));
    else if (frozen > 0)
        log_frozen(layers, frozen, xlm_parameters_elements(parameters));
    if (decay < 1)
        log_decay(config, model);
    return true;
}
