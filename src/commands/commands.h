/* xlm-mpi: the commands of xlm_align, xlm_cooc and xlm_embed, one file each. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_COMMANDS_COMMANDS_H
#define XLM_COMMANDS_COMMANDS_H

#include "model_aligner/model_links.h"
#include "program/command.h"

/* Largest value of --neighbours and --count. */
enum { XLM_MAX_NEIGHBOURS = 1000 };

/* Aligning with a model, for the command that these options belong to. */
extern const GOptionEntry xlm_align_model_options[];
/* Was --checkpoint given? */
bool xlm_align_model_asked(void);
/* Read these options. words, method, alignment: of the command; NULL: not given. [out] o: all but the source and the outputs of
 * the command. EX_USAGE, also if they are given without --checkpoint. */
bool xlm_align_model_read(const char *words, const char *method, const char *alignment, xlm_model_links_options *o,
                          GError **error);

#endif
