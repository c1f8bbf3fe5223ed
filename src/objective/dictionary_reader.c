/* xlm-mpi: dictionaries that objectives request. SPDX-License-Identifier: GPL-3.0-or-later */
#include "lexicon/dictionary.h"
#include "objective/readers.h"

static void *read_dictionary(const char *path, const xlm_resource_origin *origin, GError **error)
{
    return xlm_dictionary_read(path, XLM_DICTIONARY_PAIRS, origin->vocabulary, origin->digest, error);
}

static void free_dictionary(void *dictionary) { xlm_dictionary_free(dictionary); }

bool xlm_dictionary_write_pairs(xlm_store *store, const char *dataset, const xlm_dictionary *dictionary, GError **error)
{
    const xlm_dictionary *d = dictionary;
    const uint64_t dims[2] = {(uint64_t)d->pairs, 2};
    g_autofree int32_t *pairs = g_new(int32_t, 2 * d->pairs + 1);
    for (int64_t i = 0; i < d->pairs; i++) {
        pairs[2 * i] = d->token[0][i];
        pairs[2 * i + 1] = d->token[1][i];
    }
    return xlm_store_dataset(store, dataset, XLM_I32, 2, dims, XLM_STORE_CHECKED, error) &&
           xlm_store_write(store, dataset, 0, dims[0], pairs, error) &&
           xlm_store_set_int(store, dataset, "first", d->language[0], error) &&
           xlm_store_set_int(store, dataset, "second", d->language[1], error);
}

static bool write_dictionary(xlm_store *store, const char *dataset, const void *dictionary, GError **error)
{
    return xlm_dictionary_write_pairs(store, dataset, dictionary, error);
}

const xlm_resource_reader xlm_dictionary_reader = {
    .kind = "dictionary",
    .folder = "dictionaries",
    .read = read_dictionary,
    .free = free_dictionary,
    .write = write_dictionary,
};
