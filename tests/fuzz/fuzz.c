/* xlm-mpi: what fuzz targets share. SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <glib/gstdio.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

static char *directory;
static GHashTable *paths; /* name -> path, of the files in it */
static GString *outcome;   /* of the last input */

static void remove_directory(void)
{
    GHashTableIter at;
    gpointer path;
    g_hash_table_iter_init(&at, paths);
    while (g_hash_table_iter_next(&at, NULL, &path)) {
        g_unlink(path);
        char *folder = g_path_get_dirname(path);
        g_rmdir(folder); /* of a name that has one, when it is empty */
        g_free(folder);
    }
    g_rmdir(directory);
    g_hash_table_unref(paths);
    g_free(directory);
}

void fuzz_begin(void)
{
    if (outcome == NULL)
        outcome = g_string_new(NULL);
    g_string_truncate(outcome, 0);
    if (directory != NULL)
        return;
    xlm_log_open("fuzz", false);
    /* New memory holds letters, so that a byte too far is text, which readers take, and not a 0, which they refuse anyway. */
#ifdef __GLIBC__
    mallopt(M_PERTURB, 0xff ^ 'a');
#endif
    /* In memory where there is a file system for it. */
    const bool shared = g_getenv("TMPDIR") == NULL && g_access("/dev/shm", W_OK | X_OK) == 0;
    directory = g_mkdtemp(g_build_filename(shared ? "/dev/shm" : g_get_tmp_dir(), "xlm-fuzz-XXXXXX", NULL));
    fuzz_require(directory != NULL, "there is a directory for temporary files (TMPDIR)");
    paths = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    atexit(remove_directory);
}

/* A function of LeakSanitizer, if linked. */
#pragma weak __lsan_disable
#pragma weak __lsan_enable
void __lsan_disable(void);
void __lsan_enable(void);

static void allow_leaks(bool allow)
{
    if (__lsan_disable != NULL && __lsan_enable != NULL)
        (allow ? __lsan_disable : __lsan_enable)();
}

static xlm_comm world;

static void end_mpi(void)
{
    allow_leaks(true);
    xlm_comm_close(&world, NULL);
}

const xlm_comm *fuzz_comm(void)
{
    int argc = 0;
    char **argv = NULL;
    if (world.ranks > 0)
        return &world;
    allow_leaks(true);
    xlm_comm_open(&world, "fuzz", &argc, &argv);
    allow_leaks(false);
    xlm_log_open("fuzz", false);
    atexit(end_mpi);
    return &world;
}

const char *fuzz_write(const char *name, const void *data, size_t size)
{
    char *path = g_hash_table_lookup(paths, name);
    if (path == NULL) {
        path = g_build_filename(directory, name, NULL);
        g_hash_table_insert(paths, g_strdup(name), path);
        char *folder = g_path_get_dirname(path);
        fuzz_require(g_mkdir_with_parents(folder, 0700) == 0, "a folder can be made");
        g_free(folder);
    }
    FILE *file = fopen(path, "wb");
    fuzz_require(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0, "an input can be written into a file");
    return path;
}

void fuzz_require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz: it does not hold that %s\n", what);
    abort();
}

/* The directory is of this process. */
void fuzz_note(const char *what, const char *detail)
{
    char **parts = g_strsplit(detail, directory, -1), *text = g_strjoinv(NULL, parts);
    for (char *end = strchr(text, '\n'); end != NULL; end = strchr(end, '\n'))
        *end = ' ';
    g_string_append_printf(outcome, "%s%s%s\n", what != NULL ? what : "", what != NULL ? ": " : "", text);
    g_free(text);
    g_strfreev(parts);
}

const char *fuzz_outcome(void) { return outcome->str; }

void fuzz_check(bool good, GError *error)
{
    fuzz_require(good == (error == NULL), "a reader sets an error when it fails, and only then");
    if (error != NULL) {
        fuzz_require(error->domain == XLM_ERROR && error->message != NULL && *error->message != '\0', "an error is one of ours");
        fuzz_note(NULL, error->message);
    }
    g_clear_error(&error);
}

const char *fuzz_cut(const uint8_t **data, size_t *size, size_t *length)
{
    const char *part = (const char *)*data;
    const uint8_t *end = *size > 0 ? memchr(*data, 0, *size) : NULL;
    *length = end != NULL ? (size_t)(end - *data) : *size;
    const size_t used = *length + (end != NULL);
    *data += used;
    *size -= used;
    return part;
}

uint8_t fuzz_take(const uint8_t **data, size_t *size)
{
    if (*size == 0)
        return 0;
    --*size;
    return *(*data)++;
}
