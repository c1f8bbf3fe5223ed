/* xlm-mpi: matrices of pairs' subwords in a file, for heat maps. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/matrix_file.h"

enum { FULL = 1 << 22 /* values of all layers together that are kept before they are written */ };

struct xlm_matrix_file {
    xlm_store *store;
    int64_t first, layers;
    GArray **values;   /* [layers] of float: not written yet */
    uint64_t *written; /* [layers] the row of the dataset where this rank's next values go */
    int64_t kept;
};

static const char *const sides[] = {"source", "target"};

/* ---- shapes and text ---- */

/* The shapes of the matrices, and where their values begin: `base` of this rank's, `all` of all ranks. */
static bool write_shapes(const xlm_comm *comm, xlm_store *store, const xlm_matrix_pairs *text, int64_t *base, int64_t *all,
                         GError **error)
{
    const int64_t pairs = text->pairs;
    g_autofree uint32_t *rows = g_new0(uint32_t, pairs + 1), *columns = g_new0(uint32_t, pairs + 1);
    g_autofree uint64_t *offsets = g_new0(uint64_t, pairs + 1);
    for (int64_t p = 0; p < pairs; p++) {
        const int64_t *source = text->side[0].offsets + p, *target = text->side[1].offsets + p;
        const int64_t n = source[1] - source[0], m = target[1] - target[0];
        if (n > 0 && m > 0 && (text->left_out == NULL || !text->left_out[p])) {
            rows[p] = (uint32_t)n;
            columns[p] = (uint32_t)m;
        }
        offsets[p + 1] = offsets[p] + (uint64_t)rows[p] * columns[p];
    }
    *all = (int64_t)offsets[pairs];
    *base = xlm_comm_sum_below(comm, *all);
    xlm_comm_sum_int64(comm, all, 1);
    return xlm_store_write_parts(store, "/rows", XLM_U32, 0, pairs, rows, error) &&
           xlm_store_write_parts(store, "/columns", XLM_U32, 0, pairs, columns, error) &&
           xlm_store_write_offsets(store, "/offsets", pairs, offsets, error);
}

static bool write_side(xlm_store *store, const xlm_matrix_pairs *text, int s, const xlm_vocabulary *vocabulary, GError **error)
{
    const xlm_matrix_side *side = &text->side[s];
    g_autofree char *group = g_strconcat("/", sides[s], NULL), *offsets = g_strconcat(group, "/offsets", NULL);
    g_autofree char *subwords = g_strconcat(group, "/subwords", NULL), *words = g_strconcat(group, "/words", NULL);
    const int64_t n = side->offsets[text->pairs];
    const char *language = side->language >= 0 ? xlm_vocabulary_language_names(vocabulary)[side->language] : "";
    return xlm_store_write_offsets(store, offsets, text->pairs, (const uint64_t *)side->offsets, error) &&
           xlm_store_write_parts(store, subwords, XLM_I32, 0, n, side->subwords, error) &&
           xlm_store_write_parts(store, words, XLM_I32, 0, n, side->words, error) &&
           xlm_store_set_text(store, group, "language", language, error);
}

/* ---- values ---- */

static char *path_of(const xlm_matrix_file *f, int64_t layer)
{
    return g_strdup_printf("/layer.%" G_GINT64_FORMAT "/values", f->first + layer);
}

static bool make_layers(xlm_matrix_file *f, int64_t base, int64_t all, GError **error)
{
    for (int64_t l = 0; l < f->layers; l++) {
        g_autofree char *path = path_of(f, l);
        if (!xlm_store_dataset(f->store, path, XLM_F32, 1, (const uint64_t *)&all, XLM_STORE_CHECKED, error))
            return false;
        f->written[l] = (uint64_t)base;
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
    *f = (xlm_matrix_file){.store = store, .first = first, .layers = layers};
    f->written = g_new0(uint64_t, layers);
    f->values = g_new(GArray *, layers);
    for (int64_t l = 0; l < layers; l++)
        f->values[l] = g_array_new(FALSE, FALSE, sizeof(float));
    int64_t base, all;
    if (xlm_store_set_format(store, XLM_MATRIX_FILE_FORMAT, XLM_MATRIX_FILE_VERSION, NULL, error) &&
        xlm_vocabulary_save(vocabulary, store, "/vocabulary", comm->rank, error) &&
        write_side(store, pairs, 0, vocabulary, error) && write_side(store, pairs, 1, vocabulary, error) &&
        write_shapes(comm, store, pairs, &base, &all, error) && make_layers(f, base, all, error))
        return f;
    xlm_matrix_file_end(f, false, NULL);
    return NULL;
}

xlm_store *xlm_matrix_file_store(xlm_matrix_file *file) { return file->store; }

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

bool xlm_matrix_file_end(xlm_matrix_file *file, bool good, GError **error)
{
    if (file == NULL)
        return false;
    good = xlm_store_end(file->store, good && xlm_matrix_file_write(file, error), error);
    for (int64_t l = 0; l < file->layers; l++)
        g_array_unref(file->values[l]);
    g_free(file->values);
    g_free(file->written);
    g_free(file);
    return good;
}
