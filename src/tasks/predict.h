/* xlm-mpi: predictions of a fine-tuned model for examples. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TASKS_PREDICT_H
#define XLM_TASKS_PREDICT_H

#include "comm/comm.h"
#include "objective/host.h"
#include "tasks/task.h"

typedef struct xlm_predictor {
    const xlm_comm *comm;
    xlm_host *host;       /* with one objective, the task, on stream 0 */
    xlm_tape *tape;
    const xlm_task *task;
    const xlm_loss *self; /* the task with its state */
    int64_t step;         /* number of updates that the model has had */
} xlm_predictor;

/* Collective. [out] predictions: [number of predicted rows of all examples x width of the task]; loss: value and terms of the
 * task's loss over all examples. Dropout is off, and the passes are of held-out text (xlm_pass.held_out). The results have the same
 * bits on every rank and for any number of ranks, because ranks share fixed runs of examples. Errors of xlm_examples_pass_over. */
bool xlm_predict(const xlm_predictor *predictor, const xlm_examples *examples, double *predictions, xlm_measure *loss,
                 GError **error);

/* For estimates (xlm_planned_validation): compute predictions for a pass and discard them. task: the pass's task, const xlm_task
 * *. */
void xlm_predict_planned(void *task, xlm_loss *loss, xlm_tape *tape, const xlm_pass *pass);

#endif
