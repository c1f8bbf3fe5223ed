/* xlm-mpi: the commands of xlm_align, xlm_cooc and xlm_embed, one file each. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_COMMANDS_COMMANDS_H
#define XLM_COMMANDS_COMMANDS_H

#include "model_aligner/model_links.h"
#include "program/command.h"

extern const xlm_command xlm_align_text, xlm_align_dictionary, xlm_align_score, xlm_align_show, xlm_align_symmetrise;
extern const xlm_command xlm_cooc_count, xlm_cooc_top, xlm_cooc_export;
extern const xlm_command xlm_embed_alignment, xlm_embed_cca, xlm_embed_dictionary, xlm_embed_export, xlm_embed_factorise,
    xlm_embed_map, xlm_embed_mine, xlm_embed_neighbours, xlm_embed_pca, xlm_embed_procrustes, xlm_embed_retrieval,
    xlm_embed_similarity, xlm_embed_whiten;

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
