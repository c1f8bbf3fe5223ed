/* xlm-mpi: HDF5 files written by all ranks together: creating and finishing them. SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* fallocate */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "files/files.h"
#include "files/new_file.h"
#include "store/store_file.h"

static bool is_first(const xlm_store *store) { return !store->together || store->comm.rank == 0; }

/* One step of creating or committing, on whose result all ranks agree. mine_to_do: this rank takes part in the work. */
static bool step(xlm_store *store, void (*work)(xlm_store *, GError **), bool mine_to_do, GError **error)
{
    GError *mine = NULL;
    if (mine_to_do)
        work(store, &mine);
    return store_settle(store, mine, error);
}

/* ---- room on the disk ---- */

static int reserve_here(int descriptor, uint64_t from, uint64_t to)
{
    int status;
    do /* on tmpfs, a signal such as Slurm's before the time limit interrupts it */
        status = fallocate(descriptor, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from));
    while (status != 0 && errno == EINTR);
    if (status == 0)
        return 0;
    if (errno != EOPNOTSUPP && errno != ENOSYS)
        return errno;
    struct statvfs disk;
    if (fstatvfs(descriptor, &disk) == 0 && disk.f_blocks > 0 &&
        (to - from) / disk.f_frsize >= disk.f_bavail)
        return ENOSPC;
    return 0;
}

/* Returns 0, or the errno that says why the file cannot grow to `to` bytes. */
static int try_to_reserve(const xlm_store *store, uint64_t to)
{
    struct rlimit limit;
    if (store->writes && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < to)
        return EFBIG;
    return store->descriptor >= 0 ? reserve_here(store->descriptor, store->reserved, to) : 0;
}

static bool reserve_to(xlm_store *store, uint64_t to, GError **error)
{
    GError *mine = NULL;
    const int number = try_to_reserve(store, to);
    if (number != 0)
        xlm_new_file_failed(store->path, "cannot be written", number, &mine);
    if (!store_settle(store, mine, error))
        return false;
    store->reserved = to;
    return true;
}

bool store_reserve(xlm_store *store, uint64_t bytes, GError **error)
{
    store->expected += bytes;
    if (store->expected <= store->reserved)
        return true;
    /* Reserve more than is asked for if there is room, because each reservation is an exchange of all ranks. */
    const uint64_t more = MIN(MAX(store->expected / 4, 65536), (uint64_t)64 << 20);
    if (store->refusal == NULL &&
        (reserve_to(store, store->expected + more, NULL) || reserve_to(store, store->expected, &store->refusal)))
        return true;
    g_propagate_error(error, g_error_copy(store->refusal));
    return false;
}

/* ---- beginning ---- */

static void make_temporary(xlm_store *store, GError **error)
{
    if (!xlm_files_check_output(store->path, true, error))
        return;
    store->descriptor = xlm_unfinished_make(store->path, O_RDWR, &store->temporary);
    if (store->descriptor < 0)
        xlm_new_file_failed(store->path, "cannot be made", errno, error);
}

static void open_file(xlm_store *store, GError **error)
{
    hid_t access = store_access();
    if (store->mpi_io) {
        H5Pset_fapl_mpio(access, store->writers, MPI_INFO_NULL);
        H5Pset_all_coll_metadata_ops(access, true);
        H5Pset_coll_metadata_write(access, true);
    }
    hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_obj_track_times(creation, false);
    store->file = H5Fcreate(store->temporary, H5F_ACC_TRUNC, creation, access);
    if (store->file < 0 || (store->mpi_io && !store_catch_failures(store)) || !store_make_digest(store->file))
        store_error(store, NULL, EX_CANTCREAT, "cannot be made", error);
    H5Pclose(creation);
    H5Pclose(access);
    store->transfer = H5Pcreate(H5P_DATASET_XFER);
    if (store->mpi_io) {
        H5Pset_dxpl_mpio(store->transfer, H5FD_MPIO_COLLECTIVE);
        H5Pset_dxpl_mpio_chunk_opt(store->transfer, H5FD_MPIO_CHUNK_ONE_IO);
    }
}

xlm_store *xlm_store_create(const xlm_comm *comm, const char *path, GError **error)
{
    return xlm_store_create_sized(comm, path, UINT64_MAX, error);
}

xlm_store *xlm_store_create_sized(const xlm_comm *comm, const char *path, uint64_t size, GError **error)
{
    xlm_store *store = g_new0(xlm_store, 1);
    store->path = g_strdup(path);
    store->descriptor = -1;
    store->file = store->transfer = H5I_INVALID_HID;
    store->datasets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, store_free_dataset);
    store->groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    store->written = g_ptr_array_new_with_free_func(store_free_write);
    store->group = store->writers = MPI_COMM_NULL;
    store->group_ranks = 1;
    store->writes = true;
    if (comm != NULL && comm->ranks > 1) {
        store->comm = *comm;
        store->together = true;
        store_choose_writers(store, size);
    }
    xlm_new_file_heed_limit();

    GError *mine = NULL;
    if ((!store->writes || store_has_memory(store, &mine)) && is_first(store))
        make_temporary(store, &mine);
    bool good = store_settle(store, mine, error);
    if (good && store->together) {
        void *name = store->temporary;
        size_t length = is_first(store) ? strlen(store->temporary) + 1 : 0;
        xlm_comm_broadcast_bytes(comm, 0, &name, &length);
        store->temporary = name;
        if (store->writes && g_access(store->temporary, R_OK | W_OK) != 0)
            xlm_new_file_unseen(path, errno, &mine);
        good = store_settle(store, mine, error);
    }
    good = good && store_reserve(store, 4096, error);
    good = good && step(store, open_file, store->writes, error);
    if (good)
        return store;
    xlm_store_discard(store);
    return NULL;
}

/* ---- end ---- */

/* Write what is still in memory, mostly the index of chunks. If ranks wait in MPI-IO for ever, store_watch() ends the job. */
static void flush_file(xlm_store *store, GError **error)
{
    store_watch(store, true);
    herr_t status = H5Fflush(store->file, H5F_SCOPE_GLOBAL);
    store_watch(store, false);
    if (status < 0)
        store_give_up(store, NULL, "cannot be written", error);
}

static void close_file(xlm_store *store, GError **error)
{
    g_hash_table_remove_all(store->datasets);
    if (store->transfer >= 0)
        H5Pclose(store->transfer);
    store_watch(store, true);
    herr_t status = store->file >= 0 ? H5Fclose(store->file) : 0;
    store_watch(store, false);
    store->file = store->transfer = H5I_INVALID_HID;
    if (status < 0)
        store_give_up(store, NULL, "cannot be written", error);
    store_forget_failures(store);
}

/* Set the digest of the header; done by one process, after all have closed the file. */
static void set_digest(xlm_store *store, GError **error)
{
    g_autoptr(GError) why = NULL;
    xlm_store *whole = store_open(store->temporary, store->path, true, &why);
    if (whole != NULL && store_set_digest(whole, &why))
        return;
    xlm_error_set(error, why->code == EX_OSERR ? EX_OSERR : EX_IOERR, "%s%s", why->message,
                  why->code == EX_OSERR ? "" : "; look for a full or failing disk");
}

static void free_store(xlm_store *store)
{
    if (store->descriptor >= 0)
        close(store->descriptor);
    g_hash_table_destroy(store->datasets);
    g_hash_table_destroy(store->groups);
    g_ptr_array_free(store->written, TRUE);
    store_free_writers(store);
    g_clear_error(&store->mistake);
    g_clear_error(&store->refusal);
    g_free(store->path);
    g_free(store->temporary);
    g_free(store);
}

/* Every node may have written, so one rank of each brings what its system still holds to the disk; rank 0 alone where only it has
 * written. */
static void sync_data(xlm_store *store, GError **error)
{
    if (!is_first(store) && (!store->mpi_io || store->comm.local_rank != 0))
        return;
    int descriptor = store->descriptor >= 0 ? store->descriptor : open(store->temporary, O_RDWR | O_CLOEXEC);
    int number;
    if (descriptor < 0)
        xlm_new_file_failed(store->path, "cannot be opened again", errno, error);
    else if ((number = xlm_new_file_sync(descriptor)) != 0)
        xlm_new_file_failed(store->path, "cannot be written", number, error);
    if (descriptor >= 0 && descriptor != store->descriptor)
        close(descriptor);
}

static void rename_file(xlm_store *store, GError **error)
{
    struct stat status;
    /* Truncating to the present size frees what was reserved but not used. */
    const bool cut = fstat(store->descriptor, &status) == 0 && ftruncate(store->descriptor, status.st_size) == 0;
    if (!cut || !xlm_unfinished_rename(store->temporary, store->path)) {
        xlm_new_file_failed(store->path, cut ? "cannot be given its name" : "cannot be cut to its size", errno, error);
        xlm_unfinished_remove(store->temporary);
        return;
    }
    const int number = xlm_new_file_sync_name(store->path);
    if (number != 0) {
        xlm_new_file_failed(store->path, "its directory cannot be written", number, error);
        g_unlink(store->path);
    }
}

static bool reserve_rest(xlm_store *store, GError **error)
{
    hsize_t size = 0;
    if (store->writes)
        H5Fget_filesize(store->file, &size);
    int64_t more = (int64_t)size - (int64_t)store->expected;
    if (store->together)
        xlm_comm_max_int64(&store->comm, &more, 1);
    return store_reserve(store, (uint64_t)MAX(more, 0), error);
}

bool xlm_store_commit(xlm_store *store, GError **error)
{
    /* The serial driver reports every failure; MPI-IO does not, so what it wrote is read again. */
    bool good = reserve_rest(store, error) && step(store, sync_data, store->mpi_io, error) &&
                step(store, flush_file, store->writes, error) && step(store, close_file, store->writes, error) &&
                step(store, set_digest, is_first(store), error) &&
                step(store, store_verify, store->mpi_io && store->writes, error) && step(store, sync_data, true, error);
    if (!good) {
        xlm_store_discard(store);
        return false;
    }
    good = step(store, rename_file, is_first(store), error);
    free_store(store);
    return good;
}

void xlm_store_discard(xlm_store *store)
{
    if (store == NULL)
        return;
    close_file(store, NULL);
    if (is_first(store) && store->temporary != NULL && store->descriptor >= 0)
        xlm_unfinished_remove(store->temporary);
    free_store(store);
}

bool xlm_store_end(xlm_store *store, bool good, GError **error)
{
    if (store != NULL && good)
        return xlm_store_commit(store, error);
    xlm_store_discard(store);
    return false;
}
