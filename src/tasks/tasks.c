/* xlm-mpi: the table of tasks. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "options/nearest.h"
#include "tasks/task.h"

/* The table: one line per task. */
#define TASKS(TASK) \
    TASK(answering) \
    TASK(classification) \
    TASK(tagging)

#define DECLARE(name) extern const xlm_task xlm_task_##name;
#define ADDRESS(name) &xlm_task_##name,
TASKS(DECLARE)
static const xlm_task *const tasks[] = {TASKS(ADDRESS) NULL};

const xlm_task *const *xlm_tasks(void) { return tasks; }

const xlm_task *xlm_task_find(const char *name, GError **error)
{
    const char *names[G_N_ELEMENTS(tasks)];
    guint n = 0;
    for (; tasks[n] != NULL; n++) {
        names[n] = tasks[n]->loss.name;
        if (strcmp(names[n], name) == 0)
            return tasks[n];
    }
    g_autofree char *advice = xlm_nearest_advice(name, names, n);
    xlm_error_set(error, EX_CONFIG, "there is no task \"%s\"; %s", name, advice);
    return NULL;
}

