/* xlm-mpi: options that say which sentence pairs, of several commands. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PROGRAM_PAIR_OPTIONS_H
#define XLM_PROGRAM_PAIR_OPTIONS_H

#include "base/error.h"
#include "corpus/corpus.h"

/* --languages "en,de"; text NULL: languages are not changed. [out] languages: g_free. EX_USAGE. */
bool xlm_pair_options_languages(const char *text, char *languages[2], GError **error);

/* --split, by xlm_split: train, held_out, or all; text NULL: `otherwise`. EX_USAGE. */
bool xlm_pair_options_split(const char *text, xlm_split otherwise, bool splits[2], GError **error);

/* --layer: a number from 0, or all, which is XLM_LAYER_ALL (model_aligner/model_links.h); text NULL: `otherwise`. EX_USAGE. */
bool xlm_pair_options_layer(const char *text, int64_t otherwise, int64_t *layer, GError **error);

#endif
