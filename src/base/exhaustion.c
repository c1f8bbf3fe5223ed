/* xlm-mpi: the memory that is left, and the end without memory or threads. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/exhaustion.h"

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>

static const char *watched = "xlm-mpi"; /* the program */

/* limit: the option of ulimit. Nothing may be allocated in here. */
static _Noreturn void end_without(const char *what, char limit, const char *message)
{
    char line[512];
    const int n = snprintf(line, sizeof line, "%s: the system gives no more %s (%s); raise the limit (ulimit -%c), take fewer "
                           "ranks on a node, or give it less to do\n", watched, what, message, limit);
    const ssize_t written = write(STDERR_FILENO, line, (size_t)CLAMP(n, 0, (int)sizeof line - 1));
    (void)written; /* there is nowhere else to report it */
    _exit(EX_OSERR);
}

/* GLib reports lack of memory or threads by a message alone, and aborts after it. */
static void handle_message(const char *domain, GLogLevelFlags level, const char *message, void *nothing)
{
    (void)nothing;
    const bool memory = strstr(message, "failed to allocate") != NULL, thread = strstr(message, "creating thread") != NULL;
    if ((level & G_LOG_LEVEL_ERROR) != 0 && (memory || thread))
        end_without(memory ? "memory" : "threads", memory ? 'v' : 'u', message);
    g_log_default_handler(domain, level, message, NULL);
}

void xlm_exhaustion_watch(const char *program)
{
    watched = program;
    g_log_set_default_handler(handle_message, NULL);
}

void xlm_exhaustion_no_memory(size_t size, const char *purpose)
{
    char message[200];
    snprintf(message, sizeof message, "%zu MiB for %s", (size >> 20) + 1, purpose);
    end_without("memory", 'v', message);
}

/* Bytes that this process has mapped, and those of them that are in memory. false: the system does not say. */
static bool read_sizes(uint64_t *mapped, uint64_t *resident)
{
    g_autofree char *text = NULL;
    char *end;
    if (!g_file_get_contents("/proc/self/statm", &text, NULL, NULL))
        return false;
    *mapped = g_ascii_strtoull(text, &end, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
    *resident = g_ascii_strtoull(end, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
    return true;
}

uint64_t xlm_address_space_left(void)
{
    struct rlimit limit;
    uint64_t left = UINT64_MAX, mapped, resident;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && read_sizes(&mapped, &resident))
        left = limit.rlim_cur > mapped ? limit.rlim_cur - mapped : 0;
    return left;
}

uint64_t xlm_memory_resident(void)
{
    uint64_t mapped, resident = 0;
    return read_sizes(&mapped, &resident) ? resident : 0;
}

/* "MemAvailable: 123 kB" of /proc/meminfo in bytes; UINT64_MAX when there is no such line. */
static uint64_t node_memory(void)
{
    g_autofree char *text = NULL;
    const char *line = g_file_get_contents("/proc/meminfo", &text, NULL, NULL) ? strstr(text, "MemAvailable:") : NULL;
    return line != NULL ? g_ascii_strtoull(line + strlen("MemAvailable:"), NULL, 10) * 1024 : UINT64_MAX;
}

/* A number in a file of a control group; UINT64_MAX when there is none or it says "max". */
static uint64_t group_number(const char *directory, const char *name)
{
    g_autofree char *path = g_strconcat(directory, "/", name, NULL), *text = NULL;
    uint64_t number = UINT64_MAX;
    if (g_file_get_contents(path, &text, NULL, NULL) && g_ascii_isdigit(*text))
        number = g_ascii_strtoull(text, NULL, 10);
    return number;
}

/* Files of a control group: its limit, what it is charged for, and the lines of memory.stat of what the kernel takes back when its
 * processes want it: files that were read or written, as MemAvailable of the node counts them too. */
typedef struct group_files {
    const char *limit, *charged, *reclaimable[3];
} group_files;
enum { VERSIONS = 2 };
static const group_files versions[VERSIONS] = {
    {"memory.max", "memory.current", {"inactive_file", "active_file", "slab_reclaimable"}},
    /* Of version 1, where lines without total_ leave out the groups below. */
    {"memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file", "total_active_file", NULL}},
};

static uint64_t group_reclaimable(const char *directory, const group_files *files)
{
    g_autofree char *path = g_strconcat(directory, "/memory.stat", NULL), *text = NULL;
    uint64_t sum = 0;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        return 0;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line != NULL; line++)
        for (size_t i = 0; i < G_N_ELEMENTS(files->reclaimable) && files->reclaimable[i] != NULL; i++) {
            const size_t length = strlen(files->reclaimable[i]);
            if (strncmp(*line, files->reclaimable[i], length) == 0 && (*line)[length] == ' ')
                sum += g_ascii_strtoull(*line + length, NULL, 10);
        }
    return sum;
}

/* What the limit of this group alone leaves; UINT64_MAX when it has none. */
static uint64_t left_in(const char *directory)
{
    static const uint64_t NO_LIMIT = (uint64_t)1 << 62; /* version 1 has a number just below 2^63 where version 2 says "max" */
    uint64_t lowest = UINT64_MAX;
    for (int i = 0; i < VERSIONS; i++) {
        const uint64_t limit = group_number(directory, versions[i].limit), charged = group_number(directory, versions[i].charged);
        if (limit < NO_LIMIT && charged != UINT64_MAX) {
            const uint64_t reclaimable = group_reclaimable(directory, &versions[i]);
            const uint64_t used = charged > reclaimable ? charged - reclaimable : 0;
            lowest = MIN(lowest, limit > used ? limit - used : 0);
        }
    }
    return lowest;
}

uint64_t xlm_group_memory_left(const char *root, const char *group)
{
    g_autofree char *directory = g_strconcat(root, group, NULL);
    uint64_t lowest = UINT64_MAX;
    for (char *end = directory + strlen(directory); end != NULL && end >= directory + strlen(root); end = strrchr(directory, '/')) {
        *end = '\0';
        const uint64_t left = left_in(directory);
        lowest = MIN(lowest, left);
    }
    return lowest;
}

/* In a container the groups that it is in have other paths; the loop over the levels ends at the root, which is the container's. */
uint64_t xlm_groups_memory_left(const char *root, const char *groups)
{
    g_auto(GStrv) lines = g_strsplit(groups, "\n", -1);
    g_autofree char *memory = g_strconcat(root, "/memory", NULL);
    uint64_t lowest = UINT64_MAX;
    for (char **line = lines; *line != NULL; line++) {
        g_auto(GStrv) part = g_strsplit(*line, ":", 3); /* number, controllers, group */
        if (g_strv_length(part) != 3 || *part[2] != '/')
            continue;
        g_auto(GStrv) controllers = g_strsplit(part[1], ",", -1);
        const bool second = strcmp(part[0], "0") == 0 && *part[1] == '\0';
        if (second || g_strv_contains((const char *const *)controllers, "memory")) {
            const uint64_t left = xlm_group_memory_left(second ? root : memory, part[2]);
            lowest = MIN(lowest, left);
        }
    }
    return lowest;
}

/* Of the control groups that this process is in: a Slurm step, a container. */
static uint64_t own_group_memory(void)
{
    g_autofree char *text = NULL;
    if (!g_file_get_contents("/proc/self/cgroup", &text, NULL, NULL))
        return UINT64_MAX;
    return xlm_groups_memory_left("/sys/fs/cgroup", text);
}

uint64_t xlm_memory_left(void)
{
    const uint64_t node = node_memory(), group = own_group_memory();
    return MIN(node, group);
}
