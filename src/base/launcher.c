/* xlm-mpi: the process that started this rank. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/launcher.h"

#include <glib.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/process.h"

xlm_launcher xlm_launcher_find(void)
{
    static const char *const in_front[] = {"mpiexec", "mpirun", "orterun", "prterun", "mpiexec.openmpi", "mpirun.openmpi", NULL};
    static const char *const behind[] = {"orted", "prted", NULL};
    xlm_launcher found = {0};
    /* Other launchers' mpiexec has the same name; the variable is there for ranks of Open MPI's alone. */
    if (g_getenv("OMPI_COMM_WORLD_RANK") == NULL)
        return found;
    xlm_process ancestor;
    for (pid_t at = getppid(); at > 1 && found.daemon == 0 && xlm_process_look_up(at, &ancestor); at = ancestor.parent) {
        found.in_front = g_strv_contains(in_front, ancestor.name);
        if (found.in_front || g_strv_contains(behind, ancestor.name))
            found.daemon = at;
    }
    found.hidden = found.daemon == 0;
    const char *seconds = g_getenv("OMPI_MCA_odls_base_sigkill_timeout");
    if (seconds == NULL)
        seconds = g_getenv("PRTE_MCA_odls_base_sigkill_timeout");
    found.waits = seconds != NULL && atoi(seconds) > 1;
    return found;
}
