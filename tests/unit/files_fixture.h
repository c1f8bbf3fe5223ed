/* xlm-mpi: a directory for the files of a test, removed with them at its end. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TESTS_FILES_FIXTURE_H
#define XLM_TESTS_FILES_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <glib.h>
#include <glib/gstdio.h>

/* Made and removed by the fixtures below, which a program gives to cmocka_run_group_tests. */
static char *directory;

/* A file of that name and text; g_free. */
static inline char *write_file(const char *name, const char *text)
{
    char *path = g_build_filename(directory, name, NULL);
    assert_true(g_file_set_contents(path, text, -1, NULL));
    return path;
}

static int make_directory(void **state)
{
    (void)state;
    directory = g_dir_make_tmp("xlm-test-XXXXXX", NULL);
    return directory == NULL;
}

/* A file, or a directory with all that it has. */
static int remove_tree(const char *path)
{
    GDir *folder = g_dir_open(path, 0, NULL);
    for (const char *name; folder != NULL && (name = g_dir_read_name(folder)) != NULL;) {
        char *entry = g_build_filename(path, name, NULL);
        remove_tree(entry);
        g_free(entry);
    }
    if (folder != NULL)
        g_dir_close(folder);
    return g_remove(path);
}

static int remove_directory(void **state)
{
    (void)state;
    const int failed = remove_tree(directory);
    g_free(directory);
    return failed;
}

#endif
