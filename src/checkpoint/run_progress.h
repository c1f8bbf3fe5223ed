/* xlm-mpi: how far a run has come. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_CHECKPOINT_RUN_PROGRESS_H
#define XLM_CHECKPOINT_RUN_PROGRESS_H

#include <stdint.h>

/* A score on the development set, as in checkpoints: the two numbers of /task/best, the highest score, and those of
 * /task/averaged (checkpoint/checkpoint.h). */
typedef struct xlm_best_score {
    double score;
    double step; /* the step with this score; 0: none yet */
} xlm_best_score;

typedef struct xlm_run_progress {
    int64_t step;        /* updates made */
    int64_t saved;       /* step of the newest checkpoint, written or resumed from; 0: none */
    int64_t validated;   /* the last step after which the model was validated (run/run.h); 0: none */
    xlm_best_score best; /* with a validation */
} xlm_run_progress;

#endif
