/* xlm-mpi: held-out pairs translated and scored while a model is trained. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Section [evaluate] of a job names directions, "en-de": with each evaluation the model translates the first sides of held-out
 * pairs of these languages by beam search, and the second sides score the translations. The mean score of all directions compares
 * checkpoints: `best` points at the one with the highest, and the run ends when it has not risen for a while (Conneau and Lample
 * 2019). Translations and references are what the vocabulary spells (xlm_vocabulary_decode).
 *
 * The first pairs are also written to OUTPUT/translations.tsv, for people and for xlm_report: step, direction, source, reference,
 * translation; those of the best model so far are in OUTPUT/best-translations.tsv. What the decoder attended to while it wrote the
 * newest ones is in OUTPUT/attention-DIRECTION.h5 (run/dev_attention.h). Pair p of that file is row p of its direction, from 0. */
#ifndef XLM_RUN_DEV_TRANSLATIONS_H
#define XLM_RUN_DEV_TRANSLATIONS_H

#include "checkpoint/run_files.h"
#include "corpus/corpus.h"
#include "job/data.h"
#include "job/job.h"
#include "run/validation.h"

#define XLM_TRANSLATIONS_HEAD "step,direction,source,reference,translation" /* between tabs */

typedef struct xlm_dev_translations xlm_dev_translations;

/* Open the pairs that job->evaluate names. Not collective. Both arguments are borrowed. EX_CONFIG when the corpus has no such pairs,
 * or the model cannot translate them; errors of reading. */
xlm_dev_translations *xlm_dev_translations_open(const xlm_job *job, const xlm_corpus *corpus, GError **error);
/* NULL is allowed. */
void xlm_dev_translations_close(xlm_dev_translations *dev);

/* What to measure with them, and what that costs; both are valid while the pairs are open. */
xlm_validation xlm_dev_translations_validation(xlm_dev_translations *dev);
xlm_planned_validation xlm_dev_translations_plan(const xlm_dev_translations *dev);

#endif
