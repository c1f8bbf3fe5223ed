/* xlm-mpi: words and their counts in HDF5 files. SPDX-License-Identifier: GPL-3.0-or-later */
#include "subwords/word_store.h"

char *xlm_word_store_member(const char *path, const char *name)
{
    return *name == '\0' ? g_strdup(path) : g_strconcat(path, "/", name, NULL);
}

bool xlm_word_store_refuse(const xlm_store *store, const char *path, const char *what, GError **error)
{
    return xlm_error_set(error, EX_DATAERR, "%s: %s: %s; make the file again", xlm_store_path(store), path, what);
}

/* ---- saving ---- */

bool xlm_word_store_note(xlm_store *store, const char *path, const char *name, const char *attribute, const char *text,
                         GError **error)
{
    g_autofree char *object = xlm_word_store_member(path, name);
    return xlm_store_set_text(store, object, attribute, text, error);
}

bool xlm_word_store_save_words(xlm_store *store, const char *path, const char *name, int64_t n, const char *const *words,
                               GError **error)
{
    g_autofree char *whole = xlm_word_store_member(path, name);
    return xlm_store_write_strings(store, whole, (uint64_t)n, words, error);
}

bool xlm_word_store_save_counts(xlm_store *store, const char *path, const char *name, int rank, int64_t n, const int64_t *counts,
                                GError **error)
{
    const uint64_t dims[1] = {(uint64_t)n};
    g_autofree char *whole = xlm_word_store_member(path, name);
    return xlm_store_dataset(store, whole, XLM_I64, 1, dims, XLM_STORE_CHECKED, error) &&
           xlm_store_write(store, whole, 0, rank == 0 ? dims[0] : 0, counts, error);
}

/* ---- loading ---- */

char **xlm_word_store_load_words(const xlm_store *store, const char *path, const char *name, uint64_t *n, GError **error)
{
    g_autofree char *whole = xlm_word_store_member(path, name);
    return xlm_store_read_strings(store, whole, INT32_MAX, n, error);
}

/* Counts are added up, so their sum must be a number too. */
static bool check_counts(const xlm_store *store, const char *path, uint64_t n, const int64_t *counts, GError **error)
{
    int64_t total = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (counts[i] < 0 || counts[i] > INT64_MAX - total)
            return xlm_word_store_refuse(store, path, "counts are negative, or too large to be added up", error);
        total += counts[i];
    }
    return true;
}

int64_t *xlm_word_store_load_counts(const xlm_store *store, const char *path, const char *name, uint64_t n, GError **error)
{
    g_autofree char *whole = xlm_word_store_member(path, name);
    int64_t *counts = xlm_store_read_all(store, whole, &(xlm_array){XLM_I64, n, 0}, error);
    if (counts != NULL && !check_counts(store, whole, n, counts, error))
        g_clear_pointer(&counts, g_free);
    return counts;
}
