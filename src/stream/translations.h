/* xlm-mpi: a batch annotated with translations of its tokens. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For every token that a bilingual dictionary has translations of, one is drawn uniformly: annotation "translations", and its
 * language, "translation_languages"; both per token, and -1 where there is none. */
#ifndef XLM_STREAM_TRANSLATIONS_H
#define XLM_STREAM_TRANSLATIONS_H

#include "lexicon/translations.h"
#include "stream/batch_layout.h"
#include "stream/draws.h"

void xlm_annotate_translations(const xlm_translations *translations, const xlm_draws *draws, xlm_batch_layout *batch);

#endif
