/* xlm-mpi: reading HDF5 files, by one process. SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "store/store_file.h"

/* Bytes through which types are converted. HDF5 clears all of it at every read, and its default is a megabyte. */
enum { CONVERSION_BUFFER = 16 << 10 };

/* ---- opening ---- */

static bool can_be_read(const char *path, GError **error)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    char byte;
    ssize_t got = descriptor >= 0 ? read(descriptor, &byte, 1) : -1;
    int number = got < 0 ? errno : 0;
    if (descriptor >= 0)
        close(descriptor);
    if (number == 0)
        return got > 0 || xlm_error_set(error, EX_DATAERR, "%s: is empty; make it again", path);
    return xlm_error_set(error, number == EACCES ? EX_NOPERM : EX_NOINPUT, "%s: cannot be opened: %s", path,
                         g_strerror(number));
}

/* Values that the wanted type cannot hold are an error, not the nearest value; rounding is what was asked for. */
static H5T_conv_ret_t refuse_overflow(H5T_conv_except_t what, hid_t from, hid_t to, void *source, void *target, void *data)
{
    (void)from, (void)to, (void)source, (void)target;
    if (what == H5T_CONV_EXCEPT_PRECISION || what == H5T_CONV_EXCEPT_TRUNCATE)
        return H5T_CONV_UNHANDLED;
    *(bool *)data = true;
    return H5T_CONV_ABORT;
}

/* The file that is open, whatever has its name by now. */
static bool look_at_file(const xlm_store *store, struct stat *is)
{
    void *descriptor;
    return H5Fget_vfd_handle(store->file, H5P_DEFAULT, &descriptor) >= 0 && fstat(*(const int *)descriptor, is) == 0;
}

bool xlm_store_check_unchanged(xlm_store *store, GError **error)
{
    struct stat now;
    if (!look_at_file(store, &now))
        return true; /* the next reading reports why */
    if (now.st_size != store->opened.st_size)
        return xlm_error_set(error, EX_DATAERR, "%s: was cut short or written over while it was being read: "
                             "it had %" G_GINT64_FORMAT " bytes and has %" G_GINT64_FORMAT "; put it back as it was and start "
                             "again (another file may take the name of one that is being read, as mv does it, but not be written "
                             "into it, as cp does)", store->path, (int64_t)store->opened.st_size, (int64_t)now.st_size);
    if (now.st_mtim.tv_sec != store->opened.st_mtim.tv_sec || now.st_mtim.tv_nsec != store->opened.st_mtim.tv_nsec)
        xlm_log_warn("%s: somebody has touched this file while it is being read, or written into it; if it is not what it was, "
                     "neither is what was read since", store->path);
    store->opened = now;
    return true;
}

xlm_store *store_open(const char *path, const char *name, bool change, GError **error)
{
    xlm_store *store = g_new0(xlm_store, 1);
    store->path = g_strdup(name);
    store->descriptor = -1;
    store->datasets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, store_free_dataset);
    store->file = H5I_INVALID_HID;
    store->transfer = H5Pcreate(H5P_DATASET_XFER);
    if (!store_has_memory(store, error)) {
        xlm_store_close(store);
        return NULL;
    }
    hid_t access = store_access();
    H5Pset_buffer(store->transfer, CONVERSION_BUFFER, NULL, NULL);
    bool ours = H5Fis_hdf5(path) > 0;
    store->file = H5Fopen(path, change ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
    hsize_t size = 0;
    if (store->file < 0 || H5Fget_filesize(store->file, &size) < 0)
        store_error(store, NULL, EX_DATAERR, ours ? "is cut short or damaged" : "is not an HDF5 file", error);
    H5Pclose(access);
    if (size == 0) {
        xlm_store_close(store);
        return NULL;
    }
    store->size = size;
    look_at_file(store, &store->opened);
    return store;
}

xlm_store *xlm_store_open(const char *path, GError **error)
{
    xlm_store *store = can_be_read(path, error) ? store_open(path, path, false, error) : NULL;
    if (store == NULL || store_check_digest(store, error))
        return store;
    xlm_store_close(store);
    return NULL;
}

bool xlm_store_is_hdf5(const char *path)
{
    static const char signature[8] = "\211HDF\r\n\032\n";
    char begin[sizeof signature];
    FILE *file = g_file_test(path, G_FILE_TEST_IS_REGULAR) ? fopen(path, "rb") : NULL;
    if (file == NULL)
        return false;
    const bool is = fread(begin, 1, sizeof begin, file) == sizeof begin && memcmp(begin, signature, sizeof begin) == 0;
    fclose(file);
    return is;
}

bool xlm_store_reseal(const char *path, GError **error)
{
    xlm_store *store = store_open(path, path, true, error);
    return store != NULL && store_set_digest(store, error);
}

bool store_close(xlm_store *store)
{
    g_hash_table_destroy(store->datasets);
    H5Pclose(store->transfer);
    const bool good = store->file < 0 || H5Fclose(store->file) >= 0;
    g_free(store->path);
    g_free(store);
    return good;
}

void xlm_store_close(xlm_store *store)
{
    if (store != NULL)
        store_close(store);
}

const char *xlm_store_path(const xlm_store *store) { return store->path; }

/* ---- what there is ---- */

bool xlm_store_has(const xlm_store *store, const char *path) { return store_exists(store->file, path); }

int xlm_store_shape(const xlm_store *store, const char *path, uint64_t dims[3], GError **error)
{
    const store_dataset *d = store_find(store, path, error);
    if (d == NULL)
        return -1;
    for (int i = 0; i < d->dimensions; i++)
        dims[i] = d->dims[i];
    return d->dimensions;
}

bool xlm_store_read_type(const xlm_store *store, const char *path, xlm_type *type, GError **error)
{
    const store_dataset *d = store_find(store, path, error);
    if (d == NULL)
        return false;
    hid_t theirs = H5Dget_type(d->id);
    bool known = false;
    for (int t = XLM_U8; t <= XLM_F64 && !known; t++) {
        known = H5Tequal(theirs, store_file_type(t)) > 0;
        if (known)
            *type = t;
    }
    H5Tclose(theirs);
    return known || xlm_error_set(error, EX_DATAERR, "%s: %s: has a type of number that is not known here", store->path, path);
}

static herr_t add_name(hid_t group, const char *name, const H5L_info_t *info, void *names)
{
    (void)group, (void)info;
    g_ptr_array_add(names, g_strdup(name));
    return 0;
}

char **xlm_store_list(const xlm_store *store, const char *path, GError **error)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    hsize_t at = 0;
    if (!store_exists(store->file, path) ||
        H5Literate_by_name(store->file, path, H5_INDEX_NAME, H5_ITER_INC, &at, add_name, names, H5P_DEFAULT) < 0) {
        H5Eclear2(H5E_DEFAULT);
        g_ptr_array_free(names, TRUE);
        xlm_error_set(error, EX_DATAERR, "%s: has no group %s", store->path, path);
        return NULL;
    }
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}

/* ---- reading ---- */

bool store_read_rows(const xlm_store *store, const char *path, const store_dataset *d, hid_t memory_type,
                     uint64_t first, uint64_t rows, void *data, GError **error)
{
    if (first > d->dims[0] || rows > d->dims[0] - first)
        return xlm_error_set(error, EX_DATAERR,
                             "%s: %s: rows %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
                             " wanted where there are %" G_GUINT64_FORMAT, store->path, path, first, first + rows,
                             (uint64_t)d->dims[0]);
    if (rows == 0 || d->row_size == 0)
        return true;
    hsize_t start[3] = {first, 0, 0}, count[3] = {rows, d->dims[1], d->dims[2]};
    hid_t memory = H5Screate_simple(d->dimensions, count, NULL);
    H5Sselect_hyperslab(d->space, H5S_SELECT_SET, start, NULL, count, NULL);
    bool overflow = false;
    H5Pset_type_conv_cb(store->transfer, refuse_overflow, &overflow);
    herr_t status = H5Dread(d->id, memory_type, memory, d->space, store->transfer, data);
    bool good = status >= 0;
    if (!good && overflow)
        xlm_error_set(error, EX_DATAERR, "%s: %s: holds values that are too large for what it is used for", store->path, path);
    else if (!good)
        store_error(store, path, EX_DATAERR, "cannot be read; the file or the disk is damaged", error);
    H5Sclose(memory);
    return good;
}

/* Numbers are wanted as what they are: a float where an integer belongs was not written by us. */
static bool check_class(const xlm_store *store, const char *path, const store_dataset *d, xlm_type type, GError **error)
{
    const bool real = type == XLM_F32 || type == XLM_F64;
    const hid_t theirs = H5Dget_type(d->id);
    const bool good = H5Tget_class(theirs) == (real ? H5T_FLOAT : H5T_INTEGER);
    H5Tclose(theirs);
    return good || xlm_error_set(error, EX_DATAERR, "%s: %s: its elements are not %s", store->path, path,
                                 real ? "floating-point numbers" : "integers");
}

bool xlm_store_read(const xlm_store *store, const char *path, xlm_type type, uint64_t first, uint64_t rows, void *data,
                    GError **error)
{
    const store_dataset *d = store_find(store, path, error);
    return d != NULL && check_class(store, path, d, type, error) &&
           store_read_rows(store, path, d, store_memory_type(type), first, rows, data, error);
}

char **xlm_store_read_strings(const xlm_store *store, const char *path, uint64_t *n, GError **error)
{
    const store_dataset *d = store_find(store, path, error);
    if (d == NULL)
        return NULL;
    hid_t type = H5Dget_type(d->id);
    char **strings = NULL;
    if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0 || d->dimensions != 1) {
        xlm_error_set(error, EX_DATAERR, "%s: %s: is not a list of fixed-length strings", store->path, path);
    } else {
        size_t longest = H5Tget_size(type);
        char *table = g_malloc(MAX(d->dims[0], 1) * longest);
        if (store_read_rows(store, path, d, type, 0, d->dims[0], table, error)) {
            *n = d->dims[0];
            strings = g_new0(char *, *n + 1);
            for (uint64_t i = 0; i < *n; i++)
                strings[i] = g_strndup(table + i * longest, longest);
        }
        g_free(table);
    }
    H5Tclose(type);
    return strings;
}
