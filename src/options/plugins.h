/* xlm-mpi: finding and loading plugins. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A plugin is named by a path (`./my-loss.so`, anything with a slash) or by a bare name (`mlm`), for which NAME.so is searched
 * for in: the directories of XLM_PLUGIN_PATH (colon-separated), the build tree when the program runs from it,
 * ../lib/xlm-mpi/losses beside the program's directory, and the directory given to configure.
 *
 * There are kinds of plugins: objectives (objective/loss_plugins.h) and stages of streams (stream/stage_plugins.h). A module has
 * a class of one kind, under the kind's prefix and the name of its file: my-loss.so exports `xlm_loss_my_loss`. */
#ifndef XLM_OPTIONS_PLUGINS_H
#define XLM_OPTIONS_PLUGINS_H

#include <gmodule.h>
#include <xlm/options.h>

#include "base/error.h"

typedef struct xlm_plugin xlm_plugin;

typedef struct xlm_plugin_kind {
    const char *name;   /* "objective": of the section of a job file that uses one, and in messages */
    const char *prefix; /* of the symbol of a class: "xlm_loss_" */
    const char *header; /* that declares it: "xlm/loss.h" */
    uint32_t abi;       /* the number that a class begins with; */
    uint32_t abi_double; /* from this one on it was compiled with -DXLM_DOUBLE; UINT32_MAX: no class is */
    /* Check the rest of a class and fill in the plugin's summary, options and state_size. EX_CONFIG; file: for messages. */
    bool (*describe)(const void *cls, const char *file, xlm_plugin *plugin, GError **error);
} xlm_plugin_kind;

struct xlm_plugin {
    GModule *module; /* keeps it in memory */
    bool of_user;    /* it is in none of the directories of the program's own modules */
    const xlm_plugin_kind *kind;
    const void *cls; /* its class, of the kind */
    const char *summary;
    const xlm_option *options;
    size_t state_size; /* bytes of the struct that the options are read into */
};

/* Load a plugin of one of the kinds (NULL-terminated). xlm_plugin_unload. EX_CONFIG: it is not found (the message lists where it
 * was searched for), has no class of its name, another ABI number, or an incomplete class. */
bool xlm_plugin_load(const xlm_plugin_kind *const *kinds, const char *name, xlm_plugin *plugin, GError **error);
/* A plugin of zeros is allowed. */
void xlm_plugin_unload(xlm_plugin *plugin);

/* Names of all modules that a bare name could mean, sorted, each once. NULL-terminated (g_strfreev). */
char **xlm_plugin_names(void);

#endif
