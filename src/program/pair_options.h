/* xlm-mpi: options that say which sentence pairs, of several commands. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PROGRAM_PAIR_OPTIONS_H
#define XLM_PROGRAM_PAIR_OPTIONS_H

#include "corpus/corpus.h"
#include "program/program.h"

/* --languages "en,de", the languages of source and target, by xlm_program_list. EX_USAGE. */
bool xlm_pair_options_languages(const char *text, char ***languages, GError **error);

/* --split, by xlm_split: train, held_out, or all; text NULL: `otherwise`. EX_USAGE. */
bool xlm_pair_options_split(const char *text, xlm_split otherwise, bool splits[2], GError **error);

/* --layer: a number from 0, or all, which is XLM_LAYER_ALL (model_aligner/model_links.h); text NULL: `otherwise`. EX_USAGE. */
bool xlm_pair_options_layer(const char *text, int64_t otherwise, int64_t *layer, GError **error);

/* Is this how a file counts words or sentences: from 0, from 1, or XLM_COUNT_FOUND for an option that is not given? EX_USAGE. */
bool xlm_pair_options_from(const char *option, int64_t from, GError **error);

/* Collective. Is the source, paths that are ended by NULL, a corpus or one or two texts? split: the value of --split, which is
 * only for a corpus. *error: agreed on. EX_USAGE; EX_NOINPUT: there is no such file. */
bool xlm_pair_options_source(const xlm_comm *comm, char *const *paths, const char *split, bool *corpus, GError **error);

#endif
