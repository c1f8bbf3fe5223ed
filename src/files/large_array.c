/* xlm-mpi: arrays too large for the heap, in memory or in a scratch file. SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* O_TMPFILE */
#include "files/large_array.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files/new_file.h"

/* A file without a name. Returns its descriptor; -1 with errno. */
static int open_scratch(const char *directory)
{
    int file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return file;
    /* The file system has no files without a name: the name is removed at once. */
    g_autofree char *path = g_build_filename(directory, "xlm-scratch-XXXXXX", NULL);
    file = g_mkstemp_full(path, O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0)
        g_unlink(path);
    return file;
}

/* A scratch file of this size. Returns its descriptor, or -1 with an error. */
static int make_file(size_t size, const char *directory, GError **error)
{
    xlm_new_file_heed_limit();
    const int file = open_scratch(directory);
    if (file < 0) {
        xlm_error_set(error, EX_CANTCREAT, "%s: making a scratch file: %s; name another directory with --scratch", directory,
                      g_strerror(errno));
        return -1;
    }
    int failure;
    do /* on tmpfs, any signal interrupts it */
        failure = posix_fallocate(file, 0, (off_t)size);
    while (failure == EINTR);
    if (failure == 0)
        return file;
    xlm_error_set(error, EX_IOERR, "%s: a scratch file of %zu bytes: %s; give more --memory, or name another directory with "
                  "--scratch", directory, size, g_strerror(failure));
    close(file);
    return -1;
}

bool xlm_large_array_make(xlm_large_array *array, size_t size, const char *scratch, GError **error)
{
    *array = (xlm_large_array){0};
    if (size == 0)
        return true;
    const int file = scratch != NULL ? make_file(size, scratch, error) : -1;
    if (scratch != NULL && file < 0)
        return false;
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, file, 0);
    const int failure = errno;
    if (file >= 0)
        close(file);
    if (data == MAP_FAILED)
        return xlm_error_set(error, EX_OSERR, "an array of %zu bytes: %s; give more ranks, or a smaller --memory", size,
                             g_strerror(failure));
    *array = (xlm_large_array){data, size, file >= 0};
    return true;
}

void xlm_large_array_release(const xlm_large_array *array, size_t first, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t begin = (first + page - 1) / page * page, end = (first + size) / page * page;
    if (array->in_file && end > begin)
        madvise((char *)array->data + begin, end - begin, MADV_DONTNEED);
}

void xlm_large_array_free(xlm_large_array *array)
{
    if (array->data != NULL)
        munmap(array->data, array->size);
    *array = (xlm_large_array){0};
}
