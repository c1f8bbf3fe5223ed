/* xlm-mpi: what a run does from the moment it is asked to stop. SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/stopping.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/launcher.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/terminal.h"

struct xlm_stopping {
    const xlm_comm *comm;
    const char *directory;
    xlm_output_lock *lock;
    xlm_launcher launcher;
    xlm_signals_listener listener;
    xlm_run_state state;
    xlm_snapshot *snapshot; /* set while the thread runs */
    int terminal;           /* standard error of mpiexec, on rank 0 if it can be opened; else -1 */
    bool announced;         /* the user was told that a signal was noted */
};

/* A snapshot this old was taken because of a SIGCONT that did not announce the end. */
static const double FALSE_ALARM = 10; /* seconds */

/* Is Open MPI's daemon ending this rank? It sends SIGCONT first; but daemons also pass on the SIGCONT of a user who lets a
 * stopped run continue. SIGUSR1 is only passed on. In a container of its own a rank does not see who sends a signal. */
static bool is_ending(const xlm_stopping *s, const xlm_signal *signal)
{
    if (s->launcher.daemon == 0)
        return s->launcher.hidden && signal->sender == 0 && signal->number == SIGTERM;
    return signal->sender == s->launcher.daemon &&
           (signal->number == SIGCONT ? !signal->resumed : signal->number == SIGTERM || signal->number == SIGINT);
}

/* A file is not written to directly: mpiexec would overwrite the line, since it continues writing at its own position. */
static bool is_read_live(int terminal)
{
    struct stat is;
    return terminal >= 0 && fstat(terminal, &is) == 0 && !S_ISREG(is.st_mode);
}

/* mpiexec no longer forwards output while it ends the ranks, so the line goes to its standard error directly. */
static void announce(xlm_stopping *s)
{
    const char *signal = g_strsignal(xlm_signals_noted());
    s->announced = true;
    if (xlm_snapshot_age(s->snapshot) < 0) {
        xlm_log_info("signal noted (%s), finishing the step; a checkpoint is written then", signal);
        return;
    }
    g_autofree char *directory = xlm_terminal_escape(s->directory);
    g_autofree char *line = g_strdup_printf("signal noted (%s), finishing the step; where mpiexec leaves no time for it, the "
                                            "checkpoint of the last finished step is written in the background: see "
                                            "%s/stopped.log", signal, directory);
    if (is_read_live(s->terminal))
        dprintf(s->terminal, "%s%s\n", isatty(s->terminal) ? "\n" : "", line); /* the terminal has shown ^C */
    else
        xlm_log_info("%s", line);
}

static void on_signal(void *data, const xlm_signal *signal)
{
    xlm_stopping *s = data;
    if (is_ending(s, signal)) {
        xlm_snapshot_take(xlm_stopping_snapshot(s));
        if (s->launcher.waits)
            xlm_signals_note(SIGTERM); /* mpiexec's own SIGTERM comes when no time to finish the step is left */
    }
    if (xlm_signals_noted() != 0 && !s->announced)
        announce(s);
}

static void on_tick(void *data)
{
    xlm_stopping *s = data;
    xlm_output_lock_refresh(s->lock);
    if (xlm_signals_noted() == 0 && xlm_snapshot_age(xlm_stopping_snapshot(s)) > FALSE_ALARM)
        xlm_snapshot_discard(xlm_stopping_snapshot(s));
}

xlm_stopping *xlm_stopping_open(const xlm_comm *comm, const char *directory, bool finishes, GError **error)
{
    xlm_output_lock *lock = xlm_output_lock_take(comm, directory, finishes, error);
    if (lock == NULL)
        return NULL;
    xlm_stopping *s = g_new0(xlm_stopping, 1);
    s->comm = comm;
    s->directory = directory;
    s->lock = lock;
    s->launcher = xlm_launcher_find();
    s->terminal = -1;
    s->listener = (xlm_signals_listener){.on_signal = on_signal, .on_tick = on_tick, .data = s};
    xlm_signals_listen(&s->listener);
    return s;
}

void xlm_stopping_close(xlm_stopping *stopping)
{
    if (stopping == NULL)
        return;
    xlm_signals_unlisten();
    xlm_snapshot_close(stopping->snapshot);
    if (stopping->terminal >= 0)
        close(stopping->terminal);
    xlm_output_lock_release(stopping->lock);
    g_free(stopping);
}

void xlm_stopping_protect(xlm_stopping *stopping, const xlm_run_state *state, int64_t validated, const char *command)
{
    xlm_stopping *s = stopping;
    uint64_t run = (uint64_t)g_random_int() << 32 | g_random_int();
    xlm_comm_broadcast(s->comm, 0, &run, sizeof run);
    if (s->launcher.daemon == 0 && !s->launcher.hidden)
        return;
    if (s->comm->rank == 0 && s->launcher.in_front) {
        g_autofree char *path = g_strdup_printf("/proc/%ld/fd/2", (long)s->launcher.daemon);
        s->terminal = open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
    }
    s->state = *state;
    const xlm_snapshot_setup setup = {.state = &s->state, .directory = s->directory, .lock = s->lock, .run = run,
                                      .terminal = s->terminal, .command = command};
    g_atomic_pointer_set(&s->snapshot, xlm_snapshot_open(&setup, validated));
}

xlm_snapshot *xlm_stopping_snapshot(xlm_stopping *stopping)
{
    return stopping != NULL ? g_atomic_pointer_get(&stopping->snapshot) : NULL;
}

bool xlm_stopping_may_write(xlm_stopping *stopping, GError **error)
{
    GError *failure = NULL;
    if (xlm_output_lock_is_lost(stopping->lock))
        xlm_error_set(&failure, EX_CANTCREAT, "%s: another run has taken this output directory over, because this one was "
                      "not active for minutes; nothing more is written", stopping->directory);
    return xlm_comm_agree_on(stopping->comm, failure, error);
}
