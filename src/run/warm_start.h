/* xlm-mpi: a new run from the model of another one. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * [train] start = CHECKPOINT begins a run with the parameters of a checkpoint, but with its own seed, objectives, schedule and
 * corpus, at step 0 and with zero moments. Fine-tuning (tasks/tune.h) begins in the same way. In this order:
 *   1. the keys of [model] that the job leaves out are the checkpoint's (xlm_warm_start_model)
 *   2. parameters are declared and drawn as for any run
 *   3. those that the checkpoint has are taken by name (xlm_warm_start): of the encoder and the LM head; of objectives where the
 *      job has an objective of the same name and plugin that declares them in the same shape (their states begin anew). The
 *      checkpoint of a fine-tuned model gives its encoder alone. Rows of subwords and languages are found by name too
 *      (model/row_sources.h)
 *   4. the log says what was taken, what stays as drawn, and what was left in the checkpoint
 * A run that resumes does only the first. */
#ifndef XLM_RUN_WARM_START_H
#define XLM_RUN_WARM_START_H

#include "job/job.h"
#include "checkpoint/start_record.h"
#include "subwords/vocabulary.h"

/* Not collective. Can the run start in this way? Reads the checkpoint's header. EX_DATAERR when its vocabulary is not part of the
 * run's; errors of reading. vocabulary: the run's. */
bool xlm_warm_start_check(const xlm_job *job, const xlm_vocabulary *vocabulary, GError **error);

/* Collective. Take parameters from job->train.start, as above. objectives: also take those of objectives. [out] record: for the
 * run's checkpoints; the caller clears it. Errors as of xlm_warm_start_check, and EX_DATAERR for a parameter that is missing,
 * damaged or has another shape. */
bool xlm_warm_start(const xlm_comm *comm, const xlm_job *job, const xlm_vocabulary *vocabulary, bool objectives,
                    xlm_parameters *parameters, xlm_start_record *record, GError **error);

/* Not collective. Warn if the file that job->train.start names is not the one that the resumed run began with: its step differs
 * or, of files up to 256 MiB, its SHA-256. One that is gone or cannot be read is not compared: the run needs it no more. */
void xlm_warm_start_compare(const xlm_job *job, const xlm_start_record *record);

#endif
