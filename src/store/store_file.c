/* xlm-mpi: types, handles and errors of HDF5 files. SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store_file.h"

#include <string.h>

#include "base/exhaustion.h"

const char *xlm_store_library(void)
{
    static char text[32];
    unsigned major, minor, release;
    H5get_libversion(&major, &minor, &release);
    g_snprintf(text, sizeof text, "HDF5 %u.%u.%u", major, minor, release);
    return text;
}

size_t xlm_type_size(xlm_type type)
{
    static const size_t sizes[] = {1, 2, 4, 8, 4, 8, 4, 8};
    return sizes[type];
}

hid_t store_memory_type(xlm_type type)
{
    switch (type) {
    case XLM_U8: return H5T_NATIVE_UINT8;
    case XLM_U16: return H5T_NATIVE_UINT16;
    case XLM_U32: return H5T_NATIVE_UINT32;
    case XLM_U64: return H5T_NATIVE_UINT64;
    case XLM_I32: return H5T_NATIVE_INT32;
    case XLM_I64: return H5T_NATIVE_INT64;
    case XLM_F32: return H5T_NATIVE_FLOAT;
    case XLM_F64: return H5T_NATIVE_DOUBLE;
    }
    return H5I_INVALID_HID;
}

hid_t store_file_type(xlm_type type)
{
    switch (type) {
    case XLM_U8: return H5T_STD_U8LE;
    case XLM_U16: return H5T_STD_U16LE;
    case XLM_U32: return H5T_STD_U32LE;
    case XLM_U64: return H5T_STD_U64LE;
    case XLM_I32: return H5T_STD_I32LE;
    case XLM_I64: return H5T_STD_I64LE;
    case XLM_F32: return H5T_IEEE_F32LE;
    case XLM_F64: return H5T_IEEE_F64LE;
    }
    return H5I_INVALID_HID;
}

hid_t store_text_type(size_t size, H5T_cset_t set, H5T_str_t end)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, MAX(size, 1));
    H5Tset_cset(type, set);
    H5Tset_strpad(type, end);
    return type;
}

bool store_type_is_known(hid_t type)
{
    const H5T_class_t class = H5Tget_class(type);
    if (class == H5T_STRING)
        return H5Tis_variable_str(type) == 0 && H5Tget_strpad(type) != H5T_STR_SPACEPAD;
    bool known = false;
    for (int t = XLM_U8; t <= XLM_F64 && !known; t++)
        known = H5Tequal(type, store_file_type(t)) > 0;
    return known;
}

hid_t store_access(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* errors go into our messages */
#if !H5_VERSION_GE(1, 10, 7)
    g_setenv("HDF5_USE_FILE_LOCKING", "FALSE", FALSE);
#endif
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
#if H5_VERSION_GE(1, 10, 7)
    /* Files under a final name are never written to, so a lock protects nothing, and many cluster file systems have none. */
    H5Pset_file_locking(access, false, true);
#endif
    return access;
}

bool store_has_memory(const xlm_store *store, GError **error)
{
    const uint64_t wanted = (uint64_t)32 << 20, left = xlm_address_space_left();
    return left >= wanted || xlm_error_set(error, EX_OSERR, "%s: of its limit on address space the program has %" G_GUINT64_FORMAT
                                           " MiB left, too little for HDF5; raise the limit (ulimit -v)", store->path,
                                           left >> 20);
}

/* ---- errors ---- */

struct reason {
    char *text;
    int rank; /* its usefulness: 0 the innermost description, 1 from MPI, 2 a wrong checksum, 3 from the operating system */
};

static void offer_reason(struct reason *reason, int rank, char *text)
{
    if (text[0] != '\0' && rank > reason->rank) {
        g_free(reason->text);
        reason->text = text;
        reason->rank = rank;
    } else {
        g_free(text);
    }
}

/* Called for each record, the innermost first. The operating system's message is inside a longer text: error message = 'No space
 * left on device'. A filter has failed while data were read where the record is that of the filter pipeline: Fletcher-32 is the only
 * filter of our files (check_filters), and it fails only where the checksum is wrong. What HDF5 says of it depends on its version:
 * 1.14 drops the filter's own record. Of a short count, which is all that OMPIO tells of an error, HDF5 says that writing failed. */
static herr_t read_error_record(unsigned n, const H5E_error2_t *record, void *data)
{
    struct reason *reason = data;
    const char *text = record->desc != NULL ? record->desc : "";
    const char *quoted = strstr(text, "error message = '"), *end = NULL;
    if (quoted != NULL) {
        quoted += strlen("error message = '");
        end = strchr(quoted, '\'');
    }
    if (end != NULL)
        offer_reason(reason, 3, g_strndup(quoted, end - quoted));
    else if (record->maj_num == H5E_PLINE && record->min_num == H5E_READERROR)
        offer_reason(reason, 2, g_strdup("the data do not match their Fletcher-32 checksum"));
    else if (strstr(text, "MPI_ERR_") != NULL)
        offer_reason(reason, 1, g_strndup(strstr(text, "MPI_ERR_"), strcspn(strstr(text, "MPI_ERR_"), "'")));
    else if (n == 0 && strcmp(text, "file write failed") == 0)
        offer_reason(reason, 0, g_strdup("not all of it was taken; look for a full disk, a quota or a limit on file sizes "
                                         "(ulimit -f)"));
    else if (n == 0)
        offer_reason(reason, 0, g_strdup(text));
    return 0;
}

bool store_error(const xlm_store *store, const char *object, int exit_code, const char *what, GError **error)
{
    struct reason reason = {NULL, -1};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, read_error_record, &reason);
    H5Eclear2(H5E_DEFAULT);
    xlm_error_set(error, exit_code, "%s: %s%s%s%s%s", store->path, object != NULL ? object : "",
                  object != NULL ? ": " : "", what, reason.text != NULL ? ": " : "",
                  reason.text != NULL ? reason.text : "");
    g_free(reason.text);
    return false;
}

/* ---- handles ---- */

void store_free_dataset(void *dataset)
{
    g_autofree store_dataset *d = dataset;
    if (d->space >= 0)
        H5Sclose(d->space);
    if (d->id >= 0)
        H5Dclose(d->id);
}

bool store_exists(hid_t file, const char *path)
{
    if (path[0] != '/')
        return false;
    /* An error is returned if a group on the way is missing; the root has no link. */
    const bool there = path[1] == '\0' || H5Lexists(file, path, H5P_DEFAULT) > 0;
    H5Eclear2(H5E_DEFAULT);
    return there;
}

/* Fletcher-32 is the only filter that this program uses. Others are refused: they may expand a small file without limit, or load
 * code of plugins. */
static bool check_filters(const xlm_store *store, const char *path, hid_t properties, GError **error)
{
    for (int i = 0; i < H5Pget_nfilters(properties); i++) {
        unsigned flags;
        size_t values = 0;
        char name[32] = "";
        if (H5Pget_filter2(properties, (unsigned)i, &flags, &values, NULL, sizeof name, name, NULL) != H5Z_FILTER_FLETCHER32)
            return xlm_error_set(error, EX_DATAERR, "%s: %s: was written through the filter \"%s\", which this program does not "
                                 "use", store->path, path, name);
    }
    return true;
}

/* *size *= factor, unless the result exceeds the maximum. */
static bool multiply(uint64_t *size, uint64_t factor, uint64_t max_size)
{
    if (factor > 0 && *size > max_size / factor)
        return false;
    *size *= factor;
    return true;
}

/* Is every chunk in the file? A missing one would be read as whatever was in memory. */
static bool has_all_chunks(const store_dataset *d)
{
#if H5_VERSION_GE(1, 10, 5)
    hsize_t expected = 1, there = 0;
    for (int i = 0; i < d->dimensions; i++)
        expected *= (d->dims[i] + d->chunk[i] - 1) / d->chunk[i];
    return H5Dget_num_chunks(d->id, d->space, &there) >= 0 && there == expected;
#else
    return H5Dget_storage_size(d->id) >= d->dims[0] * d->row_size;
#endif
}

/* Check where and how elements are stored, and set the extents of chunks. */
static bool check_layout(const xlm_store *store, const char *path, store_dataset *d, hid_t properties, GError **error)
{
    const H5D_layout_t layout = H5Pget_layout(properties);
    uint64_t chunk = d->element;
    if (layout == H5D_VIRTUAL || H5Pget_external_count(properties) != 0)
        return xlm_error_set(error, EX_DATAERR, "%s: %s: has its elements in another file", store->path, path);
    if (!check_filters(store, path, properties, error))
        return false;
    if (layout != H5D_CHUNKED)
        return true;
    bool good = H5Pget_chunk(properties, d->dimensions, d->chunk) == d->dimensions;
    for (int i = 0; i < d->dimensions && good; i++)
        good = d->chunk[i] > 0 && multiply(&chunk, d->chunk[i], store->size);
    return good || d->dims[0] == 0 || /* chunks of growing datasets may be larger than a file without rows */
           xlm_error_set(error, EX_DATAERR, "%s: %s: has chunks that are larger than the file of %" G_GUINT64_FORMAT " bytes; "
                         "the file is damaged", store->path, path, store->size);
}

/* A file may claim anything about its arrays, but it cannot hold more than its size. This is checked before any memory is
 * allocated for them. */
static bool check_storage(const xlm_store *store, const char *path, store_dataset *d, GError **error)
{
    const hid_t properties = H5Dget_create_plist(d->id);
    const bool good = check_layout(store, path, d, properties, error), compact = H5Pget_layout(properties) == H5D_COMPACT;
    H5Pclose(properties);
    if (!good)
        return false;
    uint64_t size = d->element;
    bool fits = true;
    for (int i = d->dimensions - 1; i >= 0; i--) {
        fits = fits && multiply(&size, d->dims[i], store->size);
        if (i == 1)
            d->row_size = size;
    }
    /* Rows without columns take no bytes, so any number of them would fit, and readers go through all. */
    if (d->row_size == 0)
        fits = d->dims[0] <= store->size;
    if (fits && size > 0)
        fits = d->chunk[0] > 0 ? has_all_chunks(d) : compact || H5Dget_storage_size(d->id) == size;
    return fits || xlm_error_set(error, EX_DATAERR, "%s: %s: says that it has more elements than the file of %" G_GUINT64_FORMAT
                                 " bytes holds; the file is damaged", store->path, path, store->size);
}

/* Add an open dataset to the table. Takes ownership of id, also on failure. */
static store_dataset *add_dataset(const xlm_store *store, const char *path, hid_t id, GError **error)
{
    store_dataset *d = g_new0(store_dataset, 1);
    d->id = id;
    d->space = H5Dget_space(id);
    d->dimensions = H5Sget_simple_extent_ndims(d->space);
    if (d->dimensions < 1 || d->dimensions > 2) {
        xlm_error_set(error, EX_DATAERR, "%s: %s: is not an array of one or two dimensions", store->path, path);
        store_free_dataset(d);
        return NULL;
    }
    H5Sget_simple_extent_dims(d->space, d->dims, NULL);
    hid_t type = H5Dget_type(id);
    d->row_size = d->element = H5Tget_size(type);
    d->class = H5Tget_class(type);
    H5Tclose(type);
    if (!check_storage(store, path, d, error)) {
        store_free_dataset(d);
        return NULL;
    }
    g_hash_table_insert(store->datasets, g_strdup(path), d);
    return d;
}

store_dataset *store_find(const xlm_store *store, const char *path, GError **error)
{
    store_dataset *d = g_hash_table_lookup(store->datasets, path);
    if (d != NULL)
        return d;
    if (!store_exists(store->file, path)) {
        xlm_error_set(error, EX_DATAERR, "%s: has no %s; it was not made for this, or by another version", store->path,
                      path);
        return NULL;
    }
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk_cache(access, 31, (size_t)128 << 10, 1.0);
    hid_t id = H5Dopen2(store->file, path, access);
    H5Pclose(access);
    if (id < 0) {
        store_error(store, path, EX_DATAERR, "cannot be opened", error);
        return NULL;
    }
    return add_dataset(store, path, id, error);
}
