/* xlm-mpi: the record of a run's job: job.conf in the output directory, and the text in checkpoints.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * When a run starts or is resumed, its job is written into the output directory as job.conf, with every key; the file runs the
 * same job again. It begins with a comment that identifies it. A job.conf without this comment belongs to the user and is not
 * changed; the record is then job-as-run.conf. */
#ifndef XLM_JOB_JOB_RECORD_H
#define XLM_JOB_JOB_RECORD_H

#include "comm/comm.h"
#include "job/job.h"

/* Collective. Write the record under a temporary name, and rename it. EX_CANTCREAT. */
bool xlm_job_record_write(const xlm_comm *comm, const char *directory, const char *text, GError **error);

/* The name of a directory's record, "job.conf" or "job-as-run.conf"; NULL: it has none. Not collective. */
const char *xlm_job_record_name(const char *directory);

/* The section [model] of a directory's record; false without a record, or one that has no such section or cannot be read. Not
 * collective. */
bool xlm_job_record_model(const char *directory, xlm_model_config *model);

/* The text of a checkpoint's job; NULL with EX_DATAERR or EX_NOINPUT. Not collective. g_free. */
char *xlm_job_record_of_checkpoint(const char *path, GError **error);

/* For a run that resumes from a checkpoint: list in the log every key of its job that is new or has changed since the checkpoint
 * was written. Called by rank 0; not collective. */
void xlm_job_record_log_changes(const char *checkpoint, const xlm_job *job);
/* The same if there is no checkpoint yet, from the record in the directory, before it is overwritten. */
void xlm_job_record_log_changes_in(const char *directory, const xlm_job *job);

#endif
