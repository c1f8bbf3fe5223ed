/* xlm-mpi: files that a program reads and files that it writes, none of which is both. SPDX-License-Identifier: GPL-3.0-or-later */
#include "files/files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "files/path.h"

typedef struct declared {
    char *path, *option; /* option NULL: the file was opened without having been declared */
    int role;            /* xlm_file_role, by or */
    char *target;        /* of a link to a file that is only read: what it led to when it was declared; NULL: it is another file */
} declared;

static GArray *all;
static char *own;   /* directory of a run, or NULL */
static bool guards; /* files are compared, as in our programs; others that use the library may write what they have read */
static GMutex mutex;

/* The same file declared in a role that excludes this one, or as another output; NULL if there is none. Paths are resolved each
 * time, because the inode number of a removed file may be given to another file. */
static const declared *find_other(const declared *d)
{
    for (guint i = 0; all != NULL && i < all->len; i++) {
        const declared *other = &g_array_index(all, declared, i);
        const bool both = (d->role & other->role & XLM_FILE_REPLACED) != 0;
        if (((d->role | other->role) & XLM_FILE_WRITTEN) && !both && xlm_path_same_file(d->path, other->path))
            return other;
    }
    return NULL;
}

/* The roles that this file has so far. */
static int role_of(const declared *d)
{
    int role = 0;
    for (guint i = 0; all != NULL && i < all->len; i++) {
        const declared *other = &g_array_index(all, declared, i);
        role |= xlm_path_same_file(d->path, other->path) ? other->role : 0;
    }
    return role;
}

static void keep(const declared *d)
{
    if (all == NULL)
        all = g_array_new(FALSE, FALSE, sizeof(declared));
    const declared kept = {g_strdup(d->path), g_strdup(d->option), d->role, d->target};
    g_array_append_val(all, kept);
}

/* Has this path been noted as read? */
static bool is_kept(const char *path)
{
    for (guint i = 0; all != NULL && i < all->len; i++)
        if (g_array_index(all, declared, i).role & XLM_FILE_READ && strcmp(g_array_index(all, declared, i).path, path) == 0)
            return true;
    return false;
}

static bool refuse(const declared *d, const declared *other, GError **error)
{
    if (d->role & other->role & XLM_FILE_WRITTEN)
        return xlm_error_set(error, EX_USAGE, "%s: two outputs have this name; choose another for one of them", d->path);
    const declared *output = d->role & XLM_FILE_WRITTEN ? d : other, *input = output == d ? other : d;
    const char *also = strcmp(output->path, input->path) != 0 ? input->path : NULL;
    return xlm_error_set(error, EX_USAGE, "%s: is both input and output%s%s%s%s%s; choose another name for what is written",
                         output->path, output->option != NULL ? ", of " : "", output->option != NULL ? output->option : "",
                         also != NULL ? " (it is the same file as " : "", also != NULL ? also : "", also != NULL ? ")" : "");
}

void xlm_files_guard(void) { guards = true; }

void xlm_files_own(const char *directory)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&mutex);
    g_free(own);
    own = g_strdup(directory);
}

/* Is it a file of the run's directory? */
static bool is_own(const char *path)
{
    g_autofree char *directory = g_path_get_dirname(path);
    return own != NULL && xlm_path_same_file(directory, own);
}

bool xlm_files_declare(const char *path, const char *option, int role, GError **error)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&mutex);
    const declared d = {(char *)path, (char *)option, role, role == XLM_FILE_READ ? xlm_path_target(path) : NULL};
    const declared *other = find_other(&d);
    const bool good = other == NULL || refuse(&d, other, error);
    keep(&d);
    return good;
}

char *xlm_files_target(const char *path)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&mutex);
    for (guint i = 0; all != NULL && i < all->len; i++) {
        const declared *d = &g_array_index(all, declared, i);
        if (d->target != NULL && strcmp(d->path, path) == 0)
            return g_strdup(d->target);
    }
    return g_strdup(path);
}

void xlm_files_share_targets(void (*share)(const void *with, char **target), const void *with)
{
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&mutex);
    for (guint i = 0; all != NULL && i < all->len; i++)
        if (g_array_index(all, declared, i).option != NULL)
            share(with, &g_array_index(all, declared, i).target);
}

/* Can it be read twice? False for pipes and devices, except an open pipe if open_pipe; true if there is no such file, which
 * opening it reports. */
static bool is_plain(const char *path, bool open_pipe)
{
    static const char *const open_already[] = {"/dev/fd/", "/dev/stdin", "/proc/self/fd/"};
    struct stat is;
    if (stat(path, &is) != 0 || S_ISREG(is.st_mode) || S_ISDIR(is.st_mode))
        return true;
    for (size_t i = 0; i < G_N_ELEMENTS(open_already) && open_pipe; i++)
        if (g_str_has_prefix(path, open_already[i]))
            return true;
    return false;
}

static bool check_input(const char *path, bool open_pipe, GError **error)
{
    if (!is_plain(path, open_pipe))
        return xlm_error_set(error, EX_NOINPUT, "%s: is not a regular file, but a pipe or a device; give a file", path);
    if (!guards)
        return true;
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&mutex);
    const declared d = {(char *)path, NULL, XLM_FILE_READ, NULL};
    const declared *other = find_other(&d);
    /* A file that is already known as read was compared before. */
    const bool good = other == NULL || (role_of(&d) & XLM_FILE_READ) || refuse(&d, other, error);
    if (!is_kept(path) && !is_own(path))
        keep(&d);
    return good;
}

bool xlm_files_check_input(const char *path, GError **error) { return check_input(path, false, error); }

char *xlm_files_of_run(const char *directory)
{
    g_autofree char *best = g_build_filename(directory, "best", NULL), *latest = g_build_filename(directory, "latest", NULL);
    const bool has_best = g_file_test(best, G_FILE_TEST_IS_REGULAR), has_latest = g_file_test(latest, G_FILE_TEST_IS_REGULAR);
    if (has_best && has_latest)
        return g_strdup_printf("%s or %s", best, latest);
    return has_best || has_latest ? g_strdup(has_best ? best : latest) : NULL;
}

bool xlm_files_refuse_directory(const char *path, GError **error)
{
    g_autofree char *checkpoints = xlm_files_of_run(path), *config = g_build_filename(path, "config.json", NULL);
    if (checkpoints != NULL)
        return xlm_error_set(error, EX_NOINPUT, "%s: is a directory, the output of a run; give %s", path, checkpoints);
    if (g_file_test(config, G_FILE_TEST_EXISTS))
        return xlm_error_set(error, EX_NOINPUT, "%s: is a directory, as of a model of transformers; convert it to a file with "
                             "xlm_convert, and give that", path);
    return xlm_error_set(error, EX_NOINPUT, "%s: is a directory; give a file", path);
}

bool xlm_files_is_hdf5(const char *path)
{
    static const char signature[8] = "\211HDF\r\n\032\n";
    char begin[sizeof signature];
    FILE *file = g_file_test(path, G_FILE_TEST_IS_REGULAR) ? fopen(path, "rbe") : NULL;
    const bool is = file != NULL && fread(begin, 1, sizeof begin, file) == sizeof begin &&
                    memcmp(begin, signature, sizeof begin) == 0;
    if (file != NULL)
        fclose(file);
    return is;
}

/* This file, under any name, if it was read and nothing else is allowed; NULL if it was not. */
static const declared *find_read(const declared *d)
{
    for (guint i = 0; all != NULL && i < all->len; i++) {
        const declared *other = &g_array_index(all, declared, i);
        if (other->role == XLM_FILE_READ && xlm_path_same_file(d->path, other->path))
            return other;
    }
    return NULL;
}

bool xlm_files_check_output(const char *path, bool hdf5, GError **error)
{
    if (!xlm_path_check_output(path, error))
        return false;
    g_mutex_lock(&mutex);
    const declared d = {(char *)path, NULL, XLM_FILE_WRITTEN, NULL}, *other = guards ? find_read(&d) : NULL;
    const bool good = other == NULL || refuse(&d, other, error);
    g_mutex_unlock(&mutex);
    if (good && !hdf5 && xlm_files_is_hdf5(path))
        return xlm_error_set(error, EX_CANTCREAT, "%s: is an HDF5 file, which text is not to replace; choose another name, or "
                             "remove it first", path);
    return good;
}

/* Can a file or directory be created there? The name of a directory may end in a slash. */
static bool check_place(const char *path, GError **error)
{
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == G_DIR_SEPARATOR)
        size--;
    g_autofree char *name = g_strndup(path, size);
    return xlm_path_check_output(name, error);
}

bool xlm_files_check_declared(GError **error)
{
    bool good = true;
    for (guint i = 0; all != NULL && i < all->len && good; i++) {
        const declared *d = &g_array_index(all, declared, i);
        if (d->option != NULL && (d->role & XLM_FILE_WRITTEN) && !g_file_test(d->path, G_FILE_TEST_IS_DIR))
            good = check_place(d->path, error);
    }
    return good;
}

bool xlm_files_load(const char *path, char **bytes, gsize *size, GError **error)
{
    return check_input(path, true, error) && g_file_get_contents(path, bytes, size, error);
}

bool xlm_file_sha256(const char *path, char digest[XLM_SHA256_TEXT], int64_t *bytes, xlm_file_reading *reading, GError **error)
{
    g_autofree char *whole = NULL;
    xlm_path_member(path, &whole);
    if (!xlm_files_check_input(whole, error))
        return false;
    FILE *file = fopen(whole, "rbe");
    if (file == NULL)
        return xlm_error_set(error, EX_NOINPUT, "%s: %s", path, g_strerror(errno));
    enum { BUFFER = 1 << 18 };
    g_autofree guchar *buffer = g_malloc(BUFFER);
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
    int64_t size = 0;
    size_t got;
    while ((reading == NULL || !g_atomic_int_get(&reading->stop)) && (got = fread(buffer, 1, BUFFER, file)) > 0) {
        g_checksum_update(checksum, buffer, (gssize)got);
        size += (int64_t)got;
        if (reading != NULL)
            g_atomic_pointer_add(&reading->bytes, (gssize)got);
    }
    const bool good = !ferror(file) || xlm_error_set(error, EX_IOERR, "%s: %s", path, g_strerror(errno));
    g_strlcpy(digest, g_checksum_get_string(checksum), XLM_SHA256_TEXT);
    if (bytes != NULL)
        *bytes = size;
    fclose(file);
    return good;
}

bool xlm_lfs_pointer_refuse(const char *path, const char *bytes, size_t size, GError **error)
{
    static const char first[] = "version https://git-lfs";
    return size < strlen(first) || memcmp(bytes, first, strlen(first)) != 0 ||
           xlm_error_set(error, EX_DATAERR, "%s: only says where the file is, as git leaves it without git-lfs; fetch the file "
                         "itself: git lfs pull", path);
}
