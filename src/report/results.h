/* xlm-mpi: what was measured of the models of runs, read from the tables that programs write.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A table is recognised by its first line: that of jobs/measure, and those of --csv of every command of xlm_embed, of xlm_align
 * score and of xlm_eval. */
#ifndef XLM_REPORT_RESULTS_H
#define XLM_REPORT_RESULTS_H

#include "report/runs.h"

typedef struct xlm_result {
    char *measure;          /* "aer", "retrieval_csls", "micro_f1", ... */
    char *detail;           /* of what: "mean", "left out", the name of a test file; "" */
    char *source, *target;  /* languages; "" */
    int64_t layer;          /* -1: of none */
    int64_t step;           /* of the checkpoint; -1: not known */
    int run;
    double value;
} xlm_result;

typedef struct xlm_results {
    GArray *rows;       /* xlm_result, in the order in which they were first read */
    GHashTable *places; /* what each measures: its place in `rows`, from 1 */
} xlm_results;

void xlm_results_begin(xlm_results *results);
void xlm_results_clear(xlm_results *results);

/* Does the file begin with the first line of such a table? */
bool xlm_results_knows(const char *path);
/* Read a table. run: the one that it belongs to if it does not say so itself or, if named, even so: rows of one model are all of
 * the run, and rows of several models those that have its path; -1: not known. Rows of a step that their run does not have are
 * left out. If something was measured several times, the newest checkpoint counts, and for one checkpoint the last line. Damaged
 * lines, and those of other steps, are noted on the page. EX_NOINPUT; EX_DATAERR: it is not such a table, or has results of none
 * of the runs; EX_USAGE: its run is not known. */
bool xlm_results_read(xlm_results *results, const char *path, const xlm_runs *runs, int run, bool named, xlm_page *page,
                      GError **error);

#endif
