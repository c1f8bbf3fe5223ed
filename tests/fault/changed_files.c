/* xlm-mpi: a program on a file that somebody has changed to do harm. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   changed_files FILE.h5 CHANGED.h5 OUTPUT UNREAD -- PROGRAM ARGUMENT...
 *
 * CHANGED is FILE with one dataset of another rank, extent or type, again and again; PROGRAM reads it. It must end with a code of
 * sysexits.h and a message that names CHANGED, or with 0 and the file OUTPUT (`-`: none). Datasets whose paths match the regular
 * expression UNREAD are left alone; of each other one some change of shape must be refused. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <glib/gstdio.h>

#include "../hdf5_objects.h"
#include "../unit/hostile.h"

typedef struct dataset {
    char *path;
    int64_t rows, columns; /* columns 0: one dimension */
} dataset;

static int failures, runs;

static herr_t add_dataset(hid_t file, const char *name, const visited_object *info, void *found)
{
    if (info->type != H5O_TYPE_DATASET)
        return 0;
    hsize_t dims[2] = {0, 0};
    const hid_t id = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(id);
    H5Sget_simple_extent_dims(space, dims, NULL);
    H5Sclose(space);
    H5Dclose(id);
    const dataset d = {g_strconcat("/", name, NULL), (int64_t)dims[0], (int64_t)dims[1]};
    g_array_append_val((GArray *)found, d);
    return 0;
}

/* True when the program refused the file. */
static bool run(const change *c, const char *changed, const char *output, char **program)
{
    char *messages = NULL;
    int status = 0;
    g_unlink(output);
    if (!g_spawn_sync(NULL, program, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, &messages, &status,
                      NULL))
        exit(EXIT_FAILURE);
    const bool ended = WIFEXITED(status);
    const int code = ended ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    const bool good = ended && ((code == 0 && (strcmp(output, "-") == 0 || g_file_test(output, G_FILE_TEST_EXISTS))) ||
                                (code >= EX_USAGE && code <= EX_CONFIG && strstr(messages, changed) != NULL));
    if (!good) {
        failures++;
        fprintf(stderr, "%s: change %d to %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT ": ended with %d: %.300s\n", c->object,
                c->kind, c->i, c->j, code, messages);
    }
    runs++;
    g_free(messages);
    return code != 0;
}

static void try_dataset(const dataset *d, const char *bytes, gsize size, const char *changed, const char *output, char **program)
{
    const int64_t r = d->rows, w = d->columns, huge = (int64_t)1 << 40;
    /* The first ones are always tried, the others with XLM_TEST_LONG=1. */
    enum { SHORT = 7 };
    const change changes[] = {
        {d->path, NULL, RESHAPE, r, w > 0 ? 0 : 3, .expected = ""}, /* another rank, and more elements */
        {d->path, NULL, RESHAPE, 0, w, .expected = ""},
        {d->path, NULL, RESHAPE, r + 1, w, .expected = ""},
        {d->path, NULL, RESHAPE, r, w > 0 ? w + 1 : 4096, .expected = ""},
        {d->path, NULL, UNALLOCATED, huge, w, .expected = ""},
        {d->path, NULL, RETYPE_INT, INT64_MAX, .expected = ""},
        {d->path, NULL, RESHAPE, 1, w, .expected = ""},
        {d->path, NULL, RESHAPE, r, w > 0 ? 4096 : 1, .expected = ""},
        {d->path, NULL, UNALLOCATED, 1000, huge, .expected = ""},
        {d->path, NULL, RETYPE_INT, 3, .expected = ""},
        {d->path, NULL, RETYPE_TEXT, .expected = ""},
        {d->path, NULL, REMOVE, .expected = ""},
        {d->path, NULL, EXTERNAL, .expected = ""},
        {d->path, NULL, OUTER_LINK, .text = "/tmp/other.h5", .expected = ""},
    };
    const size_t n = g_strcmp0(g_getenv("XLM_TEST_LONG"), "1") == 0 ? G_N_ELEMENTS(changes) : SHORT;
    bool refused = false;
    for (size_t i = 0; i < n; i++) {
        if (!g_file_set_contents(changed, bytes, (gssize)size, NULL))
            exit(EXIT_FAILURE);
        if (!make_change(changed, &changes[i]))
            continue;
        const bool of_shape = changes[i].kind == RESHAPE;
        refused = (run(&changes[i], changed, output, program) && of_shape) || refused;
    }
    if (!refused) {
        failures++;
        fprintf(stderr, "%s: no other shape is refused\n", d->path);
    }
}

int main(int argc, char **argv)
{
    char *bytes;
    gsize size;
    GArray *found = g_array_new(FALSE, FALSE, sizeof(dataset));
    if (argc < 7 || strcmp(argv[5], "--") != 0 || !g_file_get_contents(argv[1], &bytes, &size, NULL))
        return EXIT_FAILURE;
    const hid_t file = H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0 || H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, add_dataset, found, H5O_INFO_BASIC) < 0)
        return EXIT_FAILURE;
    H5Fclose(file);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    for (guint i = 0; i < found->len; i++)
        if (!g_regex_match_simple(argv[4], g_array_index(found, dataset, i).path, 0, 0))
            try_dataset(&g_array_index(found, dataset, i), bytes, size, argv[2], argv[3], argv + 6);
    printf("%s: %u datasets, %d runs, %d failures\n", argv[1], found->len, runs, failures);
    return failures == 0 && runs > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
