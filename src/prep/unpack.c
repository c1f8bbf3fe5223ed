/* xlm-mpi: text of other files written to scratch files of lines. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/progress.h"
#include "base/unfinished.h"
#include "files/new_file.h"
#include "files/path.h"
#include "formats/tmx.h"
#include "formats/wet.h"

enum { LINES_A_SHOW = 4096, BUFFER = 1 << 17 };

/* ---- scratch files ---- */

struct scratch {
    FILE *stream;
    char *path;
};

static bool failed(const char *path, int number, GError **error)
{
    return xlm_new_file_failed(path, "this scratch file cannot be written (--scratch names its directory)", number, error);
}

static bool create(struct scratch *to, const char *directory, GError **error)
{
    g_autofree char *name = g_build_filename(directory, "xlm_prep-text", NULL);
    const int descriptor = xlm_unfinished_make(name, O_WRONLY, &to->path);
    if (descriptor < 0)
        return failed(name, errno, error);
    fchmod(descriptor, 0600); /* as private as the text may be */
    to->stream = fdopen(descriptor, "w");
    if (to->stream != NULL)
        return true;
    const int number = errno;
    close(descriptor);
    return failed(name, number, error);
}

static void discard(struct scratch *to)
{
    if (to->stream != NULL)
        fclose(to->stream);
    if (to->path != NULL)
        xlm_unfinished_remove(to->path);
    g_clear_pointer(&to->path, g_free);
    to->stream = NULL;
}

static bool put(const struct scratch *to, const char *bytes, size_t size, GError **error)
{
    return fwrite(bytes, 1, size, to->stream) == size || failed(to->path, errno, error);
}

static bool put_line(const struct scratch *to, const char *text, size_t size, bool terminated, GError **error)
{
    return put(to, text, size, error) && (!terminated || put(to, "\n", 1, error));
}

/* Close the file, and give its path away if all has gone well. */
static bool finish(struct scratch *to, bool good, char **path, GError **error)
{
    FILE *stream = to->stream;
    to->stream = NULL;
    if (stream != NULL && fclose(stream) != 0 && good)
        good = failed(to->path, errno, error);
    if (good)
        *path = g_steal_pointer(&to->path);
    else
        discard(to);
    return good;
}

/* ---- lines ---- */

static xlm_progress begin_progress(const xlm_lines *lines)
{
    return xlm_progress_begin("unpacking text", (double)xlm_path_bytes(xlm_lines_path(lines)), "B");
}

static void show(xlm_progress *progress, const xlm_lines *lines, int64_t number)
{
    if (number % LINES_A_SHOW == 0)
        xlm_progress_show(progress, (double)xlm_lines_position(lines));
}

bool xlm_unpack_input(const char *directory, char **path, GError **error)
{
    g_autofree char *buffer = g_malloc(BUFFER);
    struct scratch to = {0};
    bool good = create(&to, directory, error);
    for (ssize_t got = 1; good && got > 0;) {
        do
            got = read(STDIN_FILENO, buffer, BUFFER);
        while (got < 0 && errno == EINTR);
        good = got >= 0 ? put(&to, buffer, (size_t)got, error)
                        : xlm_error_set(error, EX_IOERR, "standard input: cannot be read: %s", g_strerror(errno));
    }
    return finish(&to, good, path, error);
}

/* wet: of the file, which has begun; NULL: the file is lines. */
static bool unpack(xlm_lines *lines, xlm_wet *wet, const char *directory, char **path, GError **error)
{
    struct scratch to = {0};
    xlm_progress progress = begin_progress(lines);
    const char *text;
    size_t size;
    int got = 1;
    bool good = create(&to, directory, error);
    while (good && (got = wet != NULL ? xlm_wet_next(wet, &text, &size, error) : xlm_lines_next(lines, &text, &size, error)) == 1) {
        good = put_line(&to, text, size, wet != NULL || xlm_lines_terminated(lines), error);
        show(&progress, lines, xlm_lines_number(lines));
    }
    xlm_progress_end(&progress);
    return finish(&to, good && got == 0, path, error);
}

bool xlm_unpack_lines(xlm_lines *lines, const char *directory, char **path, GError **error)
{
    xlm_lines_keep_bytes(lines);
    return unpack(lines, NULL, directory, path, error);
}

bool xlm_unpack_wet(xlm_lines *lines, const char *directory, char **path, GError **error)
{
    xlm_wet wet;
    xlm_wet_begin(&wet, lines);
    return unpack(lines, &wet, directory, path, error);
}

/* ---- units ---- */

struct units {
    const xlm_lines *lines;
    int n;
    struct scratch *to; /* [n] */
    int64_t number, *missing;
    xlm_progress progress;
};

static bool put_unit(void *data, const GString *const *segments, GError **error)
{
    struct units *units = data;
    bool good = true;
    for (int i = 0; good && i < units->n; i++) {
        const GString *segment = segments[i];
        units->missing[i] += segment == NULL;
        good = put_line(&units->to[i], segment != NULL ? segment->str : "", segment != NULL ? segment->len : 0, true, error);
    }
    show(&units->progress, units->lines, ++units->number);
    return good;
}

bool xlm_unpack_tmx(xlm_lines *lines, int n, const char *const *languages, const char *directory, char **paths, int64_t *missing,
                    GError **error)
{
    struct units units = {lines, n, g_new0(struct scratch, n), 0, missing, begin_progress(lines)};
    bool good = true;
    for (int i = 0; i < n; i++)
        missing[i] = 0;
    for (int i = 0; good && i < n; i++)
        good = create(&units.to[i], directory, error);
    good = good && xlm_tmx_read(lines, n, languages, put_unit, &units, error);
    xlm_progress_end(&units.progress);
    for (int i = 0; i < n; i++)
        good = finish(&units.to[i], good, &paths[i], error) && good;
    for (int i = 0; i < n && !good; i++)
        if (paths[i] != NULL) {
            xlm_unfinished_remove(paths[i]);
            g_clear_pointer(&paths[i], g_free);
        }
    g_free(units.to);
    return good;
}
