/* xlm-mpi: HDF5 files written by all ranks together: rows of datasets. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <unistd.h>

#include "store/store_file.h"

/* Bytes that a writer gives to HDF5 at once; meanwhile, chunks with checksums are in memory a second time. */
static const size_t ROUND_SIZE = (size_t)64 << 20;
/* Maximum number of ranks of a node that write. There are fewer if it has fewer cores, because ranks that wait in MPI-IO keep a
 * core busy. */
enum { WRITERS_PER_NODE = 4 };
/* Bytes of a file that one rank writes sooner than several: every dataset and attribute costs those some tens of exchanges. */
static const uint64_t SMALL_FILE = (uint64_t)128 << 20;

/* ---- who writes ---- */

/* What XLM_STORE_WRITERS says, or 0. */
static int wanted_writers(void)
{
    const char *given = g_getenv("XLM_STORE_WRITERS");
    return given != NULL ? MAX(atoi(given), 0) : 0;
}

static int writers_per_node(void)
{
    /* Not by sched_getaffinity, because a rank may be bound to one core of many. */
    return wanted_writers() > 0 ? wanted_writers() : (int)CLAMP(sysconf(_SC_NPROCESSORS_ONLN), 1, WRITERS_PER_NODE);
}

/* Make the groups of ranks whose first rank writes for them: one group of all, or some on each node. */
static void make_groups(xlm_store *store, bool one)
{
    const xlm_comm *comm = &store->comm;
    if (one) {
        MPI_Comm_dup(comm->mpi, &store->group);
        return;
    }
    const int writers = MIN(writers_per_node(), comm->local_ranks);
    MPI_Comm node;
    MPI_Comm_split_type(comm->mpi, MPI_COMM_TYPE_SHARED, comm->rank, MPI_INFO_NULL, &node);
    MPI_Comm_split(node, (int)((int64_t)comm->local_rank * writers / comm->local_ranks), comm->rank, &store->group);
    MPI_Comm_free(&node);
}

void store_choose_writers(xlm_store *store, uint64_t size)
{
    const xlm_comm *comm = &store->comm;
    int rank, ranks;
    /* As rank 0 has it: a launcher may give a variable to the ranks of its own node alone. */
    bool one = size <= SMALL_FILE && wanted_writers() == 0;
    xlm_comm_broadcast(comm, 0, &one, sizeof one);
    make_groups(store, one);
    MPI_Comm_rank(store->group, &rank);
    MPI_Comm_size(store->group, &store->group_ranks);
    store->writes = rank == 0;
    MPI_Comm_split(comm->mpi, store->writes ? 0 : MPI_UNDEFINED, comm->rank, &store->writers);

    int64_t counts[2] = {store->group_ranks, 0};
    if (store->writes) {
        MPI_Comm_size(store->writers, &ranks);
        counts[1] = ranks;
    }
    xlm_comm_max_int64(comm, counts, 2);
    store->group_ranks = (int)counts[0];
    store->mpi_io = counts[1] > 1;
}

void store_free_writers(xlm_store *store)
{
    if (store->group != MPI_COMM_NULL)
        MPI_Comm_free(&store->group);
    if (store->writers != MPI_COMM_NULL)
        MPI_Comm_free(&store->writers);
}

/* ---- gathering ---- */

static int by_first_row(const void *a, const void *b)
{
    const store_part *x = *(store_part *const *)a, *y = *(store_part *const *)b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Where the rows of each rank are put. [out] sizes, displs: [ranks] bytes. Returns the parts (store_part) in ascending order;
 * adjacent ones are joined. */
static GArray *lay_out(store_part *parts, int ranks, size_t row_size, int *sizes, int *displs)
{
    g_autofree store_part **order = g_new(store_part *, ranks);
    for (int r = 0; r < ranks; r++)
        order[r] = &parts[r];
    qsort(order, (size_t)ranks, sizeof *order, by_first_row);
    GArray *merged = g_array_new(FALSE, FALSE, sizeof(store_part));
    size_t at = 0;
    for (int i = 0; i < ranks; i++) {
        const ptrdiff_t r = order[i] - parts;
        sizes[r] = (int)(order[i]->rows * row_size);
        displs[r] = (int)at;
        at += (size_t)sizes[r];
        store_part *last = merged->len > 0 ? &g_array_index(merged, store_part, merged->len - 1) : NULL;
        if (order[i]->rows == 0)
            continue;
        if (last != NULL && last->first + last->rows == order[i]->first)
            last->rows += order[i]->rows;
        else
            g_array_append_val(merged, *order[i]);
    }
    return merged;
}

GArray *store_gather_rows(xlm_store *store, store_part mine, size_t row_size, const void *data, void **bytes)
{
    int rank, ranks;
    MPI_Comm_rank(store->group, &rank);
    MPI_Comm_size(store->group, &ranks);
    g_autofree store_part *parts = g_new0(store_part, ranks);
    g_autofree int *sizes = g_new0(int, ranks), *displs = g_new0(int, ranks);
    MPI_Gather(&mine, 2, MPI_UINT64_T, parts, 2, MPI_UINT64_T, 0, store->group);
    GArray *merged = NULL;
    *bytes = NULL;
    if (rank == 0) {
        merged = lay_out(parts, ranks, row_size, sizes, displs);
        size_t size = 1;
        for (int r = 0; r < ranks; r++)
            size += (size_t)sizes[r];
        *bytes = g_malloc(size);
    }
    MPI_Gatherv(data, (int)(mine.rows * row_size), MPI_BYTE, *bytes, sizes, displs, MPI_BYTE, 0, store->group);
    return merged;
}

/* ---- writing ---- */

/* Select the parts (store_part) in the dataset; false on failure. */
static bool select_rows(store_dataset *d, const GArray *parts)
{
    herr_t status = H5Sselect_none(d->space);
    for (guint i = 0; i < parts->len && status >= 0; i++) {
        const store_part *part = &g_array_index(parts, store_part, i);
        const hsize_t start[2] = {part->first, 0}, count[2] = {part->rows, d->dims[1]};
        status = H5Sselect_hyperslab(d->space, i == 0 ? H5S_SELECT_SET : H5S_SELECT_OR, start, NULL, count, NULL);
    }
    return status >= 0;
}

static void note_writes(xlm_store *store, const char *path, const store_dataset *d, const GArray *parts, const char *bytes)
{
    for (guint i = 0; i < parts->len; i++) {
        const store_part *part = &g_array_index(parts, store_part, i);
        store_note_write(store, path, NULL, part->first, part->rows, bytes, part->rows * d->row_size);
        bytes += part->rows * d->row_size;
    }
}

/* One write, collective over the writers: each takes part, even without rows. */
static bool write_parts(xlm_store *store, const char *path, store_dataset *d, hid_t memory_type, const GArray *parts,
                        const void *bytes, GError **error)
{
    static const char nothing;
    hsize_t rows = 0;
    for (guint i = 0; i < parts->len; i++)
        rows += g_array_index(parts, store_part, i).rows;
    if (rows == 0 && !store->mpi_io)
        return true;
    const hsize_t count[2] = {MAX(rows, 1), d->dims[1]};
    hid_t memory = H5Screate_simple(d->dimensions, count, NULL);
    if (rows == 0)
        H5Sselect_none(memory);
    bool good = (select_rows(d, parts) && H5Dwrite(d->id, memory_type, memory, d->space, store->transfer,
                                                   rows > 0 ? bytes : &nothing) >= 0) ||
                store_give_up(store, path, "cannot be written", error);
    H5Sclose(memory);
    note_writes(store, path, d, parts, bytes);
    return good;
}

static void write_round(xlm_store *store, const char *path, store_dataset *d, hid_t memory_type, store_part mine,
                        const void *data, GError **error)
{
    g_autofree void *gathered = NULL;
    GArray *parts;
    if (store->together && store->group_ranks > 1) {
        parts = store_gather_rows(store, mine, d->row_size, data, &gathered);
        data = gathered;
    } else {
        parts = g_array_new(FALSE, FALSE, sizeof(store_part));
        if (mine.rows > 0)
            g_array_append_val(parts, mine);
    }
    if (store_works(store) && *error == NULL)
        write_parts(store, path, d, memory_type, parts, data, error);
    if (parts != NULL)
        g_array_unref(parts);
}

/* Number of rows of one round. Rounds end where chunks end, so that a writer with contiguous rows writes no chunk twice. */
static uint64_t rows_of_round(const xlm_store *store, const store_dataset *d)
{
    const uint64_t rows = MAX(ROUND_SIZE / (MAX(d->row_size, 1) * (size_t)store->group_ranks), 1);
    return d->chunk[0] > 0 ? MAX(rows / d->chunk[0], 1) * d->chunk[0] : rows;
}

bool store_write_rows(xlm_store *store, const char *path, store_dataset *d, hid_t memory_type, uint64_t first,
                      uint64_t rows, const void *data, GError **error)
{
    GError *mine = NULL;
    if (first > d->dims[0] || rows > d->dims[0] - first) {
        if (store->mistake == NULL)
            xlm_error_set(&store->mistake, EX_SOFTWARE,
                          "%s: %s: rows %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
                          " written where there are %" G_GUINT64_FORMAT, store->path, path, first, first + rows,
                          (uint64_t)d->dims[0]);
        first = rows = 0;
    }
    if (d->row_size == 0 || d->dims[0] == 0)
        return store_settle_hdf5(store, NULL, error); /* HDF5 fails to write no rows to a dataset without elements */

    const uint64_t step = rows_of_round(store, d);
    int64_t rounds = 1; /* the same number on every rank */
    if (d->dims[0] > step) {
        rounds = rows == 0 ? 0 : (int64_t)((first + rows - 1) / step - first / step + 1);
        if (store->together)
            xlm_comm_max_int64(&store->comm, &rounds, 1);
    }
    const char *bytes = data;
    for (int64_t round = 0; round < rounds; round++) {
        const store_part part = {first, MIN(rows, step - first % step)};
        write_round(store, path, d, memory_type, part, bytes, &mine);
        first += part.rows;
        rows -= part.rows;
        if (rows > 0)
            bytes += part.rows * d->row_size;
    }
    return store_settle_hdf5(store, mine, error);
}

/* One rank writes all rows, which it has: nothing is gathered. */
static bool write_alone(xlm_store *store, const char *path, store_dataset *d, hid_t memory_type, const char *bytes,
                        GError **error)
{
    const uint64_t step = rows_of_round(store, d), rows = d->row_size > 0 ? d->dims[0] : 0;
    bool good = true;
    for (uint64_t first = 0; first < rows && good; first += step) {
        const store_part part = {first, MIN(rows - first, step)};
        g_autoptr(GArray) parts = g_array_new(FALSE, FALSE, sizeof part);
        g_array_append_val(parts, part);
        good = write_parts(store, path, d, memory_type, parts, bytes + first * d->row_size, error);
    }
    return good;
}

bool store_write_whole(xlm_store *store, const char *path, store_dataset *d, hid_t memory_type, const void *data,
                       GError **error)
{
    const uint64_t rows = d->dims[0], rank = (uint64_t)store->comm.rank, ranks = (uint64_t)MAX(store->comm.ranks, 1);
    if (store->mpi_io) {
        const uint64_t first = rows * rank / ranks, end = rows * (rank + 1) / ranks;
        return store_write_rows(store, path, d, memory_type, first, end - first, (const char *)data + first * d->row_size, error);
    }
    GError *mine = NULL;
    if (store_works(store))
        write_alone(store, path, d, memory_type, data, &mine);
    return store_settle_hdf5(store, mine, error);
}
