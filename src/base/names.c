/* xlm-mpi: lists of names: finding a name, and shortening long lists for messages. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/names.h"

enum { MAX_SHOWN = 20 };

GHashTable *xlm_names_index(char *const *names, int64_t n)
{
    GHashTable *index = g_hash_table_new(g_str_hash, g_str_equal);
    for (int64_t i = n - 1; i >= 0; i--)
        g_hash_table_replace(index, names[i], GINT_TO_POINTER((gint)i + 1)); /* NULL is none */
    return index;
}

int32_t xlm_names_find(GHashTable *index, const char *name) { return GPOINTER_TO_INT(g_hash_table_lookup(index, name)) - 1; }

char *xlm_names_some(char *const *names)
{
    GString *out = g_string_new(NULL);
    guint n = 0;
    for (; names[n] != NULL; n++)
        if (n < MAX_SHOWN)
            g_string_append_printf(out, "%s%s", n > 0 ? ", " : "", names[n]);
    if (n > MAX_SHOWN)
        g_string_append_printf(out, " and %u other%s", n - MAX_SHOWN, n - MAX_SHOWN == 1 ? "" : "s");
    return g_string_free(out, FALSE);
}
