/* xlm-mpi: run a fuzz target on files, where there is no libFuzzer. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   tests/fuzz/html FILE|DIRECTORY...
 *
 * Each file is one input, of a directory every file. An input that takes more than ten seconds ends the program, as libFuzzer's
 * does; in `make check` the machine may be busy, so there it has a minute. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 60 };

static int run_file(const char *path)
{
    char *bytes;
    gsize size;
    GError *error = NULL;
    if (!g_file_get_contents(path, &bytes, &size, &error)) {
        fprintf(stderr, "%s\n", error->message);
        exit(EX_NOINPUT);
    }
    printf("%s\n", path);
    fflush(stdout);
    alarm(LONGEST);
    /* In memory of just this size, so that a byte too far is found. */
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL)
        exit(EX_OSERR);
    memcpy(copy, bytes, size);
    LLVMFuzzerTestOneInput(copy, size);
    alarm(0);
    free(copy);
    g_free(bytes);
    return 1;
}

static gint by_name(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static int run_directory(const char *path, GDir *directory)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; (name = g_dir_read_name(directory)) != NULL;)
        g_ptr_array_add(names, g_build_filename(path, name, NULL));
    g_ptr_array_sort(names, by_name);
    int n = 0;
    for (guint i = 0; i < names->len; i++)
        n += run_file(names->pdata[i]);
    g_ptr_array_unref(names);
    return n;
}

int main(int argc, char **argv)
{
    int n = 0;
    for (int i = 1; i < argc; i++) {
        GDir *directory = g_dir_open(argv[i], 0, NULL);
        if (directory != NULL) {
            n += run_directory(argv[i], directory);
            g_dir_close(directory);
        } else {
            n += run_file(argv[i]);
        }
    }
    printf("%d inputs\n", n);
    return n > 0 ? EX_OK : EX_NOINPUT;
}
