/* xlm-mpi: memory and threads that the system does not give. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/exhaustion.h"

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>

/* Allocations and threads that fail reach us as messages of GLib, which aborts after them. Nothing may be allocated in here. */
static void end_with_message(const char *domain, GLogLevelFlags level, const char *message, void *program)
{
    const bool memory = strstr(message, "failed to allocate") != NULL, thread = strstr(message, "creating thread") != NULL;
    if ((level & G_LOG_LEVEL_ERROR) == 0 || (!memory && !thread)) {
        g_log_default_handler(domain, level, message, NULL);
        return;
    }
    char line[512];
    const int n = snprintf(line, sizeof line, "%s: the system gives no more %s (%s); raise the limit (ulimit -%s), take fewer ranks on "
                           "a node, or give it less to do\n", (const char *)program, memory ? "memory" : "threads", message,
                           memory ? "v" : "u");
    const ssize_t written = write(STDERR_FILENO, line, (size_t)CLAMP(n, 0, (int)sizeof line - 1));
    (void)written; /* there is nowhere else to say it */
    _exit(EX_OSERR);
}

void xlm_exhaustion_watch(const char *program) { g_log_set_default_handler(end_with_message, (void *)program); }

uint64_t xlm_address_space_left(void)
{
    struct rlimit limit;
    char *text = NULL;
    uint64_t left = UINT64_MAX;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        g_file_get_contents("/proc/self/statm", &text, NULL, NULL)) {
        const uint64_t used = g_ascii_strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
        left = limit.rlim_cur > used ? limit.rlim_cur - used : 0;
    }
    g_free(text);
    return left;
}
