/* xlm-mpi: the loop of a training run: steps, evaluations, checkpoints, signals. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TRAIN_RUN_H
#define XLM_TRAIN_RUN_H

#include "train/trainer.h"

enum { XLM_RESUME_AUTO, XLM_RESUME_NEVER, XLM_RESUME_FILE };

typedef struct xlm_run_options {
    int resume;              /* XLM_RESUME_... */
    const char *resume_file; /* of XLM_RESUME_FILE */
    bool dry_run;            /* check, estimate, print, and stop before anything is allocated */
    bool profile;            /* count where the time of a step goes, and print it in the end */
    const char *dump_step;   /* write the next step to this file instead of training; NULL: train */
} xlm_run_options;

/* Collective. *interrupted: the run stopped early because a rank was asked to (SIGTERM, SIGINT, SIGUSR1); its checkpoint is
 * written. */
bool xlm_run(const xlm_comm *comm, const xlm_job *job, const xlm_run_options *options, bool *interrupted, GError **error);

#endif
