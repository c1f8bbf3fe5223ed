/* xlm-mpi: signals that ask a run to stop. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_BASE_SIGNALS_H
#define XLM_BASE_SIGNALS_H

#include <glib.h>
#include <stdbool.h>

/* From now on SIGTERM, SIGINT and SIGUSR1 (Slurm's notice before the time limit) are noted instead of ending the process;
 * a second SIGINT ends it. */
void xlm_signals_watch(void);
/* Number of the first signal noted on this rank, or 0. */
int xlm_signals_noted(void);
/* When a signal was noted on this rank: false, and the error that says so (EX_TEMPFAIL), for work that is given up. */
bool xlm_signals_none(GError **error);

#endif
