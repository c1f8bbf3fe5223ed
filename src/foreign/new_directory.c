/* xlm-mpi: directories that get their names when they are complete. SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreign/new_directory.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#include "base/unfinished.h"
#include "files/new_file.h"

/* Remove a directory of files; it has no directories in it. */
static void remove_directory(const char *path)
{
    g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
    for (const char *name; directory != NULL && (name = g_dir_read_name(directory)) != NULL;) {
        g_autofree char *file = g_build_filename(path, name, NULL);
        g_unlink(file);
    }
    g_rmdir(path);
}

static bool check_free(const char *output, GError **error)
{
    g_autoptr(GDir) directory = g_dir_open(output, 0, NULL);
    const bool empty = directory != NULL && g_dir_read_name(directory) == NULL;
    return empty || !g_file_test(output, G_FILE_TEST_EXISTS) ||
           xlm_error_set(error, EX_CANTCREAT, "%s: is there already; give a new directory", output);
}

/* Replace the temporary name of the directory in a message by its final name. */
static void name_whole(const char *unfinished, const char *name, GError **error)
{
    if (error == NULL || *error == NULL)
        return;
    g_auto(GStrv) parts = g_strsplit((*error)->message, unfinished, -1);
    g_free((*error)->message);
    (*error)->message = g_strjoinv(name, parts);
}

bool xlm_new_directory_write(const char *output, bool (*write)(void *data, const char *directory, GError **error), void *data,
                             GError **error)
{
    size_t size = strlen(output);
    while (size > 1 && output[size - 1] == G_DIR_SEPARATOR)
        size--;
    g_autofree char *name = g_strndup(output, size), *unfinished = NULL;
    if (!check_free(name, error))
        return false;
    if (!xlm_unfinished_make_directory(name, &unfinished))
        return xlm_new_file_failed(name, "cannot be made", errno, error);
    if (write(data, unfinished, error) &&
        (xlm_unfinished_rename(unfinished, name) || xlm_new_file_failed(name, "cannot be made", errno, error))) {
        const int number = xlm_new_file_sync_name(name);
        return number == 0 || xlm_new_file_failed(name, "its directory cannot be written", number, error);
    }
    remove_directory(unfinished);
    name_whole(unfinished, name, error);
    return false;
}
