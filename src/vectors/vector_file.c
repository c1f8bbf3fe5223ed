/* xlm-mpi: files of vectors, for other programs. SPDX-License-Identifier: GPL-3.0-or-later */
#include "vectors/vector_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "files/files.h"
#include "files/new_file.h"
#include "store/store.h"

static const char FORMAT[] = "xlm-mpi vectors";
enum { XLM_VECTOR_FILE_VERSION = 1 };
enum { WIDEST = 1 << 20 }; /* numbers of a vector */

struct xlm_vector_file {
    char *path;         /* NULL: standard output */
    FILE *text;         /* NULL: HDF5 */
    xlm_new_file whole; /* of text with a path */
    xlm_store *store;
    int64_t width, rows;
    GPtrArray *names;   /* of HDF5: copies; NULL without names */
};

static void free_file(xlm_vector_file *file)
{
    if (file->names != NULL)
        g_ptr_array_unref(file->names);
    g_free(file->path);
    g_free(file);
}

/* n: number of vectors; with XLM_STORE_GROWING in flags more may follow. On failure nothing is left. */
static xlm_store *open_store(const xlm_comm *comm, const char *path, int64_t n, int64_t width, int flags, GError **error)
{
    const uint64_t dims[2] = {(uint64_t)n, (uint64_t)width};
    const bool growing = flags & XLM_STORE_GROWING;
    xlm_store *store = xlm_store_create_sized(comm, path, growing ? UINT64_MAX : sizeof(float) * dims[0] * dims[1], error);
    if (store != NULL && !(xlm_store_set_format(store, FORMAT, XLM_VECTOR_FILE_VERSION, NULL, error) &&
                           xlm_store_dataset(store, "/vectors", XLM_F32, 2, dims, flags | XLM_STORE_CHECKED, error)))
        g_clear_pointer(&store, xlm_store_discard);
    return store;
}

/* A file that takes a thousand times the room of its words may be what is wanted: no error. */
static bool write_words(xlm_store *store, uint64_t n, const char *const *words, GError **error)
{
    enum { LONG = 1000 }; /* as of subwords in xlm_prep */
    size_t longest = 0;
    for (uint64_t i = 0; i < n; i++) {
        const size_t size = strlen(words[i]);
        longest = MAX(longest, size);
    }
    if (longest > LONG)
        xlm_log_warn("the longest word has %zu bytes, and in the file each of the %" G_GUINT64_FORMAT " takes as many: %.1f MB",
                     longest, n, (double)longest * (double)n / 1e6);
    return xlm_store_write_strings(store, "/words", n, words, error);
}

xlm_store *xlm_vector_store_create(const xlm_comm *comm, const char *path, int64_t n, int64_t width, const char *const *words,
                                   const char *command, GError **error)
{
    xlm_store *store = open_store(comm, path, n, width, 0, error);
    if (store != NULL && !(xlm_store_set_text(store, "/", "command", command, error) &&
                           (words == NULL || write_words(store, (uint64_t)n, words, error))))
        g_clear_pointer(&store, xlm_store_discard);
    return store;
}

bool xlm_vector_store_is(const char *path)
{
    g_autofree char *format = xlm_files_is_hdf5(path) ? xlm_store_format(path) : NULL;
    return g_strcmp0(format, FORMAT) == 0;
}

xlm_store *xlm_vector_store_open(const char *path, xlm_array *array, char ***words, GError **error)
{
    g_autoptr(xlm_store) store = xlm_store_open(path, error);
    uint64_t names = 0;
    *array = (xlm_array){XLM_F32, XLM_ANY, XLM_UP_TO(WIDEST)};
    *words = NULL;
    if (store == NULL || !xlm_store_check_format(store, FORMAT, XLM_VECTOR_FILE_VERSION, "a file of vectors", "xlm_embed export", error) ||
        !xlm_store_shape(store, "/vectors", array, error))
        return NULL;
    if (xlm_store_has(store, "/words") && (*words = xlm_store_read_strings(store, "/words", INT32_MAX, &names, error)) == NULL)
        return NULL;
    if (*words == NULL || names == array->rows)
        return g_steal_pointer(&store);
    xlm_error_set(error, EX_DATAERR, "%s: /vectors and /words are not of the same number; the file is damaged", path);
    g_clear_pointer(words, g_strfreev);
    return NULL;
}

static bool failed(const xlm_vector_file *file, GError **error)
{
    return xlm_error_set(error, EX_IOERR, "%s: cannot be written: %s", file->path != NULL ? file->path : "standard output",
                         errno != 0 ? g_strerror(errno) : "not all could be written");
}

bool xlm_vector_file_is_text(const char *path)
{
    return path == NULL || !(g_str_has_suffix(path, ".h5") || g_str_has_suffix(path, ".hdf5"));
}

xlm_vector_file *xlm_vector_file_create(const char *path, int64_t n, int64_t width, GError **error)
{
    xlm_vector_file *file = g_new0(xlm_vector_file, 1);
    file->path = g_strdup(path);
    file->width = width;
    const bool hdf5 = !xlm_vector_file_is_text(path);
    if (hdf5 && n >= 0)
        file->names = g_ptr_array_new_with_free_func(g_free);
    if (path == NULL)
        file->text = stdout;
    else if (hdf5 ? (file->store = open_store(NULL, path, 0, width, XLM_STORE_GROWING, error)) == NULL
                  : !xlm_new_file_create(&file->whole, path, error)) {
        free_file(file);
        return NULL;
    }
    if (file->whole.stream != NULL)
        file->text = file->whole.stream;
    if (file->text != NULL && n >= 0)
        fprintf(file->text, "%" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n", n, width);
    return file;
}

bool xlm_vector_file_describe(xlm_vector_file *file, const char *name, const char *value, GError **error)
{
    return file->store == NULL || xlm_store_set_text(file->store, "/", name, value, error);
}

bool xlm_vector_file_describe_number(xlm_vector_file *file, const char *name, int64_t value, GError **error)
{
    return file->store == NULL || xlm_store_set_int(file->store, "/", name, value, error);
}

static bool add_text(xlm_vector_file *file, int64_t n, const char *const *names, const float *vectors, GError **error)
{
    char number[32];
    errno = 0;
    for (int64_t i = 0; i < n; i++) {
        if (names != NULL)
            fputs(names[i], file->text);
        for (int64_t c = 0; c < file->width; c++) {
            if (names != NULL || c > 0)
                putc(' ', file->text);
            fputs(g_ascii_formatd(number, sizeof number, "%.9g", (double)vectors[i * file->width + c]), file->text);
        }
        putc('\n', file->text);
    }
    return !ferror(file->text) || failed(file, error);
}

bool xlm_vector_file_add(xlm_vector_file *file, int64_t n, const char *const *names, const float *vectors, GError **error)
{
    const int64_t first = file->rows;
    file->rows += n;
    if (file->store == NULL)
        return add_text(file, n, names, vectors, error);
    for (int64_t i = 0; file->names != NULL && i < n; i++)
        g_ptr_array_add(file->names, g_strdup(names[i]));
    return xlm_store_extend(file->store, "/vectors", (uint64_t)file->rows, error) &&
           xlm_store_write(file->store, "/vectors", (uint64_t)first, (uint64_t)n, vectors, error);
}

static bool commit_store(xlm_vector_file *file, GError **error)
{
    const bool good = file->names == NULL ||
                      write_words(file->store, file->names->len, (const char *const *)file->names->pdata, error);
    return xlm_store_end(file->store, good, error);
}

static bool commit_text(xlm_vector_file *file, GError **error)
{
    errno = 0;
    if (file->path != NULL)
        return xlm_new_file_commit(&file->whole, error);
    return (fflush(file->text) == 0 && !ferror(file->text)) || failed(file, error);
}

bool xlm_vector_file_commit(xlm_vector_file *file, GError **error)
{
    const bool good = file->store != NULL ? commit_store(file, error) : commit_text(file, error);
    free_file(file);
    return good;
}

void xlm_vector_file_discard(xlm_vector_file *file)
{
    if (file == NULL)
        return;
    if (file->store != NULL)
        xlm_store_discard(file->store);
    else if (file->path != NULL)
        xlm_new_file_discard(&file->whole);
    free_file(file);
}
