/* xlm-mpi: names of the checkpoints in a directory. SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/checkpoint_names.h"

#include <string.h>

#include "files/path.h"

char *xlm_checkpoint_name(int64_t step) { return g_strdup_printf("checkpoint-%08" G_GINT64_FORMAT ".h5", step); }

char *xlm_checkpoint_path(const char *directory, int64_t step)
{
    char *name = xlm_checkpoint_name(step), *path = g_build_filename(directory, name, NULL);
    g_free(name);
    return path;
}

int64_t xlm_checkpoint_step_of(const char *name)
{
    const int64_t step = g_str_has_prefix(name, "checkpoint-") ? g_ascii_strtoll(name + strlen("checkpoint-"), NULL, 10) : -1;
    g_autofree char *same = xlm_checkpoint_name(step);
    return step >= 0 && strcmp(same, name) == 0 ? step : -1;
}

static gint by_step(gconstpointer a, gconstpointer b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

GArray *xlm_checkpoint_steps(const char *directory, GError **error)
{
    g_auto(GStrv) names = xlm_path_list(directory, error);
    if (names == NULL)
        return NULL;
    GArray *steps = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (char **name = names; *name != NULL; name++) {
        const int64_t step = xlm_checkpoint_step_of(*name);
        if (step >= 0)
            g_array_append_val(steps, step);
    }
    g_array_sort(steps, by_step);
    return steps;
}
