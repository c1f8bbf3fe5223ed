/* xlm-mpi: signals that ask a run to stop. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_BASE_SIGNALS_H
#define XLM_BASE_SIGNALS_H

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* From now on SIGHUP, SIGINT, SIGTERM and SIGPIPE, where they are not ignored, end the process as they do by default, but first
 * remove what it has not finished (base/unfinished.h). By the main thread, which has to live as long as the process. */
void xlm_signals_end_cleanly(void);

/* From now on SIGTERM, SIGHUP (where it is not ignored, as nohup does), SIGINT and SIGUSR1 (Slurm's notice before the time limit)
 * are noted instead of ending the process; a second SIGINT ends it cleanly. SIGPIPE is ignored. By the main thread. */
void xlm_signals_watch(void);
/* Number of the first signal noted on this rank, or 0. */
int xlm_signals_noted(void);
/* When a signal was noted on this rank: false with EX_TEMPFAIL and a message, for work that is given up. */
bool xlm_signals_none(GError **error);
/* As if that signal had come. For any thread. */
void xlm_signals_note(int number);

/* A signal as the listening thread receives it: one of those above, or SIGCONT. */
typedef struct xlm_signal {
    int number;
    pid_t sender;
    bool resumed; /* SIGCONT: the process had been stopped, and runs again by this signal */
} xlm_signal;

/* Both are called by a thread of its own, one at a time, whatever the main thread is doing. */
typedef struct xlm_signals_listener {
    void (*on_signal)(void *data, const xlm_signal *signal); /* at once */
    void (*on_tick)(void *data);                         /* about ten times a second, and between signals */
    void *data;
} xlm_signals_listener;

/* After xlm_signals_watch(). There can be one listener at a time; the struct is borrowed until xlm_signals_unlisten(), which
 * returns when no call is under way any more. */
void xlm_signals_listen(const xlm_signals_listener *listener);
void xlm_signals_unlisten(void);

#endif
