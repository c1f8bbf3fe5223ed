/* xlm-mpi: HDF5 files written by all ranks together: datasets. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "store/store_file.h"

/* Bytes of a chunk, which has one checksum and is always read as a whole. Short rows are values such as tokens, which are read at
 * random, some hundred at a time; long rows belong to matrices, which are read as a whole. */
enum { SHORT_ROW = 64 }; /* bytes */
static const size_t CHUNK_OF_SHORT_ROWS = (size_t)16 << 10, CHUNK_OF_LONG_ROWS = (size_t)256 << 10;

/* Is there a group or a dataset of this path? HDF5, which walks the whole path, is asked once for each. */
static bool is_there(xlm_store *store, const char *path)
{
    if (g_hash_table_contains(store->groups, path) || g_hash_table_contains(store->datasets, path))
        return true;
    if (!store_exists(store->file, path))
        return false;
    g_hash_table_add(store->groups, g_strdup(path));
    return true;
}

/* Make the groups above an object, and if `whole` the object itself as a group, unless they exist. */
static bool make_groups(xlm_store *store, const char *path, bool whole, GError **error)
{
    g_autofree char *part = g_strdup(path);
    bool good = true;
    hid_t properties = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_obj_track_times(properties, false);
    for (char *end = part; good && end != NULL && end[1] != '\0';) {
        end = strchr(end + 1, '/');
        if (end == NULL && !whole)
            break;
        if (end != NULL)
            *end = '\0';
        if (!is_there(store, part)) {
            hid_t group = H5Gcreate2(store->file, part, H5P_DEFAULT, properties, H5P_DEFAULT);
            good = group >= 0 || store_give_up(store, part, "cannot be made", error);
            if (group >= 0)
                H5Gclose(group);
        }
        if (end != NULL)
            *end = '/';
    }
    H5Pclose(properties);
    return good;
}

bool store_make_group(xlm_store *store, const char *path, GError **error)
{
    return !store->writes || make_groups(store, path, true, error);
}

/* Choose the extents of a chunk: whole rows if they fit, else a part of one row. Chunks have nearly equal sizes, so that little
 * space is wasted in the last one. */
static void choose_chunk(store_dataset *d, bool growing)
{
    uint64_t room = MAX((d->row_size <= SHORT_ROW ? CHUNK_OF_SHORT_ROWS : CHUNK_OF_LONG_ROWS) / d->element, 1);
    for (int i = d->dimensions - 1; i >= 0; i--) {
        d->chunk[i] = room;
        if (!(growing && i == 0)) {
            uint64_t extent = MAX(d->dims[i], 1), chunks = (extent + room - 1) / room;
            d->chunk[i] = (extent + chunks - 1) / chunks;
        }
        room = MAX(room / d->chunk[i], 1);
    }
}

/* Bytes that `rows` rows take in the file: whole chunks with their checksums, and the index of the chunks. */
static uint64_t storage_size(const store_dataset *d, uint64_t rows)
{
    if (d->chunk[0] == 0)
        return rows * d->row_size;
    uint64_t chunks = (rows + d->chunk[0] - 1) / d->chunk[0], size = d->element * d->chunk[0];
    for (int i = 1; i < d->dimensions; i++) {
        chunks *= (d->dims[i] + d->chunk[i] - 1) / d->chunk[i];
        size *= d->chunk[i];
    }
    return chunks * (size + 64);
}

static hid_t creation_properties(const xlm_store *store, const store_dataset *d, int flags)
{
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(properties, false);
    if (d->chunk[0] > 0) {
        H5Pset_chunk(properties, d->dimensions, d->chunk);
        if (flags & XLM_STORE_CHECKED)
            H5Pset_fletcher32(properties);
    }
    /* MPI-IO needs early allocation, which writes chunks with checksums twice, first with zeros. */
    H5Pset_alloc_time(properties, store->mpi_io || d->chunk[0] == 0 ? H5D_ALLOC_TIME_EARLY : H5D_ALLOC_TIME_INCR);
    H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
    return properties;
}

static bool make(xlm_store *store, const char *path, store_dataset *d, hid_t type, int flags, GError **error)
{
    if (!make_groups(store, path, false, error))
        return false;
    hsize_t limits[2];
    for (int i = 0; i < d->dimensions; i++) /* chunks may not be larger than a limit */
        limits[i] = flags & XLM_STORE_GROWING && (i == 0 || d->dims[i] == 0) ? H5S_UNLIMITED : d->dims[i];
    d->space = H5Screate_simple(d->dimensions, d->dims, limits);
    hid_t properties = creation_properties(store, d, flags);
    d->id = H5Dcreate2(store->file, path, type, d->space, H5P_DEFAULT, properties, H5P_DEFAULT);
    bool good = d->id >= 0 || store_give_up(store, path, "cannot be made", error);
    H5Pclose(properties);
    return good;
}

static bool create_dataset(xlm_store *store, const char *path, hid_t type, int dimensions, const uint64_t *dims,
                           int flags, GError **error)
{
    if (g_hash_table_contains(store->datasets, path))
        return xlm_error_set(error, EX_SOFTWARE, "%s: %s: made twice", store->path, path);
    store_dataset *d = g_new0(store_dataset, 1);
    d->id = d->space = H5I_INVALID_HID;
    d->dimensions = dimensions;
    d->row_size = d->element = H5Tget_size(type);
    bool empty = false;
    for (int i = 0; i < dimensions; i++) {
        d->dims[i] = dims[i];
        d->row_size *= i > 0 ? dims[i] : 1;
        empty = empty || dims[i] == 0;
    }
    /* HDF5 has no chunks of extent 0, and a dataset that stays empty needs no chunks. */
    if (flags & XLM_STORE_GROWING || (flags & (XLM_STORE_CHUNKED | XLM_STORE_CHECKED) && !empty))
        choose_chunk(d, flags & XLM_STORE_GROWING);
    d->storage = storage_size(d, d->dims[0]);
    g_hash_table_insert(store->datasets, g_strdup(path), d);

    if (!store_reserve(store, d->storage + 4096 + strlen(path), error))
        return false;
    GError *mine = NULL;
    if (store_works(store))
        make(store, path, d, type, flags, &mine);
    return store_settle_hdf5(store, mine, error);
}

bool xlm_store_dataset(xlm_store *store, const char *path, xlm_type type, int dimensions, const uint64_t *dims,
                       int flags, GError **error)
{
    return create_dataset(store, path, store_file_type(type), dimensions, dims, flags, error);
}

static store_dataset *find_own(xlm_store *store, const char *path, GError **error)
{
    store_dataset *d = g_hash_table_lookup(store->datasets, path);
    if (d == NULL)
        xlm_error_set(error, EX_SOFTWARE, "%s: %s: written before it was made", store->path, path);
    return d;
}

bool xlm_store_extend(xlm_store *store, const char *path, uint64_t rows, GError **error)
{
    store_dataset *d = find_own(store, path, error);
    if (d == NULL)
        return false;
    uint64_t storage = storage_size(d, rows);
    if (storage > d->storage) {
        if (!store_reserve(store, storage - d->storage, error))
            return false;
        d->storage = storage;
    }
    d->dims[0] = rows;
    GError *mine = NULL;
    if (store_works(store)) {
        hid_t space = H5Dset_extent(d->id, d->dims) < 0 ? H5I_INVALID_HID : H5Dget_space(d->id);
        if (space < 0)
            store_give_up(store, path, "cannot be extended", &mine);
        H5Sclose(d->space);
        d->space = space;
    }
    return store_settle_hdf5(store, mine, error);
}

/* The type in memory of a dataset's elements, on a rank that has it open. */
static hid_t memory_type_of(const xlm_store *store, const store_dataset *d)
{
    if (!store_works(store))
        return H5I_INVALID_HID;
    const hid_t type = H5Dget_type(d->id), memory_type = H5Tget_native_type(type, H5T_DIR_ASCEND);
    H5Tclose(type);
    return memory_type;
}

bool xlm_store_write(xlm_store *store, const char *path, uint64_t first, uint64_t rows, const void *data, GError **error)
{
    store_dataset *d = find_own(store, path, error);
    if (d == NULL)
        return false;
    const hid_t memory_type = memory_type_of(store, d);
    bool good = store_write_rows(store, path, d, memory_type, first, rows, data, error);
    if (memory_type >= 0)
        H5Tclose(memory_type);
    return good;
}

bool xlm_store_write_whole(xlm_store *store, const char *path, const void *data, GError **error)
{
    store_dataset *d = find_own(store, path, error);
    if (d == NULL)
        return false;
    const hid_t memory_type = memory_type_of(store, d);
    bool good = store_write_whole(store, path, d, memory_type, data, error);
    if (memory_type >= 0)
        H5Tclose(memory_type);
    return good;
}

bool xlm_store_write_array(xlm_store *store, const char *group, const char *name, xlm_type type, uint64_t n, const void *values,
                           GError **error)
{
    g_autofree char *path = g_strconcat(group, "/", name, NULL);
    return xlm_store_dataset(store, path, type, 1, &n, XLM_STORE_CHECKED, error) &&
           xlm_store_write_whole(store, path, values, error);
}

bool xlm_store_write_parts(xlm_store *store, const char *path, xlm_type type, uint64_t columns, int64_t n, const void *data,
                           GError **error)
{
    int64_t rows = n;
    if (store->together)
        xlm_comm_sum_int64(&store->comm, &rows, 1);
    const uint64_t dims[2] = {(uint64_t)rows, columns}, first = store->together ? (uint64_t)xlm_comm_sum_below(&store->comm, n) : 0;
    return xlm_store_dataset(store, path, type, columns > 0 ? 2 : 1, dims, XLM_STORE_CHECKED, error) &&
           xlm_store_write(store, path, first, (uint64_t)n, data, error);
}

bool xlm_store_write_offsets(xlm_store *store, const char *path, int64_t n, const uint64_t *offsets, GError **error)
{
    const bool last = !store->together || store->comm.rank == store->comm.ranks - 1;
    const int64_t below = store->together ? xlm_comm_sum_below(&store->comm, (int64_t)offsets[n]) : 0;
    g_autofree uint64_t *all = g_new(uint64_t, n + 1);
    for (int64_t i = 0; i <= n; i++)
        all[i] = (uint64_t)below + offsets[i];
    return xlm_store_write_parts(store, path, XLM_U64, 0, n + last, all, error);
}

bool xlm_store_write_strings(xlm_store *store, const char *path, uint64_t n, const char *const *strings, GError **error)
{
    size_t longest = 1; /* bytes with the final 0, at which h5dump ends a string */
    for (uint64_t i = 0; i < n; i++)
        longest = MAX(longest, strlen(strings[i]) + 1);
    hid_t type = store_text_type(longest, H5T_CSET_UTF8, H5T_STR_NULLTERM);
    bool good = create_dataset(store, path, type, 1, &n, XLM_STORE_CHECKED, error);
    if (good) {
        /* Rank 0 writes all of them, so that no other rank needs memory for the table. */
        const uint64_t rows = store->together && store->comm.rank != 0 ? 0 : n;
        g_autofree char *table = g_malloc0(MAX(rows, 1) * longest);
        for (uint64_t i = 0; i < rows; i++)
            memcpy(table + i * longest, strings[i], strlen(strings[i]));
        good = store_write_rows(store, path, g_hash_table_lookup(store->datasets, path), type, 0, rows, table, error);
    }
    H5Tclose(type);
    return good;
}
