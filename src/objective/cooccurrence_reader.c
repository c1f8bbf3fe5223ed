/* xlm-mpi: tables of co-occurrence that objectives request. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The file's datasets are cut into chunks with checksums, which cannot be mapped into memory. So every rank reads the whole table
 * into memory once: 8 bytes per entry. */
#include <string.h>

#include <xlm/cooccurrence.h>

#include "lexicon/cooccurrence.h"
#include "objective/readers.h"
#include "subwords/vocabulary.h"

/* A table while it is read and afterwards. */
struct reading {
    xlm_cooccurrence_table table; /* first: objectives get its address */
    uint64_t *offsets;            /* while reading: entry row + 1 has the number of entries of the row */
    uint32_t *columns;
    float *counts;
    int64_t done; /* number of entries read so far */
};

static void free_table(void *pointer)
{
    struct reading *r = pointer;
    g_free(r->offsets);
    g_free(r->columns);
    g_free(r->counts);
    g_free(r);
}

static bool take_row(int64_t row, int64_t n, const uint32_t *columns, const double *counts, void *data)
{
    struct reading *r = data;
    r->offsets[row + 1] = (uint64_t)n;
    memcpy(r->columns + r->done, columns, sizeof *columns * (size_t)n);
    for (int64_t i = 0; i < n; i++)
        r->counts[r->done + i] = (float)counts[i];
    r->done += n;
    return true;
}

static bool check_origin(const xlm_cooccurrence *file, const char *path, const xlm_resource_origin *origin, GError **error)
{
    if (!xlm_cooccurrence_fits(file, origin->vocabulary))
        return xlm_error_set(error, EX_DATAERR, "%s: made for a corpus with other subwords or languages (digest %016"
                             G_GINT64_MODIFIER "x, here %016" G_GINT64_MODIFIER "x); count in this corpus with xlm_cooc", path,
                             file->corpus_digest, origin->digest);
    return xlm_cooccurrence_check_size(file, origin->vocabulary, error);
}

static struct reading *make_table(const xlm_cooccurrence *file, const char *path, GError **error)
{
    struct reading *r = g_new0(struct reading, 1);
    r->offsets = g_try_new0(uint64_t, file->vocabulary + 1);
    r->columns = g_try_new(uint32_t, MAX(file->entries, 1));
    r->counts = g_try_new(float, MAX(file->entries, 1));
    if (r->offsets != NULL && r->columns != NULL && r->counts != NULL)
        return r;
    xlm_error_set(error, EX_OSERR, "%s: no memory for %" G_GINT64_FORMAT " pairs of subwords, 8 bytes each on every rank; use "
                  "fewer ranks on a node, or count fewer subwords (xlm_cooc --min-count, --max-vocab)", path, file->entries);
    free_table(r);
    return NULL;
}

static void *read_table(const char *path, const xlm_resource_origin *origin, GError **error)
{
    xlm_cooccurrence *file = xlm_cooccurrence_open(path, error);
    struct reading *r = NULL;
    if (file != NULL && check_origin(file, path, origin, error))
        r = make_table(file, path, error);
    if (r != NULL && !xlm_cooccurrence_scan(file, take_row, r, error))
        g_clear_pointer(&r, free_table);
    if (r != NULL) {
        for (int64_t i = 0; i < file->vocabulary; i++)
            r->offsets[i + 1] += r->offsets[i];
        r->table = (xlm_cooccurrence_table){
            .vocabulary = file->vocabulary, .window = file->rule.window, .entries = r->done, .offsets = r->offsets,
            .columns = r->columns, .counts = r->counts,
        };
    }
    xlm_cooccurrence_close(file);
    return r;
}

static uint64_t bytes_of_table(const void *pointer)
{
    const xlm_cooccurrence_table *t = pointer;
    return sizeof *t->offsets * (uint64_t)(t->vocabulary + 1) + (sizeof *t->columns + sizeof *t->counts) * (uint64_t)t->entries;
}

static bool write_table(xlm_store *store, const char *group, const void *pointer, GError **error)
{
    const xlm_cooccurrence_table *t = pointer;
    return xlm_store_write_array(store, group, "offsets", XLM_U64, (uint64_t)t->vocabulary + 1, t->offsets, error) &&
           xlm_store_write_array(store, group, "columns", XLM_U32, (uint64_t)t->entries, t->columns, error) &&
           xlm_store_write_array(store, group, "counts", XLM_F32, (uint64_t)t->entries, t->counts, error);
}

const xlm_resource_reader xlm_cooccurrence_reader = {
    .kind = "cooccurrence",
    .folder = "cooccurrence",
    .read = read_table,
    .free = free_table,
    .bytes = bytes_of_table,
    .write = write_table,
};
