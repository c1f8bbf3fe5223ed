/* xlm-mpi: names of files that a program will write, checked before it starts its work. SPDX-License-Identifier: GPL-3.0-or-later */
#include "files/path.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool xlm_path_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    if (stat(a, &of_a) == 0 && stat(b, &of_b) == 0)
        return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
    g_autofree char *whole_a = g_canonicalize_filename(a, NULL), *whole_b = g_canonicalize_filename(b, NULL);
    return strcmp(whole_a, whole_b) == 0;
}

char *xlm_path_target(const char *path)
{
    enum { MOST_LINKS = 40 }; /* as Linux follows: those in a circle have no end */
    char *target = NULL, *link;
    for (int i = 0; i < MOST_LINKS && (link = g_file_read_link(target != NULL ? target : path, NULL)) != NULL; i++) {
        g_autofree char *directory = g_path_get_dirname(target != NULL ? target : path);
        g_free(target);
        target = g_path_is_absolute(link) ? g_strdup(link) : g_build_filename(directory, link, NULL);
        g_free(link);
    }
    return target;
}

char **xlm_path_list(const char *directory, GError **error)
{
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    DIR *folder = opendir(directory);
    int number = folder == NULL && errno != ENOENT ? errno : 0;
    const struct dirent *entry;
    while (folder != NULL && (errno = 0, entry = readdir(folder)) != NULL)
        g_strv_builder_add(names, entry->d_name);
    if (folder != NULL) {
        number = errno;
        closedir(folder);
    }
    if (number == 0)
        return g_strv_builder_end(names);
    xlm_error_set(error, number == EACCES ? EX_NOPERM : EX_NOINPUT, "%s: cannot be listed: %s", directory, g_strerror(number));
    return NULL;
}

bool xlm_path_check_directory(const char *directory, const char *what, GError **error)
{
    struct stat status;
    const bool there = stat(directory, &status) == 0, other = there && !S_ISDIR(status.st_mode);
    return (there && !other && access(directory, W_OK | X_OK) == 0) ||
           xlm_error_set(error, EX_CANTCREAT, "%s: cannot be made: %s: %s; choose a directory that is there and may be written "
                         "to", what, directory, g_strerror(other ? ENOTDIR : errno));
}

bool xlm_path_check_output(const char *path, GError **error)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return xlm_error_set(error, EX_CANTCREAT, "%s: is not a regular file; choose another name", path);
    g_autofree char *directory = g_path_get_dirname(path);
    return xlm_path_check_directory(directory, path, error);
}

bool xlm_path_check_outputs(const char *const *outputs, size_t n, const char *const *inputs, size_t m, GError **error)
{
    for (size_t i = 0; i < n; i++) {
        if (outputs[i] == NULL)
            continue;
        for (size_t k = 0; k < m; k++)
            if (inputs[k] != NULL && xlm_path_same_file(outputs[i], inputs[k]))
                return xlm_error_set(error, EX_USAGE, "%s: is both input and output", outputs[i]);
        for (size_t k = 0; k < i; k++)
            if (outputs[k] != NULL && xlm_path_same_file(outputs[i], outputs[k]))
                return xlm_error_set(error, EX_USAGE, "%s: two outputs have this name", outputs[i]);
        if (!xlm_path_check_output(outputs[i], error))
            return false;
    }
    return true;
}

const char *xlm_path_member(const char *path, char **file)
{
    struct stat status;
    *file = g_strdup(path);
    if (stat(path, &status) == 0 || errno != ENOTDIR)
        return NULL;
    for (char *slash; (slash = strrchr(*file, '/')) != NULL && slash > *file;) {
        *slash = '\0';
        if (stat(*file, &status) == 0)
            return S_ISREG(status.st_mode) ? path + strlen(*file) + 1 : NULL;
    }
    return NULL;
}

int64_t xlm_path_bytes(const char *path)
{
    g_autofree char *file = NULL;
    struct stat status;
    xlm_path_member(path, &file);
    return stat(file, &status) == 0 && S_ISREG(status.st_mode) ? (int64_t)status.st_size : 0;
}
