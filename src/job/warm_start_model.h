/* xlm-mpi: the model of a run that starts from another one's. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_JOB_WARM_START_MODEL_H
#define XLM_JOB_WARM_START_MODEL_H

#include "model/model_file.h"
#include "nn/model.h"
#include "options/jobfile.h"

/* Not collective; for the reader of job files. Set the keys that section [model] of the file leaves out to those of the
 * checkpoint `start`, and compare the others. A key may differ if nothing that was learned depends on it: dropout,
 * attention_dropout, vocabulary_chunk, and positions if their embeddings are sinusoidal. language_embeddings, language_tokens,
 * token_types and embeddings of the decoder's own may be added; a head or a decoder may be added or left out. output: directory of the run. If `start` no longer exists but there is a
 * checkpoint, the run resumes, and the keys are those of that checkpoint. A job that gives all keys needs neither. Errors:
 * EX_CONFIG with the place of the key; those of reading. */
bool xlm_warm_start_model(const char *start, const char *output, const xlm_jobfile *file, xlm_model_config *model,
                          GError **error);

/* The header of the newest checkpoint of a run that can be read, which has the run's own model; NULL when there is none. Not
 * collective. Free with xlm_model_file_free. */
xlm_loaded_model *xlm_warm_start_newest(const char *output);

#endif
