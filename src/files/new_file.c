/* xlm-mpi: a file that gets its name when it is complete. SPDX-License-Identifier: GPL-3.0-or-later */
#include "files/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "files/files.h"

bool xlm_new_file_failed(const char *path, const char *what, int number, GError **error)
{
    const bool place = number == EACCES || number == ENOENT || number == EROFS || number == ENOTDIR;
    const char *advice = number == ENOSPC || number == EDQUOT ? "; make room or choose another directory"
                         : number == EFBIG                    ? "; raise the limit on file sizes (ulimit -f)"
                         : place ? "; choose a directory that is there and may be written to"
                                 : "";
    return xlm_error_set(error, place ? EX_CANTCREAT : EX_IOERR, "%s: %s: %s%s", path, what, g_strerror(number), advice);
}

bool xlm_new_file_unseen(const char *path, int number, GError **error)
{
    g_autofree char *what = g_strdup_printf("the node %s does not see the file that rank 0 has made; choose a directory that all "
                                            "nodes share", g_get_host_name());
    return xlm_new_file_failed(path, what, number, error);
}

int xlm_new_file_sync(int descriptor)
{
    int status;
    do
        status = fsync(descriptor);
    while (status != 0 && errno == EINTR);
    return status == 0 ? 0 : errno;
}

int xlm_new_file_sync_name(const char *path)
{
    g_autofree char *directory = g_path_get_dirname(path);
    const int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return errno == EACCES ? 0 : errno;
    const int number = xlm_new_file_sync(descriptor);
    close(descriptor);
    return number == EINVAL || number == ENOTSUP ? 0 : number;
}

void xlm_new_file_heed_limit(void)
{
    struct sigaction action;
    if (sigaction(SIGXFSZ, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
        signal(SIGXFSZ, SIG_IGN);
}

static void forget(xlm_new_file *file)
{
    g_free(file->path);
    g_free(file->unfinished);
    *file = (xlm_new_file){0};
}

static bool make(xlm_new_file *file, const char *path, GError **error)
{
    *file = (xlm_new_file){.path = g_strdup(path)};
    xlm_new_file_heed_limit();
    const int descriptor = xlm_unfinished_make(path, O_WRONLY, &file->unfinished);
    if (descriptor >= 0 && (file->stream = fdopen(descriptor, "w")) != NULL)
        return true;
    xlm_error_set(error, EX_CANTCREAT, "%s: cannot be made: %s", path, g_strerror(errno));
    if (descriptor >= 0) {
        close(descriptor);
        xlm_unfinished_remove(file->unfinished);
    }
    forget(file);
    return false;
}

bool xlm_new_file_create(xlm_new_file *file, const char *path, GError **error)
{
    *file = (xlm_new_file){0};
    return xlm_files_check_output(path, false, error) && make(file, path, error);
}

bool xlm_new_file_replace(const char *path, const char *text, GError **error)
{
    xlm_new_file file;
    if (!make(&file, path, error))
        return false;
    fputs(text, file.stream);
    return xlm_new_file_commit(&file, error);
}

bool xlm_new_file_commit(xlm_new_file *file, GError **error)
{
    /* Of a write that failed earlier, only the stream's error flag is left. */
    const bool marked = ferror(file->stream) != 0;
    errno = 0;
    bool good = fflush(file->stream) == 0 && !marked;
    int number = errno;
    if (good && (number = xlm_new_file_sync(fileno(file->stream))) != 0)
        good = false;
    const bool closed = fclose(file->stream) == 0;
    if (good && (!closed || !xlm_unfinished_rename(file->unfinished, file->path))) {
        good = false;
        number = errno;
    }
    if (!good) {
        xlm_unfinished_remove(file->unfinished);
        if (number != 0)
            xlm_new_file_failed(file->path, "cannot be written", number, error);
        else
            xlm_error_set(error, EX_IOERR, "%s: a part of it could not be written; look for a full or failing disk", file->path);
    } else if ((number = xlm_new_file_sync_name(file->path)) != 0) {
        good = xlm_new_file_failed(file->path, "its directory cannot be written", number, error);
    }
    forget(file);
    return good;
}

void xlm_new_file_discard(xlm_new_file *file)
{
    fclose(file->stream);
    xlm_unfinished_remove(file->unfinished);
    forget(file);
}
