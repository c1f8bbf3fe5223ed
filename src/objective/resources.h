/* xlm-mpi: the dictionaries that objectives ask for. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_RESOURCES_H
#define XLM_OBJECTIVE_RESOURCES_H

#include <xlm/loss.h>

#include "text/vocabulary.h"

typedef struct xlm_dictionaries xlm_dictionaries;

/* Dictionaries must be made for a corpus of this vocabulary, which is borrowed, and this digest (xlm_corpus_digest). */
xlm_dictionaries *xlm_dictionaries_new(const xlm_vocabulary *vocabulary, uint64_t digest);
/* NULL is allowed. */
void xlm_dictionaries_free(xlm_dictionaries *dictionaries);
/* Paths of those read so far, sorted, NULL-terminated. The container only is freed: g_free. */
const char **xlm_dictionaries_paths(const xlm_dictionaries *dictionaries);
/* The pairs of a file, read at the first call. Errors of xlm_dictionary_read, then NULL. */
const xlm_dictionary *xlm_dictionaries_get(xlm_dictionaries *dictionaries, const char *path, GError **error);

#endif
