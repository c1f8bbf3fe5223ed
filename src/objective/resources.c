/* xlm-mpi: the dictionaries that objectives ask for. SPDX-License-Identifier: GPL-3.0-or-later */
#include "objective/resources.h"

#include <stdlib.h>
#include <string.h>

#include "lexicon/dictionary.h"

struct xlm_dictionaries {
    const xlm_vocabulary *vocabulary;
    uint64_t digest;
    GHashTable *by_path; /* char *: xlm_dictionary * */
};

static void free_dictionary(gpointer dictionary) { xlm_dictionary_free(dictionary); }

xlm_dictionaries *xlm_dictionaries_new(const xlm_vocabulary *vocabulary, uint64_t digest)
{
    xlm_dictionaries *d = g_new(xlm_dictionaries, 1);
    *d = (xlm_dictionaries){vocabulary, digest, g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_dictionary)};
    return d;
}

void xlm_dictionaries_free(xlm_dictionaries *dictionaries)
{
    if (dictionaries == NULL)
        return;
    g_hash_table_unref(dictionaries->by_path);
    g_free(dictionaries);
}

const xlm_dictionary *xlm_dictionaries_get(xlm_dictionaries *dictionaries, const char *path, GError **error)
{
    xlm_dictionary *found = g_hash_table_lookup(dictionaries->by_path, path);
    if (found != NULL)
        return found;
    found = xlm_dictionary_read(path, XLM_DICTIONARY_PAIRS, dictionaries->vocabulary, dictionaries->digest, error);
    if (found != NULL)
        g_hash_table_insert(dictionaries->by_path, g_strdup(path), found);
    return found;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

const char **xlm_dictionaries_paths(const xlm_dictionaries *dictionaries)
{
    guint n;
    const char **paths = (const char **)g_hash_table_get_keys_as_array(dictionaries->by_path, &n);
    qsort(paths, n, sizeof *paths, by_name);
    return paths;
}

const xlm_dictionary *xlm_loss_dictionary(xlm_loss *loss, const char *path, char *message, size_t size)
{
    GError *error = NULL;
    const xlm_dictionary *found = xlm_dictionaries_get(loss->setup->dictionaries, path, &error);
    if (found == NULL)
        g_strlcpy(message, error->message, size);
    g_clear_error(&error);
    return found;
}
