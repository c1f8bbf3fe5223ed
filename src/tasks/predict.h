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
    int64_t step;         /* updates made */
} xlm_predictor;

/* Collective. predictions: [xlm_examples_predictions of all x width of the task]; *loss: value and terms of the task's loss over
 * all examples. Dropout is off. The same bits on every rank and for any number of ranks: passes are over fixed runs of examples,
 * which ranks share. */
bool xlm_predict(const xlm_predictor *predictor, const xlm_examples *examples, double *predictions, xlm_measure *loss,
                 GError **error);

/* For estimates (xlm_planned_validation): computes predictions for a pass and discards them. task: of the pass's objective. */
void xlm_predict_planned(void *task, xlm_loss *loss, xlm_tape *tape, const xlm_pass *pass);

#endif
