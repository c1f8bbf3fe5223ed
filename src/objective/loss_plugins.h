/* xlm-mpi: the kind of plugins that are objectives. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_LOSS_PLUGINS_H
#define XLM_OBJECTIVE_LOSS_PLUGINS_H

#include <xlm/loss.h>

#include "options/plugins.h"

/* The kind of plugins whose classes are xlm_loss_class. */
extern const xlm_plugin_kind xlm_loss_plugins;

#endif
