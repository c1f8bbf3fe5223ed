/* xlm-mpi: counts of the sentences of files of translations and references. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Line i of each file is sentence i; a line may be empty. Files are read side by side, a line at a time. */
#ifndef XLM_TRANSLATION_SCORES_SCORED_FILES_H
#define XLM_TRANSLATION_SCORES_SCORED_FILES_H

#include "translation_scores/metric.h"

/* What is read; "-": standard input, for one of them. */
typedef struct xlm_scored_files {
    const char *const *systems;    /* [n_systems] translations */
    const char *const *references; /* [n_references], n >= 1 */
    int n_systems, n_references;
} xlm_scored_files;

typedef struct xlm_sentence_counts {
    int64_t sentences;
    int64_t apart; /* translations that end with a space and a full stop, as tokenised ones do */
    int systems, metrics;
    GArray **counts; /* [systems x metrics] int64_t: [sentences x the counts of the metric] */
} xlm_sentence_counts;

/* [in] metrics[n]. EX_NOINPUT; EX_DATAERR: not UTF-8, files with different numbers of lines, no lines; EX_USAGE: standard input twice.
 * *counts is to be closed also after a failure. */
bool xlm_scored_files_count(const xlm_scored_files *files, xlm_translation_metric *const *metrics, int n,
                            xlm_sentence_counts *counts, GError **error);
void xlm_sentence_counts_close(xlm_sentence_counts *counts);

/* [sentences x counts] of a system by a metric. */
static inline const int64_t *xlm_sentence_counts_of(const xlm_sentence_counts *counts, int system, int metric)
{
    return (const int64_t *)(const void *)counts->counts[system * counts->metrics + metric]->data;
}
/* Their sums over the sentences, sums[XLM_METRIC_COUNTS]; width: counts of the metric. */
void xlm_sentence_counts_sum(const xlm_sentence_counts *counts, int system, int metric, int width, int64_t *sums);

#endif
