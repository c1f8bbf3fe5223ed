/* xlm-mpi: the commands of xlm_align, align_<command>.c. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_COMMANDS_ALIGN_H
#define XLM_COMMANDS_ALIGN_H

#include "aligners/align_input.h"
#include "program/command.h"

extern const xlm_command xlm_align_text, xlm_align_score, xlm_align_show, xlm_align_symmetrise;

/* Aligning with a model, for the command that these options belong to. The members are that command's other options, NULL if not
 * given. */
typedef struct xlm_align_given {
    xlm_align_source source;
    const char *output, *scores, *alignment, *words, *method;
} xlm_align_given;
extern const GOptionEntry xlm_align_model_options[];
/* Was --checkpoint given? Without it, xlm_align_model_check refuses the other options. */
bool xlm_align_model_asked(void);
bool xlm_align_model_check(const xlm_align_given *g, GError **error);
/* Collective. *error: agreed on. */
void xlm_align_model_run(const xlm_comm *comm, const xlm_align_given *g, GError **error);

#endif
