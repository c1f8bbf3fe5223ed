/* xlm-mpi: the translations of a token. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_LEXICON_TRANSLATIONS_H
#define XLM_LEXICON_TRANSLATIONS_H

#include <xlm/dictionary.h>

typedef struct xlm_translations xlm_translations; /* does not change once made */

/* An index of a dictionary, both ways. vocabulary: ids are below this. The dictionary is not borrowed. */
xlm_translations *xlm_translations_new(const xlm_dictionary *dictionary, int64_t vocabulary);
/* NULL is allowed. */
void xlm_translations_free(xlm_translations *translations);

/* Translations of a token in text of a language. Returns their number, 0 also if the dictionary does not have the language. [out]
 * list: [number] ascending; other: the language of the translations. */
int32_t xlm_translations_find(const xlm_translations *translations, int32_t token, int32_t language, const int32_t **list,
                              int32_t *other);

#endif
