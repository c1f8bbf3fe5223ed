/* xlm-mpi: results of a task in one language or in several, as tables, csv and a bar chart.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With several languages there are means and gaps. A gap says how much lower the mean of a measure over the other languages is
 * than the measure in the training language (the cross-lingual transfer gap of XTREME, Hu et al. 2020). */
#ifndef XLM_TASKS_RESULTS_H
#define XLM_TASKS_RESULTS_H

#include <stdio.h>

#include "tasks/task.h"

typedef struct xlm_task_result {
    const char *language;    /* "none" for none in particular */
    xlm_task_scores *scores; /* the loss is the last of their measures, unless some items have no gold */
} xlm_task_result;

typedef struct xlm_task_results {
    const xlm_task_result *result;
    int64_t n;         /* languages, at least 1 */
    int64_t reference; /* index of the training language; -1: none */
} xlm_task_results;

/* Print tables: for one language, all results; for several, a line for each with its measures, then their means and the gap. */
void xlm_task_results_print(const xlm_task_results *results, FILE *out);
/* The columns kind,name,precision,recall,f1,support,predicted,value; for several languages after a first column `language`, with
 * rows `mean,measure,...`, `LANGUAGE,gap,...` and `mean,gap,...`. g_string_free. */
GString *xlm_task_results_csv(const xlm_task_results *results);
/* An SVG with a group of bars for each language and, for several, one for the means; a bar for each measure that is a share.
 * title: the model or file that was scored. g_string_free. */
GString *xlm_task_results_chart(const xlm_task_results *results, const char *title);

#endif
