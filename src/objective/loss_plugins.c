/* xlm-mpi: the kind of plugins that are objectives. SPDX-License-Identifier: GPL-3.0-or-later */
#include "objective/loss_plugins.h"

static bool describe(const void *class, const char *file, xlm_plugin *plugin, GError **error)
{
    const xlm_loss_class *cls = class;
    if (cls->name == NULL || cls->summary == NULL || cls->loss == NULL)
        return xlm_error_set(error, EX_CONFIG, "%s: its class lacks a name, a summary or a loss function", file);
    if (cls->label != NULL && (cls->count != NULL || !cls->needs_stream))
        return xlm_error_set(error, EX_CONFIG, "%s: its class has a label function and a count, or reads no stream; label gives "
                             "the number of terms", file);
    plugin->summary = cls->summary;
    plugin->options = cls->options;
    plugin->state_size = cls->state_size;
    return true;
}

const xlm_plugin_kind xlm_loss_plugins = {"objective", "xlm_loss_", "xlm/loss.h", XLM_LOSS_ABI, XLM_LOSS_ABI_DOUBLE, describe};
