/* xlm-mpi: lists of names: where one is, and what of a long list is shown. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_BASE_NAMES_H
#define XLM_BASE_NAMES_H

#include <glib.h>
#include <stdint.h>

/* Where each of n names is, which are borrowed; of equal ones the first. g_hash_table_unref. */
GHashTable *xlm_names_index(char *const *names, int64_t n);
/* From 0; -1: it is not one of them. */
int32_t xlm_names_find(GHashTable *index, const char *name);

/* "a, b, c"; of more than 20 the first 20, and how many others there are: "a, ..., t and 5 others". names: then NULL. g_free. */
char *xlm_names_some(char *const *names);

#endif
