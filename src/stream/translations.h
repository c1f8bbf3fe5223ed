/* xlm-mpi: a batch annotated with translations of its tokens. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For every token that has translations in a bilingual dictionary, one is drawn uniformly. For each token, annotation
 * "translations" has the id of its translation and "translation_languages" the id of that one's language; -1 if there is none. */
#ifndef XLM_STREAM_TRANSLATIONS_H
#define XLM_STREAM_TRANSLATIONS_H

#include "lexicon/translations.h"
#include "stream/batch_layout.h"
#include "stream/draws.h"

void xlm_annotate_translations(const xlm_translations *translations, const xlm_draws *draws, xlm_batch_layout *batch);

#endif
