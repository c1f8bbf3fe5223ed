/* xlm-mpi: the kind of plugins that are objectives. SPDX-License-Identifier: GPL-3.0-or-later */
#include "objective/loss_plugins.h"

#include "objective/host.h"
#include "stream/stage_plugins.h"

/* Checks the stage that a class brings. */
static bool check_stage(const xlm_loss_class *cls, const char *file, GError **error)
{
    xlm_plugin stage = {0};
    if (!cls->needs_stream)
        return xlm_error_set(error, EX_CONFIG, "%s: its class brings a stage but reads no stream", file);
    if (cls->stage->abi != XLM_STAGE_ABI)
        return xlm_error_set(error, EX_CONFIG, "%s: its stage was built for plugin ABI %u, this program has %u; compile it again "
                             "with this version's xlm/stage.h", file, cls->stage->abi, XLM_STAGE_ABI);
    if (!xlm_stage_plugins.describe(cls->stage, file, &stage, error))
        return false;
    return stage.options == NULL ||
           xlm_error_set(error, EX_CONFIG, "%s: the stage that its class brings has options, which need a section of their own, "
                         "[stage NAME]", file);
}

static bool describe(const void *class, const char *file, xlm_plugin *plugin, GError **error)
{
    const xlm_loss_class *cls = class;
    if (!xlm_host_check_class(cls, error)) {
        g_prefix_error(error, "%s: ", file);
        return false;
    }
    if (cls->stage != NULL && !check_stage(cls, file, error))
        return false;
    plugin->summary = cls->summary;
    plugin->options = cls->options;
    plugin->state_size = cls->state_size;
    return true;
}

const xlm_plugin_kind xlm_loss_plugins = {"objective", "xlm_loss_", "xlm/loss.h", XLM_LOSS_ABI, XLM_LOSS_ABI_DOUBLE, describe};
