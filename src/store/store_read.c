/* xlm-mpi: reading HDF5 files, by one process. SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store_file.h"

/* Bytes of the buffer in which types are converted. HDF5's default is a megabyte, and it clears the whole buffer at every
 * read. */
enum { CONVERSION_BUFFER = 16 << 10 };

/* ---- opening ---- */

/* A value that the wanted type cannot hold is an error, and does not become the nearest value. Rounding is allowed. */
static H5T_conv_ret_t refuse_overflow(H5T_conv_except_t what, hid_t from, hid_t to, void *source, void *target, void *data)
{
    (void)from, (void)to, (void)source, (void)target;
    if (what == H5T_CONV_EXCEPT_PRECISION || what == H5T_CONV_EXCEPT_TRUNCATE)
        return H5T_CONV_UNHANDLED;
    *(bool *)data = true;
    return H5T_CONV_ABORT;
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
    return store;
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

static herr_t add_name(hid_t group, const char *name, const H5L_info_t *info, void *names)
{
    (void)group, (void)info;
    g_strv_builder_add(names, name);
    return 0;
}

char **xlm_store_list(const xlm_store *store, const char *path, GError **error)
{
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    hsize_t at = 0;
    if (!store_exists(store->file, path) ||
        H5Literate_by_name(store->file, path, H5_INDEX_NAME, H5_ITER_INC, &at, add_name, names, H5P_DEFAULT) < 0) {
        H5Eclear2(H5E_DEFAULT);
        xlm_error_set(error, EX_DATAERR, "%s: has no group %s", store->path, path);
        return NULL;
    }
    return g_strv_builder_end(names);
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
    hsize_t start[2] = {first, 0}, count[2] = {rows, d->dims[1]};
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

/* ---- arrays ---- */

static bool extent_fits(uint64_t extent, uint64_t wanted)
{
    return wanted >> 63 ? extent <= (wanted & INT64_MAX) : extent == wanted;
}

/* "55", "at most 9", "n" */
static void append_extent(GString *text, uint64_t extent)
{
    if (extent == XLM_ANY)
        g_string_append_c(text, 'n');
    else
        g_string_append_printf(text, "%s%" G_GUINT64_FORMAT, extent >> 63 ? "at most " : "", extent & INT64_MAX);
}

static bool refuse_shape(const xlm_store *store, const char *path, const store_dataset *d, const xlm_array *wanted,
                         GError **error)
{
    g_autoptr(GString) is = g_string_new(""), belongs = g_string_new("");
    for (int i = 0; i < d->dimensions; i++)
        g_string_append_printf(is, "%s%" G_GUINT64_FORMAT, i > 0 ? " x " : "", (uint64_t)d->dims[i]);
    append_extent(belongs, wanted->rows);
    if (wanted->columns > 0) {
        g_string_append(belongs, " x ");
        append_extent(belongs, wanted->columns);
    }
    xlm_error_set(error, EX_DATAERR, "%s: %s: its shape is %s, where %s belongs; the file is damaged, or was not made for this",
                  store->path, path, is->str, belongs->str);
    return false;
}

/* The dataset, if it has the type and shape of `array`. Integers are not read as floats, nor floats as integers: such a file was
 * not written by this program. */
static const store_dataset *find_array(const xlm_store *store, const char *path, const xlm_array *array, GError **error)
{
    const bool real = array->type == XLM_F32 || array->type == XLM_F64;
    const store_dataset *d = store_find(store, path, error);
    if (d == NULL)
        return NULL;
    if (d->class != (real ? H5T_FLOAT : H5T_INTEGER)) {
        xlm_error_set(error, EX_DATAERR, "%s: %s: its elements are not %s", store->path, path,
                      real ? "floating-point numbers" : "integers");
        return NULL;
    }
    const bool flat = array->columns == 0 || (array->columns == XLM_ANY && d->dimensions == 1);
    if (!extent_fits(d->dims[0], array->rows) || d->dimensions != (flat ? 1 : 2) ||
        (!flat && (d->dims[1] == 0 || !extent_fits(d->dims[1], array->columns)))) {
        refuse_shape(store, path, d, array, error);
        return NULL;
    }
    return d;
}

bool xlm_store_shape(const xlm_store *store, const char *path, xlm_array *array, GError **error)
{
    const store_dataset *d = find_array(store, path, array, error);
    if (d == NULL)
        return false;
    array->rows = d->dims[0];
    array->columns = d->dimensions == 2 ? d->dims[1] : 0;
    return true;
}

bool xlm_store_type(const xlm_store *store, const char *path, xlm_type *type, GError **error)
{
    const store_dataset *d = store_find(store, path, error);
    if (d == NULL)
        return false;
    const hid_t there = H5Dget_type(d->id);
    const bool is_signed = d->class == H5T_INTEGER && H5Tget_sign(there) != H5T_SGN_NONE;
    H5Tclose(there);
    for (int t = XLM_U8; t <= XLM_F64; t++) {
        const bool real = t == XLM_F32 || t == XLM_F64, below_zero = t == XLM_I32 || t == XLM_I64;
        if (d->class == (real ? H5T_FLOAT : H5T_INTEGER) && d->element == xlm_type_size((xlm_type)t) && is_signed == below_zero) {
            *type = (xlm_type)t;
            return true;
        }
    }
    return xlm_error_set(error, EX_DATAERR, "%s: %s: its elements are not numbers of a type that is read", store->path, path);
}

bool xlm_store_read(const xlm_store *store, const char *path, xlm_array array, uint64_t first, uint64_t rows, void *data,
                    GError **error)
{
    const store_dataset *d = find_array(store, path, &array, error);
    return d != NULL && store_read_rows(store, path, d, store_memory_type(array.type), first, rows, data, error);
}

void *xlm_store_read_all(const xlm_store *store, const char *path, xlm_array *array, GError **error)
{
    if (!xlm_store_shape(store, path, array, error))
        return NULL;
    void *data = g_malloc_n(MAX(array->rows, 1), MAX(array->columns, 1) * xlm_type_size(array->type));
    if (!xlm_store_read(store, path, *array, 0, array->rows, data, error))
        g_clear_pointer(&data, g_free);
    return data;
}

/* ---- strings ---- */

char **xlm_store_read_strings(const xlm_store *store, const char *path, uint64_t max_strings, uint64_t *n, GError **error)
{
    const store_dataset *d = store_find(store, path, error);
    if (d == NULL)
        return NULL;
    if (d->class != H5T_STRING || d->dimensions != 1) {
        xlm_error_set(error, EX_DATAERR, "%s: %s: is not a list of fixed-length strings", store->path, path);
        return NULL;
    }
    if (d->dims[0] > max_strings) {
        refuse_shape(store, path, d, &(xlm_array){.rows = XLM_UP_TO(max_strings)}, error);
        return NULL;
    }
    const hid_t type = H5Dget_type(d->id);
    const uint64_t number = d->dims[0];
    char **strings = NULL, *table = g_malloc_n(MAX(number, 1), d->element);
    if (store_read_rows(store, path, d, type, 0, number, table, error)) {
        strings = g_new0(char *, number + 1);
        for (uint64_t i = 0; i < number; i++)
            strings[i] = g_strndup(table + i * d->element, d->element);
        if (n != NULL)
            *n = number;
    }
    g_free(table);
    H5Tclose(type);
    return strings;
}
