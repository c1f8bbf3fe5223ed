/* xlm-mpi: datasets copied from one HDF5 file to another. SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/store.h"

bool xlm_store_copy(const xlm_store *from, const char *path, xlm_store *to, GError **error)
{
    xlm_array array = {.rows = XLM_ANY, .columns = XLM_ANY};
    if (!xlm_store_type(from, path, &array.type, error))
        return false;
    g_autofree void *values = xlm_store_read_all(from, path, &array, error);
    const uint64_t dims[2] = {array.rows, array.columns};
    return values != NULL && xlm_store_dataset(to, path, array.type, array.columns == 0 ? 1 : 2, dims, XLM_STORE_CHECKED, error) &&
           xlm_store_write(to, path, 0, array.rows, values, error);
}
