/* xlm-mpi: the memory that a node still has. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/memory_left.h"

#include <glib.h>
#include <string.h>

/* "MemAvailable: 123 kB" of /proc/meminfo in bytes; 0 when there is no such line. */
static uint64_t node_memory(void)
{
    g_autofree char *text = NULL;
    uint64_t kib = 0;
    if (g_file_get_contents("/proc/meminfo", &text, NULL, NULL)) {
        const char *line = strstr(text, "MemAvailable:");
        if (line != NULL)
            kib = g_ascii_strtoull(line + strlen("MemAvailable:"), NULL, 10);
    }
    return kib * 1024;
}

/* A number in a file of the control group; UINT64_MAX when there is none or it says "max". */
static uint64_t group_number(const char *group, const char *name)
{
    g_autofree char *path = g_strconcat("/sys/fs/cgroup", group, "/", name, NULL), *text = NULL;
    uint64_t number = UINT64_MAX;
    if (g_file_get_contents(path, &text, NULL, NULL) && g_ascii_isdigit(*text))
        number = g_ascii_strtoull(text, NULL, 10);
    return number;
}

/* What the control group (a Slurm step, a container) still lets its processes have; UINT64_MAX without a limit. Version 2
 * of control groups; each level up to the root may set a limit. */
static uint64_t group_memory(void)
{
    char *text = NULL;
    uint64_t lowest = UINT64_MAX;
    if (!g_file_get_contents("/proc/self/cgroup", &text, NULL, NULL))
        return lowest;
    char *line = g_strstr_len(text, -1, "0::/");
    if (line != NULL) {
        g_autofree char *group = g_strndup(line + 3, strcspn(line + 3, "\n"));
        for (;;) {
            const uint64_t limit = group_number(group, "memory.max"), used = group_number(group, "memory.current");
            if (limit != UINT64_MAX && used != UINT64_MAX)
                lowest = MIN(lowest, limit > used ? limit - used : 0);
            char *slash = strrchr(group, '/');
            if (slash == NULL)
                break;
            *slash = '\0';
        }
    }
    g_free(text);
    return lowest;
}

uint64_t xlm_memory_left(void) { return MIN(node_memory(), group_memory()); }
