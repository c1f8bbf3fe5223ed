/* xlm-mpi: names of the files that a run keeps in its directory. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_CHECKPOINT_RUN_FILES_H
#define XLM_CHECKPOINT_RUN_FILES_H

#include <stdbool.h>

/* Translations of held-out pairs, newest and best, and what the decoder attended to (run/dev_translations.h). */
#define XLM_TRANSLATIONS_FILE "translations.tsv"
#define XLM_BEST_TRANSLATIONS_FILE "best-translations.tsv"
#define XLM_ATTENTION_FILES "attention-" /* a direction and ".h5" follow */

/* Is it such a name, of a checkpoint or a link to one, of metrics.csv, of the job or of another file that a run writes or replaces
 * by itself? name: without its directory. A file that is not finished has another one (base/unfinished.h). */
bool xlm_run_files_has(const char *name);

#endif
