/* xlm-mpi: words and their counts in HDF5 files. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The vocabulary and its segmenter are written as members of a group `path` ("/vocabulary"). */
#ifndef XLM_SUBWORDS_WORD_STORE_H
#define XLM_SUBWORDS_WORD_STORE_H

#include "store/store.h"

/* "/vocabulary/words"; the group itself if name is "". g_free. */
char *xlm_word_store_member(const char *path, const char *name);
/* Set an error of EX_DATAERR, "FILE: /vocabulary/words: what; make the file again". Returns false. */
bool xlm_word_store_refuse(const xlm_store *store, const char *path, const char *what, GError **error);

/* Write an attribute of a member. Collective over the ranks of the store, like everything that writes. */
bool xlm_word_store_note(xlm_store *store, const char *path, const char *name, const char *attribute, const char *text,
                         GError **error);
/* [n] strings, and [n] i64. rank: of this process among those of the store. */
bool xlm_word_store_save_words(xlm_store *store, const char *path, const char *name, int64_t n, const char *const *words,
                               GError **error);
bool xlm_word_store_save_counts(xlm_store *store, const char *path, const char *name, int rank, int64_t n, const int64_t *counts,
                                GError **error);
/* [out] n. NULL-terminated; g_strfreev. */
char **xlm_word_store_load_words(const xlm_store *store, const char *path, const char *name, uint64_t *n, GError **error);
/* The counts of n strings: none is negative, and their sum is below 2^63. g_free. */
int64_t *xlm_word_store_load_counts(const xlm_store *store, const char *path, const char *name, uint64_t n, GError **error);

#endif
