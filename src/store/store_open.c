/* xlm-mpi: opening HDF5 files to read them, and checking their digest. SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "files/files.h"
#include "store/store_file.h"

/* target: what is opened. */
static bool can_be_read(const char *path, const char *target, GError **error)
{
    if (!xlm_files_check_input(path, error))
        return false;
    int descriptor = open(target, O_RDONLY | O_CLOEXEC);
    char byte;
    ssize_t got = descriptor >= 0 ? read(descriptor, &byte, 1) : -1;
    int number = got < 0 ? errno : 0;
    const bool linked = strcmp(path, target) != 0;
    if (descriptor >= 0)
        close(descriptor);
    if (number == 0)
        return got > 0 || xlm_error_set(error, EX_DATAERR, "%s: is empty; make it again", path);
    if (number == EISDIR)
        return xlm_files_refuse_directory(path, error);
    return xlm_error_set(error, number == EACCES ? EX_NOPERM : EX_NOINPUT, "%s: %s%scannot be opened: %s", path,
                         linked ? target : "", linked ? ", to which it led at first, " : "", g_strerror(number));
}

/* The state of the open file, even if another file has its name by now. */
static bool look_at_file(const xlm_store *store, struct stat *is)
{
    void *descriptor;
    return H5Fget_vfd_handle(store->file, H5P_DEFAULT, &descriptor) >= 0 && fstat(*(const int *)descriptor, is) == 0;
}

bool xlm_store_check_unchanged(xlm_store *store, GError **error)
{
    struct stat now;
    if (!look_at_file(store, &now))
        return true; /* the next read reports the error */
    if (now.st_size != store->opened.st_size)
        return xlm_error_set(error, EX_DATAERR, "%s: was cut short or written over while it was being read: "
                             "it had %" G_GINT64_FORMAT " bytes and has %" G_GINT64_FORMAT "; put it back as it was and start "
                             "again (another file may take the name of one that is being read, as mv does it, but not be written "
                             "into it, as cp does)", store->path, (int64_t)store->opened.st_size, (int64_t)now.st_size);
    if (now.st_mtim.tv_sec != store->opened.st_mtim.tv_sec || now.st_mtim.tv_nsec != store->opened.st_mtim.tv_nsec)
        xlm_log_warn("%s: this file has been modified or touched while it is being read; if it is not what it was, neither is "
                     "what was read since", store->path);
    store->opened = now;
    return true;
}

/* ---- digests ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Would a change of the file be seen by its times? They advance by some milliseconds, so not if it has just been written, by the
 * clock of this machine. Elements of datasets have checksums of their own, and are checked whenever they are read. */
static bool is_settled(const struct stat *file) { return time(NULL) - file->st_ctim.tv_sec > 1; }

/* A program opens a file several times, for its vocabulary, its shapes and its numbers. Where this process has found the digest
 * of the same file good, and nobody has written to it since, it is not computed again: in a small file it is most of the time. */
static bool check_digest(xlm_store *store, bool known, GError **error)
{
    static GMutex lock;
    static GArray *good; /* struct stat: files whose digest is good */
    bool found = false;
    known = known && is_settled(&store->opened);
    g_mutex_lock(&lock);
    for (guint i = 0; known && good != NULL && i < good->len && !found; i++)
        found = is_same(&g_array_index(good, struct stat, i), &store->opened);
    g_mutex_unlock(&lock);
    if (found)
        return true;
    if (!store_check_digest(store, error))
        return false;
    g_mutex_lock(&lock);
    if (good == NULL)
        good = g_array_new(FALSE, FALSE, sizeof(struct stat));
    if (known)
        g_array_append_val(good, store->opened);
    g_mutex_unlock(&lock);
    return true;
}

xlm_store *xlm_store_open(const char *path, GError **error)
{
    g_autofree char *target = xlm_files_target(path);
    xlm_store *store = can_be_read(path, target, error) ? store_open(target, path, false, error) : NULL;
    if (store == NULL)
        return NULL;
    if (check_digest(store, look_at_file(store, &store->opened), error))
        return store;
    xlm_store_close(store);
    return NULL;
}

bool xlm_store_reseal(const char *path, GError **error)
{
    xlm_store *store = store_open(path, path, true, error);
    return store != NULL && store_set_digest(store, error);
}
