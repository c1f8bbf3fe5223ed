/* xlm-mpi: the commands of xlm_align, align_<command>.c. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TOOLS_ALIGN_H
#define XLM_TOOLS_ALIGN_H

#include "tools/command.h"

extern const xlm_command xlm_align_score;
extern const xlm_command xlm_align_show;

#endif
