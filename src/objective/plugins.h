/* xlm-mpi: finding and loading objective plugins. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A plugin is named by a path (`./my-loss.so`, anything with a slash) or by a bare name (`mlm`), which is looked for as
 * NAME.so in: the directories of XLM_PLUGIN_PATH (colon-separated), the build tree when the program runs from it,
 * ../lib/xlm-mpi/losses beside the program's directory, and the directory given to configure. */
#ifndef XLM_OBJECTIVE_PLUGINS_H
#define XLM_OBJECTIVE_PLUGINS_H

#include <gmodule.h>
#include <xlm/loss.h>

#include "base/error.h"

/* Load a plugin; its class. *module keeps it in memory (g_module_close). Errors: EX_CONFIG when it is not found, has no
 * class of its name, another ABI number or a class without `loss`; the message lists where it was looked for. */
const xlm_loss_class *xlm_plugin_load(const char *name, GModule **module, GError **error);

/* Names of all plugins that a bare name could mean, sorted, each once. NULL-terminated (g_strfreev). */
char **xlm_plugin_names(void);

#endif
