/* xlm-mpi: what the system knows of a process. SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* _Fork */
#include "base/process.h"

#include <glib.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

bool xlm_process_look_up(pid_t process, xlm_process *found)
{
    g_autofree char *text = NULL;
    char path[64], state = 'Z';
    g_snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    if (!g_file_get_contents(path, &text, NULL, NULL))
        return false;
    /* "17 (name) S 1 ...": state, parent, group, session, terminal and its foreground group; the 22nd field is the start time. A
     * name may contain blanks and brackets. */
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    long parent = 0, group = 0, foreground = -1;
    int terminal = 0;
    const bool good = open != NULL && close != NULL &&
                      sscanf(close + 1, " %c %ld %ld %*s %d %ld %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64,
                             &state, &parent, &group, &terminal, &foreground, &found->started) == 6;
    if (good)
        g_strlcpy(found->name, open + 1, (gsize)MIN((ptrdiff_t)sizeof found->name, close - open));
    found->parent = (pid_t)parent;
    found->group = (pid_t)group;
    found->terminal = (unsigned)terminal;
    found->foreground = (pid_t)foreground;
    return good && state != 'Z' && state != 'X';
}

pid_t xlm_process_fork(void)
{
#ifdef HAVE__FORK
    return _Fork();
#else
    return fork();
#endif
}

void xlm_process_close_files(int first)
{
    struct rlimit limit;
    const rlim_t max_files = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? limit.rlim_cur : 65536;
    for (int file = first; file < (int)max_files; file++)
        close(file);
}
