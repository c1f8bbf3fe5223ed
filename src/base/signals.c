/* xlm-mpi: signals that ask a run to stop. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/signals.h"

#include <signal.h>
#include <stddef.h>

#include "base/error.h"

static volatile sig_atomic_t noted;

static void note(int number)
{
    if (noted == 0)
        noted = number;
}

void xlm_signals_watch(void)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    signal(SIGXFSZ, SIG_IGN);        /* a limit on file sizes is an error of writing, to be spoken of */
    action.sa_flags |= SA_RESETHAND; /* a second Ctrl-C does not wait */
    sigaction(SIGINT, &action, NULL);
}

int xlm_signals_noted(void) { return noted; }

bool xlm_signals_none(GError **error)
{
    return noted == 0 ||
           xlm_error_set(error, EX_TEMPFAIL, "stopped by a signal (%s); nothing was written", g_strsignal(noted));
}
