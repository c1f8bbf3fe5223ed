/* xlm-mpi: fine-tuning, a training run on labelled examples. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TASKS_TUNE_H
#define XLM_TASKS_TUNE_H

#include "tasks/tune_job.h"

/* Collective. Read model and files, make examples, and train as xlm_run does; of options, the validation is filled in here.
 * After each epoch the development files are scored. */
bool xlm_tune(const xlm_comm *comm, xlm_tune_job *job, const xlm_run_options *options, bool *interrupted, GError **error);

/* Id of a language of the vocabulary, by its name; -1 for NULL, which is an error when needed (the model has language
 * embeddings). how: the option that names one, for the message, which lists those there are; exit_code: of the error. */
bool xlm_task_language(const xlm_vocabulary *vocabulary, const char *name, bool needed, const char *how, int exit_code,
                       int *language, GError **error);

#endif
