/* xlm-mpi: the commands of xlm_embed, embed_<command>.c. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_COMMANDS_EMBED_H
#define XLM_COMMANDS_EMBED_H

#include "program/command.h"

extern const xlm_command xlm_embed_alignment, xlm_embed_cca, xlm_embed_dictionary, xlm_embed_export, xlm_embed_factorise,
    xlm_embed_map, xlm_embed_mine, xlm_embed_neighbours, xlm_embed_pca, xlm_embed_procrustes, xlm_embed_retrieval,
    xlm_embed_similarity, xlm_embed_whiten;

#endif
