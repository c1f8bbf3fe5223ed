/* xlm-mpi: signals that ask a run to stop. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TRAIN_SIGNALS_H
#define XLM_TRAIN_SIGNALS_H

/* From now on SIGTERM, SIGINT and SIGUSR1 (Slurm's notice before the time limit) are noted instead of ending the process;
 * a second SIGINT ends it. */
void xlm_signals_watch(void);
/* Number of the first signal noted on this rank, or 0. */
int xlm_signals_noted(void);

#endif
