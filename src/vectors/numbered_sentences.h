/* xlm-mpi: sentences with ids, and which of them are translations: BUCC's files. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sentence is a line `id<tab>sentence`, a gold pair a line `source id<tab>target id` (Zweigenbaum, Sharoff, Rapp
 * 2017, "Overview of the second BUCC shared task"), plain or gzip. Ids are any text without a tab.
 *
 * Sentences with the same text count as one, the first of them, when translations are searched. If a sentence has the same text
 * as another, except for white space at its ends, its id does not follow from its text: XTREME's scorer of BUCC leaves pairs with
 * such sentences out, and they are marked here. */
#ifndef XLM_VECTORS_NUMBERED_SENTENCES_H
#define XLM_VECTORS_NUMBERED_SENTENCES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "subwords/tokenizer.h"

typedef struct xlm_numbered_sentences {
    GPtrArray *ids;      /* char *, in the order of the file */
    GHashTable *numbers; /* id -> place in the file + 1 */
    GArray *subwords;    /* int32_t, of all sentences */
    GArray *ends;        /* int64_t: where those of each sentence end */
    GArray *distinct;    /* int64_t: places of the first sentence of each text */
    GArray *repeated;    /* gboolean [distinct]: another sentence has this text, except for white space */
} xlm_numbered_sentences;

/* EX_NOINPUT; EX_DATAERR with file and line: no tab, an id that is empty or occurs there twice, no UTF-8; or no sentence at all.
 * language: id for the tokenizer, or -1. */
xlm_numbered_sentences *xlm_numbered_sentences_read(const char *path, xlm_tokenizer *tokenizer, int language, GError **error);
/* NULL is allowed. */
void xlm_numbered_sentences_free(xlm_numbered_sentences *sentences);
int64_t xlm_numbered_sentences_repeated(const xlm_numbered_sentences *sentences); /* of the different ones */
int64_t xlm_numbered_sentences_count(const xlm_numbered_sentences *sentences);

/* Gold pairs, as keys source · (number of targets) + target; g_hash_table_unref. EX_NOINPUT; EX_DATAERR with file and line: not
 * two fields, an id that is in neither file or on the wrong side, a pair that occurs there twice; or no pair at all. */
GHashTable *xlm_numbered_pairs_read(const char *path, xlm_numbered_sentences *const sides[2], GError **error);
/* Is it a gold pair? source, target: places in their files. */
bool xlm_numbered_pairs_have(GHashTable *pairs, int64_t source, int64_t target, int64_t targets);

#endif
