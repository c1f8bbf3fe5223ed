/* xlm-mpi: signals that ask a run to stop. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_BASE_SIGNALS_H
#define XLM_BASE_SIGNALS_H

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* From now on SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGUSR1 (Slurm's notice before the time limit) and SIGXCPU (a limit on processor
 * time), unless they are ignored, end the process as they do by default, but first remove its unfinished files
 * (base/unfinished.h). Called by the main thread, which must live as long as the process. */
void xlm_signals_end_cleanly(void);

/* From now on SIGTERM, SIGHUP (where it is not ignored, as nohup does), SIGINT and SIGUSR1 are noted instead of ending the
 * process; a second SIGINT ends it cleanly. SIGPIPE is ignored. Called by the main thread. */
void xlm_signals_watch(void);
/* Number of the first signal noted on this rank, or 0. */
int xlm_signals_noted(void);
/* For work that a signal ends early: if a signal was noted on this rank, returns false with EX_TEMPFAIL and a message. */
bool xlm_signals_none(GError **error);
/* Act as if that signal had arrived. Any thread may call it. */
void xlm_signals_note(int number);

/* A signal that the listening thread receives: one of those above, or SIGCONT. */
typedef struct xlm_signal {
    int number;
    pid_t sender;
    bool resumed; /* SIGCONT: the process had been stopped, and this signal makes it continue */
} xlm_signal;

/* A separate thread calls both functions, one at a time, whatever the main thread is doing. */
typedef struct xlm_signals_listener {
    void (*on_signal)(void *data, const xlm_signal *signal); /* at once */
    void (*on_tick)(void *data);                         /* about ten times a second, and between signals */
    void *data;
} xlm_signals_listener;

/* Call it after xlm_signals_watch(). There can be one listener at a time. The struct is borrowed until xlm_signals_unlisten(),
 * which returns when no call is running any more. */
void xlm_signals_listen(const xlm_signals_listener *listener);
void xlm_signals_unlisten(void);

#endif
