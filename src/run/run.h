/* xlm-mpi: the loop of a training run: steps, evaluations, checkpoints, signals. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_RUN_RUN_H
#define XLM_RUN_RUN_H

#include "job/data.h"
#include "run/resume.h"
#include "run/validation.h"

typedef struct xlm_run_options {
    int resume;              /* XLM_RESUME_... */
    const char *resume_file; /* of XLM_RESUME_FILE; otherwise what was given to --resume, NULL: nothing */
    const xlm_validation *validation;  /* NULL: none */
    bool dry_run;            /* check, estimate, print, and stop before anything is allocated */
    bool finish;             /* only make the checkpoint of a run whose ranks were killed (checkpoint/snapshot.h), unless a score
                              * is due first; resume is auto */
    bool profile;            /* measure how steps spend their time, and print it at the end */
    bool check_gradients;    /* compare the next step's gradients with differences (run/check_gradients.h); train nothing */
    const char *check_only;  /* only this objective; NULL: all */
    const char *dump_step;   /* write the next step to this file instead of training; NULL: train */
} xlm_run_options;

/* Collective. data: the input of the run. *interrupted: the run stopped early because a rank was asked to (SIGTERM, SIGINT,
 * SIGUSR1); its checkpoint is written. */
bool xlm_run(const xlm_comm *comm, const xlm_job *job, const xlm_training_data *data, const xlm_run_options *options,
             bool *interrupted, GError **error);

/* What to start so that a run with these options goes on from its newest checkpoint: --resume FILE or never would begin again. */
const char *xlm_run_resuming_command(const xlm_run_options *options);

#endif
