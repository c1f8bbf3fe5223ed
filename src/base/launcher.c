/* xlm-mpi: the process that started this rank. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/launcher.h"

#include <glib.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"

xlm_launcher xlm_launcher_find(void)
{
    static const char *const started_by_user[] = {"mpiexec", "mpirun", "orterun", "prterun", "mpiexec.openmpi",
                                                  "mpirun.openmpi", NULL};
    static const char *const daemons[] = {"orted", "prted", NULL};
    xlm_launcher found = {0};
    /* The mpiexec of other launchers has the same name; only Open MPI sets this variable for its ranks. */
    if (g_getenv("OMPI_COMM_WORLD_RANK") == NULL)
        return found;
    xlm_process ancestor;
    for (pid_t at = getppid(); at > 1 && found.daemon == 0 && xlm_process_look_up(at, &ancestor); at = ancestor.parent) {
        found.in_front = g_strv_contains(started_by_user, ancestor.name);
        if (found.in_front || g_strv_contains(daemons, ancestor.name))
            found.daemon = at;
    }
    found.hidden = found.daemon == 0;
    const char *seconds = g_getenv("OMPI_MCA_odls_base_sigkill_timeout");
    if (seconds == NULL)
        seconds = g_getenv("PRTE_MCA_odls_base_sigkill_timeout");
    found.waits = seconds != NULL && atoi(seconds) > 1;
    return found;
}

/* Is one of the ancestors of this process MPICH's process manager of the node? */
static bool is_below_hydra(void)
{
    xlm_process ancestor;
    if (g_getenv("PMI_RANK") == NULL)
        return false;
    for (pid_t at = getppid(); at > 1 && xlm_process_look_up(at, &ancestor); at = ancestor.parent)
        if (g_str_equal(ancestor.name, "hydra_pmi_proxy"))
            return true;
    return false;
}

/* Runs in the child, which inherits standard output and error. Whenever one of the two is closed, unless it is the last one, the
 * manager looks for ranks that have ended. So closing standard error after the parent has ended makes it look in time. */
static void keep_output_open(pid_t parent)
{
    const struct timespec while_parent_ends = {.tv_nsec = 5000000}, while_manager_looks = {.tv_nsec = 500000000};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    xlm_process_close_files(STDERR_FILENO + 1);
    close(STDIN_FILENO);
    for (int i = 0; getppid() == parent && i < 2000; i++)
        nanosleep(&while_parent_ends, NULL);
    close(STDERR_FILENO);
    nanosleep(&while_manager_looks, NULL);
    _exit(0);
}

void xlm_launcher_secure_exit_code(void)
{
    const pid_t parent = getpid();
    if (is_below_hydra() && xlm_process_fork() == 0)
        keep_output_open(parent);
}
