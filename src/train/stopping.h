/* xlm-mpi: what a run does from the moment it is asked to stop. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * SIGINT, SIGTERM and SIGUSR1 to any rank end the run after the step under way, with a checkpoint (train/run.c). Here is what cannot
 * wait for the end of the step: a thread that hears signals at once (base/signals.h), so that the user reads in the same moment
 * that the signal has come. */
#ifndef XLM_TRAIN_STOPPING_H
#define XLM_TRAIN_STOPPING_H

#include "train/trainer.h"

typedef struct xlm_stopping xlm_stopping;

/* After xlm_signals_watch(). trainer: borrowed. Says on rank 0 how the run is stopped. Not collective. */
xlm_stopping *xlm_stopping_open(xlm_trainer *trainer);
/* NULL is allowed. */
void xlm_stopping_close(xlm_stopping *stopping);

#endif
