/* xlm-mpi: the process that started this rank. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/launcher.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Name and parent of a process; false when there is no such process. */
static bool look_up(pid_t process, char name[17], pid_t *parent)
{
    char path[64], *text = NULL;
    g_snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    if (!g_file_get_contents(path, &text, NULL, NULL))
        return false;
    /* "17 (name) S 1 ...": a name may have blanks and brackets. */
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    long above = 0;
    const bool good = open != NULL && close != NULL && sscanf(close + 1, " %*c %ld", &above) == 1;
    if (good)
        g_strlcpy(name, open + 1, (gsize)MIN(17, close - open));
    *parent = (pid_t)above;
    g_free(text);
    return good;
}

xlm_launcher xlm_launcher_find(void)
{
    static const char *const in_front[] = {"mpiexec", "mpirun", "orterun", "prterun", "mpiexec.openmpi", "mpirun.openmpi", NULL};
    static const char *const behind[] = {"orted", "prted", NULL};
    xlm_launcher found = {0};
    /* Other launchers' mpiexec has the same name; the variable is there for ranks of Open MPI's alone. */
    if (g_getenv("OMPI_COMM_WORLD_RANK") == NULL)
        return found;
    pid_t process = getppid(), parent;
    char name[17];
    while (process > 1 && found.daemon == 0 && look_up(process, name, &parent)) {
        found.in_front = g_strv_contains(in_front, name);
        if (found.in_front || g_strv_contains(behind, name))
            found.daemon = process;
        process = parent;
    }
    const char *seconds = g_getenv("OMPI_MCA_odls_base_sigkill_timeout");
    if (seconds == NULL)
        seconds = g_getenv("PRTE_MCA_odls_base_sigkill_timeout");
    found.waits = found.daemon != 0 && seconds != NULL && atoi(seconds) > 1;
    return found;
}
