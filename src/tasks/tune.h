/* xlm-mpi: fine-tuning, a training run on labelled examples. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TASKS_TUNE_H
#define XLM_TASKS_TUNE_H

#include "run/run.h"
#include "tasks/tune_job.h"

/* Collective. Read model and files, make examples, and train as xlm_run does; options->validation is ignored and replaced. At
 * each evaluation the development files are scored, each language by itself; if there are several, the checkpoint is chosen by
 * the mean of their first measures. */
bool xlm_tune(const xlm_comm *comm, xlm_tune_job *job, const xlm_run_options *options, bool *interrupted, GError **error);

#endif
