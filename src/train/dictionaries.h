/* xlm-mpi: the dictionaries that objectives ask for. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TRAIN_DICTIONARIES_H
#define XLM_TRAIN_DICTIONARIES_H

#include <xlm/loss.h>

#include "corpus/corpus.h"

typedef struct xlm_dictionaries xlm_dictionaries;

/* corpus: borrowed; dictionaries must be made for it. */
xlm_dictionaries *xlm_dictionaries_new(const xlm_corpus *corpus);
/* NULL is allowed. */
void xlm_dictionaries_free(xlm_dictionaries *dictionaries);
/* The pairs of a file, read at the first call. Errors of xlm_dictionary_read, then NULL. */
const xlm_dictionary *xlm_dictionaries_get(xlm_dictionaries *dictionaries, const char *path, GError **error);

#endif
