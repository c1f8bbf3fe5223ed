/* xlm-mpi: translations of one rank, and of all. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TRANSLATION_RESULTS_H
#define XLM_TRANSLATION_RESULTS_H

#include <glib.h>

#include "comm/comm.h"
#include "translation/translation.h"

/* Translations of this rank, in the order in which they are made. */
typedef struct xlm_own_translations {
    GArray *records, *ids, *links;
} xlm_own_translations;

xlm_own_translations xlm_own_translations_new(void);
void xlm_own_translations_clear(xlm_own_translations *own);
/* Copies a translation of a sentence; those of a sentence come one after another. */
void xlm_own_translations_add(xlm_own_translations *own, int64_t sentence, const xlm_translation *translation);

/* Collective. Those of all ranks, by sentence; each sentence is of one rank. xlm_translation_set_free. */
xlm_translation_set *xlm_own_translations_merge(const xlm_own_translations *own, const xlm_comm *comm, int64_t sentences);
/* NULL is allowed. */
void xlm_translation_set_free(xlm_translation_set *translations);

#endif
