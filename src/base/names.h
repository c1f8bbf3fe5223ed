/* xlm-mpi: lists of names: finding a name, and shortening long lists for messages. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_BASE_NAMES_H
#define XLM_BASE_NAMES_H

#include <glib.h>
#include <stdint.h>

/* The index of each of n names; of equal names, the first. The names are borrowed. g_hash_table_unref. */
GHashTable *xlm_names_index(char *const *names, int64_t n);
/* The index of a name, from 0; -1 if it is not one of them. */
int32_t xlm_names_find(GHashTable *index, const char *name);

/* "a, b, c". If there are more than 20, the first 20 and the number of the others: "a, ..., t and 5 others". names: then NULL.
 * g_free. */
char *xlm_names_some(char *const *names);

#endif
