/* xlm-mpi: text files that appear all together or not at all. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/line_files.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/unfinished.h"
#include "files/files.h"
#include "files/new_file.h"

static void free_file(gpointer data)
{
    xlm_line_file *file = data;
    g_free(file->name);
    g_string_free(file->text, TRUE);
    g_free(file);
}

GPtrArray *xlm_line_files_new(void) { return g_ptr_array_new_with_free_func(free_file); }

xlm_line_file *xlm_line_files_add(GPtrArray *files, char *name)
{
    xlm_line_file *file = g_new0(xlm_line_file, 1);
    file->name = name;
    file->text = g_string_new(NULL);
    g_ptr_array_add(files, file);
    return file;
}

void xlm_line_file_append(xlm_line_file *file, const char *line)
{
    g_string_append(file->text, line);
    g_string_append_c(file->text, '\n');
    file->lines++;
    file->words += line[0] != '\0';
    for (const char *space = strchr(line, ' '); space != NULL; space = strchr(space + 1, ' '))
        file->words++;
}

/* Write the contents of the file `final` under a temporary name. On failure there is no such file, and *temporary is NULL. */
static bool write_aside(const xlm_line_file *file, const char *final, char **temporary, GError **error)
{
    if (!xlm_files_check_output(final, false, error))
        return false;
    int descriptor = xlm_unfinished_make(final, O_WRONLY, temporary);
    if (descriptor < 0)
        return xlm_error_set(error, EX_CANTCREAT, "%s: cannot be made: %s", final, g_strerror(errno));
    const char *at = file->text->str;
    size_t left = file->text->len;
    bool good = true;
    while (good && left > 0) {
        ssize_t n = write(descriptor, at, left);
        if (n < 0 && errno == EINTR)
            continue;
        good = n >= 0;
        at += good ? n : 0;
        left -= good ? (size_t)n : 0;
    }
    int number = errno;
    if (good && (number = xlm_new_file_sync(descriptor)) != 0)
        good = false;
    const bool closed = close(descriptor) == 0;
    if (good && closed)
        return true;
    xlm_error_set(error, EX_IOERR, "%s: cannot be written: %s; is there room on the disk?", final,
                  g_strerror(good ? errno : number));
    xlm_unfinished_remove(*temporary);
    g_clear_pointer(temporary, g_free);
    return false;
}

/* Rename temporary[i] to final[i], for all n. If one cannot be renamed, no file of either name is left. */
static bool rename_all(guint n, char *const *temporary, char *const *final, GError **error)
{
    guint done = 0;
    while (done < n && xlm_unfinished_rename(temporary[done], final[done]))
        done++;
    if (done == n) {
        const int number = n > 0 ? xlm_new_file_sync_name(final[0]) : 0; /* they are in one directory */
        return number == 0 || xlm_new_file_failed(final[0], "its directory cannot be written", number, error);
    }
    xlm_error_set(error, EX_CANTCREAT, "%s: cannot be given its name: %s", final[done], g_strerror(errno));
    for (guint i = 0; i < n; i++)
        if (i < done)
            g_unlink(final[i]);
        else
            xlm_unfinished_remove(temporary[i]);
    return false;
}

static bool write_all(const GPtrArray *files, const char *directory, GError **error)
{
    g_auto(GStrv) temporary = g_new0(char *, files->len + 1), final = g_new0(char *, files->len + 1);
    bool good = true;
    guint written = 0;
    for (; good && written < files->len; written += good) {
        const xlm_line_file *file = files->pdata[written];
        final[written] = g_build_filename(directory, file->name, NULL);
        good = write_aside(file, final[written], &temporary[written], error);
    }
    if (good)
        good = rename_all(files->len, temporary, final, error);
    else
        for (guint i = 0; i < written; i++)
            xlm_unfinished_remove(temporary[i]);
    return good;
}

bool xlm_line_files_write(const GPtrArray *files, const char *directory, GError **error)
{
    if (g_mkdir_with_parents(directory, 0777) != 0)
        return xlm_error_set(error, EX_CANTCREAT, "%s: cannot be made: %s", directory, g_strerror(errno));
    sigset_t ending, before;
    sigemptyset(&ending);
    sigaddset(&ending, SIGHUP);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGUSR1);
    sigaddset(&ending, SIGXCPU);
    sigprocmask(SIG_BLOCK, &ending, &before);
    const bool good = write_all(files, directory, error);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return good;
}
