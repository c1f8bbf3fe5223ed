/* xlm-mpi: what a run does from the moment it is asked to stop. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/stopping.h"

#include <signal.h>

#include "base/launcher.h"
#include "base/log.h"
#include "base/signals.h"

struct xlm_stopping {
    const xlm_trainer *trainer;
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

static void tick(void *data) { (void)data; }

xlm_stopping *xlm_stopping_open(xlm_trainer *trainer)
{
    xlm_stopping *s = g_new0(xlm_stopping, 1);
    s->trainer = trainer;
    s->launcher = xlm_launcher_find();
    s->listener = (xlm_signals_listener){.heard = hear, .tick = tick, .data = s};
    xlm_log_info("to stop: Ctrl-C once, or SIGTERM or SIGUSR1; a checkpoint is written, from which the same command goes on");
    xlm_signals_listen(&s->listener);
    return s;
}

void xlm_stopping_close(xlm_stopping *stopping)
{
    if (stopping == NULL)
        return;
    xlm_signals_unlisten();
    g_free(stopping);
}
