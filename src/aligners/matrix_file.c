/* xlm-mpi: matrices of pairs' subwords in a file, for heat maps. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/matrix_file.h"

enum { FULL = 1 << 22 /* values of all layers together that are kept before they are written */ };

struct xlm_matrix_file {
    xlm_store *store;
    int64_t first, layers;
    GArray **values;  /* [layers] of float: not written yet */
    uint64_t *written; /* [layers] where the next of this rank go */
    int64_t kept;
};

static const char *const sides[] = {"source", "target"};

/* ---- shapes and text ---- */

/* Offsets of this rank's items; the last rank adds the end, which is the number of all. counts[n]. */
static bool write_offsets(const xlm_comm *comm, xlm_store *store, const char *path, const xlm_matrix_pairs *text,
                          const int64_t *counts, uint64_t *base, uint64_t *all, GError **error)
{
    const bool last = comm->rank == comm->ranks - 1;
    int64_t own = 0, total;
    for (int64_t p = 0; p < text->pairs; p++)
        own += counts[p];
    total = own;
    xlm_comm_sum_int64(comm, &total, 1);
    *base = (uint64_t)xlm_comm_sum_below(comm, own);
    *all = (uint64_t)total;
    g_autofree uint64_t *offsets = g_new(uint64_t, text->pairs + 1);
    uint64_t at = *base;
    for (int64_t p = 0; p < text->pairs; p++) {
        offsets[p] = at;
        at += (uint64_t)counts[p];
    }
    offsets[text->pairs] = at;
    const uint64_t dims[1] = {(uint64_t)text->all + 1};
    return xlm_store_dataset(store, path, XLM_U64, 1, dims, XLM_STORE_CHECKED, error) &&
           xlm_store_write(store, path, (uint64_t)text->first, (uint64_t)(text->pairs + last), offsets, error);
}

static bool write_numbers(xlm_store *store, const char *group, const char *name, xlm_type type, uint64_t all, uint64_t first,
                          uint64_t n, const void *values, GError **error)
{
    g_autofree char *path = g_strconcat(group, "/", name, NULL);
    return xlm_store_dataset(store, path, type, 1, &all, XLM_STORE_CHECKED, error) &&
           xlm_store_write(store, path, first, n, values, error);
}

static int64_t subwords_of(const xlm_matrix_pairs *text, int side, int64_t pair)
{
    return text->side[side].offsets[pair + 1] - text->side[side].offsets[pair];
}

/* Shapes of the matrices, and where they begin. */
static bool write_shapes(const xlm_comm *comm, xlm_store *store, const xlm_matrix_pairs *text, uint64_t *base, uint64_t *all,
                         GError **error)
{
    const uint64_t pairs = (uint64_t)text->pairs, first = (uint64_t)text->first;
    g_autofree uint32_t *rows = g_new0(uint32_t, pairs + 1), *columns = g_new0(uint32_t, pairs + 1);
    g_autofree int64_t *counts = g_new0(int64_t, pairs + 1);
    for (int64_t p = 0; p < text->pairs; p++) {
        const int64_t n = subwords_of(text, 0, p), m = subwords_of(text, 1, p);
        if (n == 0 || m == 0 || (text->left_out != NULL && text->left_out[p]))
            continue;
        counts[p] = n * m;
        rows[p] = (uint32_t)n;
        columns[p] = (uint32_t)m;
    }
    return write_numbers(store, "", "rows", XLM_U32, (uint64_t)text->all, first, pairs, rows, error) &&
           write_numbers(store, "", "columns", XLM_U32, (uint64_t)text->all, first, pairs, columns, error) &&
           write_offsets(comm, store, "/offsets", text, counts, base, all, error);
}

static bool write_side(const xlm_comm *comm, xlm_store *store, const xlm_matrix_pairs *text, int s, const xlm_vocabulary *vocabulary,
                       GError **error)
{
    const xlm_matrix_side *side = &text->side[s];
    g_autofree char *group = g_strconcat("/", sides[s], NULL), *path = g_strconcat(group, "/offsets", NULL);
    g_autofree int64_t *counts = g_new(int64_t, text->pairs + 1);
    for (int64_t p = 0; p < text->pairs; p++)
        counts[p] = subwords_of(text, s, p);
    const uint64_t own = (uint64_t)side->offsets[text->pairs];
    uint64_t base, all;
    const char *language = side->language >= 0 ? xlm_vocabulary_language_names(vocabulary)[side->language] : "";
    return write_offsets(comm, store, path, text, counts, &base, &all, error) &&
           write_numbers(store, group, "subwords", XLM_I32, all, base, own, side->subwords, error) &&
           write_numbers(store, group, "words", XLM_I32, all, base, own, side->words, error) &&
           xlm_store_set_text(store, group, "language", language, error);
}

/* ---- values ---- */

static char *path_of(const xlm_matrix_file *f, int64_t layer)
{
    return g_strdup_printf("/layer.%" G_GINT64_FORMAT "/values", f->first + layer);
}

static bool make_layers(xlm_matrix_file *f, uint64_t base, uint64_t all, GError **error)
{
    for (int64_t l = 0; l < f->layers; l++) {
        g_autofree char *path = path_of(f, l);
        if (!xlm_store_dataset(f->store, path, XLM_F32, 1, &all, XLM_STORE_CHECKED, error))
            return false;
        f->written[l] = base;
    }
    return true;
}

xlm_matrix_file *xlm_matrix_file_create(const xlm_comm *comm, const char *path, const xlm_matrix_pairs *pairs,
                                        const xlm_vocabulary *vocabulary, int64_t first, int64_t layers, GError **error)
{
    xlm_store *store = xlm_store_create(comm, path, error);
    if (store == NULL)
        return NULL;
    xlm_matrix_file *f = g_new0(xlm_matrix_file, 1);
    *f = (xlm_matrix_file){.store = store, .first = first, .layers = layers, .values = g_new(GArray *, layers),
                           .written = g_new0(uint64_t, layers)};
    for (int64_t l = 0; l < layers; l++)
        f->values[l] = g_array_new(FALSE, FALSE, sizeof(float));
    uint64_t base, all;
    if (xlm_store_set_format(store, XLM_MATRIX_FILE_FORMAT, XLM_MATRIX_FILE_VERSION, NULL, error) &&
        xlm_vocabulary_save(vocabulary, store, "/vocabulary", comm->rank, error) &&
        write_side(comm, store, pairs, 0, vocabulary, error) && write_side(comm, store, pairs, 1, vocabulary, error) &&
        write_shapes(comm, store, pairs, &base, &all, error) && make_layers(f, base, all, error))
        return f;
    xlm_matrix_file_discard(f);
    return NULL;
}

bool xlm_matrix_file_describe(xlm_matrix_file *file, const char *name, const char *value, GError **error)
{
    return xlm_store_set_text(file->store, "/", name, value, error);
}

bool xlm_matrix_file_describe_number(xlm_matrix_file *file, const char *name, int64_t value, GError **error)
{
    return xlm_store_set_int(file->store, "/", name, value, error);
}

void xlm_matrix_file_add(xlm_matrix_file *file, int64_t layer, int64_t n, const float *values)
{
    g_array_append_vals(file->values[layer], values, (guint)n);
    file->kept += n;
}

bool xlm_matrix_file_full(const xlm_matrix_file *file) { return file->kept >= FULL; }

bool xlm_matrix_file_write(xlm_matrix_file *file, GError **error)
{
    bool good = true;
    for (int64_t l = 0; l < file->layers && good; l++) {
        g_autofree char *path = path_of(file, l);
        const uint64_t n = file->values[l]->len;
        good = xlm_store_write(file->store, path, file->written[l], n, file->values[l]->data, error);
        file->written[l] += n;
        g_array_set_size(file->values[l], 0);
    }
    file->kept = 0;
    return good;
}

static void free_file(xlm_matrix_file *file)
{
    for (int64_t l = 0; l < file->layers; l++)
        g_array_unref(file->values[l]);
    g_free(file->values);
    g_free(file->written);
    g_free(file);
}

bool xlm_matrix_file_commit(xlm_matrix_file *file, GError **error)
{
    const bool good = xlm_store_commit(file->store, error);
    free_file(file);
    return good;
}

void xlm_matrix_file_discard(xlm_matrix_file *file)
{
    if (file == NULL)
        return;
    xlm_store_discard(file->store);
    free_file(file);
}
