/* xlm-mpi: what a job trains a model to translate. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_JOB_TRANSLATION_PAIRS_H
#define XLM_JOB_TRANSLATION_PAIRS_H

#include "job/job.h"

/* UNKNOWN: the job reads all pairs of a corpus, or text of all its languages, and the corpus is not where the job says. */
typedef enum { XLM_TRANSLATES, XLM_DOES_NOT_TRANSLATE, XLM_TRANSLATES_UNKNOWN } xlm_job_translates;

/* Does a job train translations from one language into another: by seq2seq on pairs in this direction, or by back-translation?
 * [in] text: of a checkpoint (job/job_record.h), with every key; it need not be true: no module is loaded
 * [in] digest: of the checkpoint's vocabulary (xlm_corpus_digest_of), which the corpus of the job must have. Not collective. */
xlm_job_translates xlm_job_translates_pair(const char *text, uint64_t digest, const char *from, const char *to);

#endif
