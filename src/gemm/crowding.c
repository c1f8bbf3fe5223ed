/* xlm-mpi: do threads have cores of their own? SPDX-License-Identifier: GPL-3.0-or-later */
#include "gemm/crowding.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- processors ---- */

/* The quota of a control group in processors; INFINITY if it sets none. `text` is the content of cpu.max, "200000 100000" or "max
 * 100000". */
static double quota_of(const char *text)
{
    double quota, period;
    return sscanf(text, "%lf %lf", &quota, &period) == 2 && quota > 0 && period > 0 ? quota / period : INFINITY;
}

/* Version 2 of control groups: each level up to the root may set a quota. */
static double group_quota(void)
{
    g_autofree char *text = NULL;
    double quota = INFINITY;
    if (!g_file_get_contents("/proc/self/cgroup", &text, NULL, NULL))
        return quota;
    const char *line = g_strstr_len(text, -1, "0::/");
    g_autofree char *group = line != NULL ? g_strndup(line + 3, strcspn(line + 3, "\n")) : g_strdup("");
    for (char *slash = group; slash != NULL;) {
        g_autofree char *path = g_strconcat("/sys/fs/cgroup", group, "/cpu.max", NULL), *found = NULL;
        if (g_file_get_contents(path, &found, NULL, NULL))
            quota = MIN(quota, quota_of(found));
        if ((slash = strrchr(group, '/')) != NULL)
            *slash = '\0';
    }
    return quota;
}

static int within_quota(int processors)
{
    const double quota = group_quota();
    return MAX(quota < processors ? (int)ceil(quota) : processors, 1);
}

int xlm_crowding_own_processors(void) { return within_quota(xlm_processors_own().count); }

int xlm_crowding_node_processors(const xlm_processor_set *of_ranks) { return within_quota(xlm_processors_in(of_ranks)); }

/* ---- others ---- */

int xlm_crowding_others(int own, int node_processors)
{
    enum { LOOKS = 6, APART = 10000 /* microseconds */ };
    int lowest_running = G_MAXINT;
    for (int i = 0; i < LOOKS; i++) {
        g_autofree char *text = NULL;
        int running = 0;
        if (!g_file_get_contents("/proc/loadavg", &text, NULL, NULL) || sscanf(text, "%*s %*s %*s %d/", &running) != 1)
            running = 0;
        lowest_running = MIN(lowest_running, running);
        if (i + 1 < LOOKS)
            g_usleep(APART);
    }
    /* They may run on processors that this job may not use. */
    const int elsewhere = (int)sysconf(_SC_NPROCESSORS_ONLN) - node_processors;
    return MAX(lowest_running - own - MAX(elsewhere, 0), 0);
}
