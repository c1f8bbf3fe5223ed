/* xlm-mpi: the commands of xlm_cooc, cooc_<command>.c. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_COMMANDS_COOC_H
#define XLM_COMMANDS_COOC_H

#include "program/command.h"

extern const xlm_command xlm_cooc_count, xlm_cooc_top, xlm_cooc_export;

#endif
