/* xlm-mpi: fuzz target: co-occurrence counts in HDF5, changed by hdf5_change.h. SPDX-License-Identifier: GPL-3.0-or-later */
#include "hdf5_change.h"
#include "lexicon/cooccurrence.h"

static fuzz_original *original;

enum { V = 6, ENTRIES = 4 };

static bool write_matrix(xlm_store *store, const char *group, bool by_distance)
{
    static const uint64_t offsets[V + 1] = {0, 0, 2, 3, 3, 4, 4};
    static const uint32_t columns[ENTRIES] = {2, 5, 2, 4}, integers[2 * ENTRIES] = {1, 0, 2, 3, 4, 0, 0, 2};
    static const double sums[ENTRIES] = {0.5, 2, 2, 0.6};
    const uint64_t rows[1] = {V + 1}, dims[2] = {ENTRIES, 2};
    const xlm_type type = by_distance ? XLM_U32 : XLM_F64;
    char *path[3] = {g_strconcat(group, "/offsets", NULL), g_strconcat(group, "/columns", NULL),
                     g_strconcat(group, "/counts", NULL)};
    const bool good = xlm_store_dataset(store, path[0], XLM_U64, 1, rows, XLM_STORE_CHECKED, NULL) &&
                      xlm_store_write(store, path[0], 0, V + 1, offsets, NULL) &&
                      xlm_store_dataset(store, path[1], XLM_U32, 1, dims, XLM_STORE_CHECKED, NULL) &&
                      xlm_store_write(store, path[1], 0, ENTRIES, columns, NULL) &&
                      xlm_store_dataset(store, path[2], type, by_distance ? 2 : 1, dims, XLM_STORE_CHECKED, NULL) &&
                      xlm_store_write(store, path[2], 0, ENTRIES, by_distance ? (const void *)integers : sums, NULL);
    for (int i = 0; i < 3; i++)
        g_free(path[i]);
    return good;
}

static bool write_words(xlm_store *store)
{
    static const char *const words[V] = {"<s>", "a", "b", "c", "d", "e"}, *const languages[] = {"en", "de"};
    static const char *const inputs[] = {"x"};
    static const int64_t occurrences[2 * V] = {0, 0, 4, 0, 5, 0, 0, 0, 2, 0, 1};
    static const double totals[V] = {0, 2.5, 2.5, 0, 0.6, 2};
    static const uint8_t counted[V] = {0, 1, 1, 0, 1, 1};
    const uint64_t dims[2] = {V, 2};
    return xlm_store_write_strings(store, "/languages", 2, languages, NULL) &&
           xlm_store_write_strings(store, "/inputs", 1, inputs, NULL) &&
           xlm_store_write_strings(store, "/words/subwords", V, words, NULL) &&
           xlm_store_dataset(store, "/words/occurrences", XLM_I64, 2, dims, XLM_STORE_CHECKED, NULL) &&
           xlm_store_write(store, "/words/occurrences", 0, V, occurrences, NULL) &&
           xlm_store_dataset(store, "/words/totals", XLM_F64, 1, dims, XLM_STORE_CHECKED, NULL) &&
           xlm_store_write(store, "/words/totals", 0, V, totals, NULL) &&
           xlm_store_write_array(store, "/words", "counted", XLM_U8, V, counted, NULL);
}

static fuzz_original *make_original(void)
{
    const char *path = fuzz_write("good.h5", "", 0);
    xlm_store *store = xlm_store_create(NULL, path, NULL);
    const bool good = store != NULL && xlm_store_set_text(store, "/", "format", XLM_COOCCURRENCE_FORMAT, NULL) &&
                      xlm_store_set_int(store, "/", "format_version", XLM_COOCCURRENCE_VERSION, NULL) &&
                      xlm_store_set_text(store, "/", "corpus_digest", "0123456789abcdef", NULL) &&
                      xlm_store_set_int(store, "/", "vocabulary", V, NULL) && xlm_store_set_int(store, "/", "window", 2, NULL) &&
                      xlm_store_set_text(store, "/", "weights", "inverse", NULL) &&
                      xlm_store_set_text(store, "/", "factors", "largest", NULL) &&
                      xlm_store_set_int(store, "/", "min_count", 0, NULL) &&
                      xlm_store_set_int(store, "/", "max_vocabulary", 0, NULL) &&
                      xlm_store_set_int(store, "/", "tokens", 12, NULL) &&
                      write_words(store) && write_matrix(store, "/cooccurrence", false) &&
                      write_matrix(store, "/by_language/en", true) &&
                      xlm_store_set_int(store, "/by_language/en", "tokens", 12, NULL);
    fuzz_require(good && xlm_store_commit(store, NULL), "a table can be written");
    return fuzz_original_read(path);
}

static bool read_row(int64_t row, int64_t n, const uint32_t *columns, const double *counts, void *data)
{
    double *sum = data;
    for (int64_t e = 0; e < n; e++)
        *sum += counts[e] + (double)(columns[e] - (uint32_t)row);
    return true;
}

/* All that there is to read. */
static bool read_table(const xlm_cooccurrence *table, GError **error)
{
    double sum = 0;
    if (!xlm_cooccurrence_scan(table, read_row, &sum, error))
        return false;
    for (int l = 0; l < table->languages; l++) {
        uint64_t *words;
        int64_t n;
        if (!xlm_cooccurrence_read_language(table, l, 0, table->vocabulary, &words, &n, error))
            return false;
        g_free(words);
    }
    int64_t *occurrences = xlm_cooccurrence_read_occurrences(table, error);
    double *totals = occurrences != NULL ? xlm_cooccurrence_read_totals(table, error) : NULL;
    char **words = totals != NULL ? xlm_cooccurrence_read_words(table, error) : NULL;
    GError *failure = NULL; /* a table may have no such list */
    uint8_t *counted = words != NULL ? xlm_cooccurrence_read_counted(table, &failure) : NULL;
    const bool good = words != NULL && failure == NULL;
    if (failure != NULL)
        g_propagate_error(error, failure);
    g_free(counted);
    g_free(occurrences);
    g_free(totals);
    g_strfreev(words);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    if (original == NULL)
        original = make_original();
    const char *path = fuzz_original_change(original, data, size);
    GError *error = NULL;
    xlm_cooccurrence *table = xlm_cooccurrence_open(path, &error);
    const bool good = table != NULL && read_table(table, &error);
    fuzz_check(good, error);
    xlm_cooccurrence_close(table);
    return 0;
}
