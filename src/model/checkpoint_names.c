/* xlm-mpi: names of the checkpoints in a directory. SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/checkpoint_names.h"

#include <string.h>

char *xlm_checkpoint_name(int64_t step) { return g_strdup_printf("checkpoint-%08" G_GINT64_FORMAT ".h5", step); }

char *xlm_checkpoint_path(const char *directory, int64_t step)
{
    char *name = xlm_checkpoint_name(step), *path = g_build_filename(directory, name, NULL);
    g_free(name);
    return path;
}

static gint by_step(gconstpointer a, gconstpointer b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

GArray *xlm_checkpoint_steps(const char *directory)
{
    GArray *steps = g_array_new(FALSE, FALSE, sizeof(int64_t));
    g_autoptr(GDir) folder = g_dir_open(directory, 0, NULL);
    const char *entry;
    while (folder != NULL && (entry = g_dir_read_name(folder)) != NULL) {
        if (!g_str_has_prefix(entry, "checkpoint-"))
            continue;
        const int64_t step = g_ascii_strtoll(entry + strlen("checkpoint-"), NULL, 10);
        g_autofree char *name = xlm_checkpoint_name(step);
        if (strcmp(name, entry) == 0)
            g_array_append_val(steps, step);
    }
    g_array_sort(steps, by_step);
    return steps;
}
