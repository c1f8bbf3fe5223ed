/* xlm-mpi: verifying what several ranks have written. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * MPI-IO can lose a write without reporting it (Open MPI 4.1's "dynamic" collective component drops errors of aggregators), and
 * HDF5's own checksums do not reveal this: with early allocation, a chunk of zeros with a correct checksum is already there. So
 * each rank keeps a CRC of what it gave to HDF5, reads the file again, and compares, before the file gets its name. */
#include <zlib.h>

#include "store/store_file.h"

void store_note_write(xlm_store *store, const char *path, const char *attribute, uint64_t first, uint64_t rows,
                      const void *data, size_t size)
{
    if (!store->mpi_io)
        return;
    store_write *write = g_new0(store_write, 1);
    write->path = g_strdup(path);
    write->attribute = g_strdup(attribute);
    write->first = first;
    write->rows = rows;
    write->crc = crc32_z(0, data, size);
    g_ptr_array_add(store->written, write);
}

void store_free_write(void *write)
{
    store_write *w = write;
    g_free(w->path);
    g_free(w->attribute);
    g_free(w);
}

/* The type in memory for a type of the file, which is closed. It is the same type for texts. H5Tclose. */
static hid_t memory_type_of(hid_t file_type)
{
    hid_t type = H5Tget_class(file_type) == H5T_STRING ? H5Tcopy(file_type) : H5Tget_native_type(file_type, H5T_DIR_ASCEND);
    H5Tclose(file_type);
    return type;
}

static bool attribute_is_good(const xlm_store *read, const store_write *write)
{
    hid_t attribute = H5Aopen_by_name(read->file, write->path, write->attribute, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0)
        return false;
    hid_t type = memory_type_of(H5Aget_type(attribute));
    size_t size = H5Tget_size(type);
    g_autofree char *data = g_malloc(size);
    bool good = H5Aread(attribute, type, data) >= 0 && crc32_z(0, (void *)data, size) == write->crc;
    H5Tclose(type);
    H5Aclose(attribute);
    return good;
}

static bool rows_are_good(const xlm_store *read, const store_write *write)
{
    store_dataset *d = store_find(read, write->path, NULL);
    if (d == NULL || write->first + write->rows > d->dims[0])
        return false;
    hid_t type = memory_type_of(H5Dget_type(d->id));
    size_t size = write->rows * d->row_size;
    g_autofree char *data = g_malloc(size);
    bool good = store_read_rows(read, write->path, d, type, write->first, write->rows, data, NULL) &&
                crc32_z(0, (void *)data, size) == write->crc;
    H5Tclose(type);
    return good;
}

void store_verify(xlm_store *store, GError **error)
{
    g_autoptr(xlm_store) read = xlm_store_open(store->temporary, error);
    bool good = read != NULL;
    for (guint i = 0; good && i < store->written->len; i++) {
        const store_write *write = store->written->pdata[i];
        good = write->attribute != NULL ? attribute_is_good(read, write) : rows_are_good(read, write);
        if (!good)
            xlm_error_set(error, EX_IOERR, "%s: %s: is not on the disk as it was written, and MPI-IO reported no failure; look "
                          "for a full or failing disk", store->path, write->path);
    }
}
