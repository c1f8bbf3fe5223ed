/* xlm-mpi: what a run does from the moment it is asked to stop. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/stopping.h"

#include <signal.h>

#include "base/launcher.h"
#include "base/log.h"
#include "base/signals.h"

struct xlm_stopping {
    const xlm_comm *comm;
    const char *directory;
    xlm_output_lock *lock;
    xlm_launcher launcher;
    xlm_signals_listener listener;
    bool said; /* that a signal was noted */
};

/* Open MPI's daemon ends this rank: SIGTERM is from it, or SIGCONT, which comes before and is no notice when it is a user's who lets
 * a stopped run go on. */
static bool is_ending(const xlm_stopping *s, const xlm_signal *signal)
{
    return s->launcher.daemon != 0 && signal->sender == s->launcher.daemon && signal->number == SIGCONT && !signal->resumed;
}

static void hear(void *data, const xlm_signal *signal)
{
    xlm_stopping *s = data;
    if (is_ending(s, signal) && s->launcher.waits)
        xlm_signals_note(SIGTERM); /* it comes too late, when all of the time to finish the step is over */
    if (xlm_signals_noted() != 0 && !s->said) {
        s->said = true;
        xlm_log_info("signal noted (%s), finishing the step; a checkpoint is written then", g_strsignal(xlm_signals_noted()));
    }
}

static void tick(void *data)
{
    xlm_stopping *s = data;
    xlm_output_lock_refresh(s->lock);
}

xlm_stopping *xlm_stopping_open(const xlm_comm *comm, const char *directory, GError **error)
{
    xlm_output_lock *lock = xlm_output_lock_take(comm, directory, error);
    if (lock == NULL)
        return NULL;
    xlm_stopping *s = g_new0(xlm_stopping, 1);
    s->comm = comm;
    s->directory = directory;
    s->lock = lock;
    s->launcher = xlm_launcher_find();
    s->listener = (xlm_signals_listener){.heard = hear, .tick = tick, .data = s};
    xlm_signals_listen(&s->listener);
    return s;
}

void xlm_stopping_close(xlm_stopping *stopping)
{
    if (stopping == NULL)
        return;
    xlm_signals_unlisten();
    xlm_output_lock_release(stopping->lock);
    g_free(stopping);
}

bool xlm_stopping_may_write(xlm_stopping *stopping, GError **error)
{
    GError *failure = NULL;
    if (xlm_output_lock_is_lost(stopping->lock))
        xlm_error_set(&failure, EX_CANTCREAT, "%s: another run has taken this output directory over, because this one gave no sign "
                      "of life for minutes; nothing more is written", stopping->directory);
    if (xlm_comm_agree(stopping->comm, &failure))
        return true;
    g_propagate_error(error, failure);
    return false;
}
