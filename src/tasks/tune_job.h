/* xlm-mpi: a fine-tuning job, read from a job file. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sections: [tune] (below), and one [task NAME] with the task's options. */
#ifndef XLM_TASKS_TUNE_JOB_H
#define XLM_TASKS_TUNE_JOB_H

#include <stdio.h>

#include "job/job.h"
#include "tasks/task.h"

/* The choices of [tune] average_of, in their order. */
enum { XLM_AVERAGE_LAST, XLM_AVERAGE_BEST };

/* Section [tune]. Settings that the trainer uses unchanged are in `train`; its steps, warmup, evaluate_every and checkpoint_every
 * are computed when the number of examples is known. */
typedef struct xlm_tune_config {
    xlm_train_config train; /* corpus: NULL */
    char *model;            /* checkpoint to start from */
    char **training, **development; /* FILE or LANG:FILE (tasks/sources.h) */
    char *language;         /* of files without one; NULL: none in particular */
    int64_t epochs, batch, length;
    double warmup;          /* share of the steps; above 1, their number */
    double dropout;         /* negative: the model's */
    double head_dropout;    /* negative: the dropout rate of the sublayers; for a task with a plain head, 0 */
    bool keep_head;         /* keep the LM head in the checkpoints */
    int64_t patience;       /* evaluations without a better score before the run ends; 0: no limit */
    int64_t average;        /* number of checkpoints to average; 0: none */
    int64_t average_of;     /* XLM_AVERAGE_... */
    int64_t evaluate_every; /* steps; 0: an epoch */
} xlm_tune_config;

typedef struct xlm_tune_job {
    char *text; /* the job as a job file with every key, with overrides applied */
    xlm_tune_config config;
    const xlm_task *task;
    void *state;        /* of the task, with its options */
    char *task_options; /* these options as lines `key = value` */
    char *score_options; /* the same of what dev scores depend on in [tune] and [task], without the defaults */
    xlm_adapters adapters; /* sections [adapter NAME] */
} xlm_tune_job;

/* Read and check a job file with overrides (NULL-terminated or NULL). Not collective. EX_NOINPUT, EX_CONFIG, EX_USAGE as
 * xlm_job_load. */
xlm_tune_job *xlm_tune_job_load(const char *path, char *const *overrides, GError **error);
void xlm_tune_job_free(xlm_tune_job *job);

/* As xlm_job_complete, for jobs of this program. */
char *xlm_tune_job_complete(const xlm_job *job, const char *text);

/* Print every section and key with type, default, range and meaning. task: only the section of this task; NULL: all sections.
 * EX_CONFIG when there is no task of this name. */
bool xlm_tune_job_print_help(const char *task, FILE *out, GError **error);

/* The state of a task with the options of a text like task_options, and with overrides "KEY=VALUE" (NULL: none);
 * xlm_options_free, then g_free. source: where the text is from, for messages. EX_DATAERR, EX_USAGE. */
void *xlm_task_state_read(const xlm_task *task, const char *source, const char *options, char *const *overrides, GError **error);

#endif
