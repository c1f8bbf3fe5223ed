/* xlm-mpi: a new run from the model of another one. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * [train] start = CHECKPOINT begins a run with the parameters of a checkpoint: its own seed, objectives, schedule and corpus,
 * step 0, moments zero. Fine-tuning (tasks/tune.h) begins in the same way. In the order in which it happens:
 *   1. the keys of [model] that the job leaves out are the checkpoint's (xlm_warm_start_model)
 *   2. parameters are declared and drawn as for any run
 *   3. those that the checkpoint has are taken by name (xlm_warm_start): of the encoder and the LM head; of objectives where the
 *      job has an objective of the same name and plugin that declares them in the same shape (their states begin anew). The
 *      checkpoint of a fine-tuned model gives its encoder alone. Rows of subwords and languages are found by name too
 *      (train/row_sources.h)
 *   4. the log says what was taken, what stays as drawn, and what was left in the checkpoint
 * A run that resumes does nothing of this but the first. */
#ifndef XLM_TRAIN_WARM_START_H
#define XLM_TRAIN_WARM_START_H

#include "train/job.h"
#include "train/start_record.h"
#include "text/vocabulary.h"

/* Rows of subwords and languages that the checkpoint does not have. In the order of [train] start_rows' choices. */
enum { XLM_START_DRAW, XLM_START_AVERAGE };

/* Not collective; for the reader of job files. Set the keys that section [model] of the file leaves out to those of the
 * checkpoint `start`, and compare the others. A key may differ when nothing that was learned depends on it: dropout,
 * attention_dropout, vocabulary_chunk; positions, where their embeddings are sinusoidal. language_embeddings and token_types may
 * be added, a head be added or left out. output: directory of the run; when `start` is gone and a checkpoint is there, the run is
 * one that resumes, and the keys are those of that checkpoint; a job that gives all keys needs neither. Errors: EX_CONFIG with
 * the place of the key; those of reading. */
bool xlm_warm_start_model(const char *start, const char *output, const xlm_jobfile *file, xlm_model_config *model,
                          GError **error);

/* Not collective. Could the run start so? Reads the checkpoint's header. EX_DATAERR when its vocabulary is not part of the run's,
 * those of reading. vocabulary: the run's. */
bool xlm_warm_start_check(const xlm_job *job, const xlm_vocabulary *vocabulary, GError **error);

/* Collective. Take parameters from job->train.start, as above. objectives: those of objectives too. [out] record: for the run's
 * checkpoints; the caller clears it. Errors as of xlm_warm_start_check, and EX_DATAERR for a parameter that is missing, damaged
 * or has another shape. */
bool xlm_warm_start(const xlm_comm *comm, const xlm_job *job, const xlm_vocabulary *vocabulary, bool objectives,
                    xlm_parameters *parameters, xlm_start_record *record, GError **error);

#endif
