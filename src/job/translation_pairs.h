/* xlm-mpi: what a job trains a model to translate. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Checkpoints record it (attribute `translations` of /job, model/model_file.h), so that a user who translates with a model can be
 * warned of a pair of languages that it was never trained on. */
#ifndef XLM_JOB_TRANSLATION_PAIRS_H
#define XLM_JOB_TRANSLATION_PAIRS_H

#include "job/job_streams.h"

/* The pairs that objectives translate, "en-de,de-en", source first, each once: those of the stream of seq2seq; with
 * back-translation, from each of its languages into those of its stream. Empty if there are none. What other plugins translate is
 * not known. g_free. */
char *xlm_job_translations(const xlm_job *job, const xlm_job_streams *streams);

/* Is the pair one of these? from, to NULL: any language. */
bool xlm_job_translates(const char *translations, const char *from, const char *to);
/* Are they into more than one language? */
bool xlm_job_translates_into_several(const char *translations);

#endif
