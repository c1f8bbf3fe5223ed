/* xlm-mpi: what was measured of the models of runs, read from the tables that programs write.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A table is known by its first line: that of jobs/measure, and of --csv of every command of xlm_embed, of xlm_align score and of
 * xlm_eval. */
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
    GArray *rows;       /* xlm_result, in the order in which they came first */
    GHashTable *places; /* what each is of: its place */
} xlm_results;

void xlm_results_begin(xlm_results *results);
void xlm_results_clear(xlm_results *results);

/* Is this the first line of such a table? */
bool xlm_results_knows(const char *path);
/* Read a table. run: whose it is where the table does not say; -1: not known. If something was measured several times, the newest
 * checkpoint counts, and of one the last line. What is damaged is noted on the page. EX_NOINPUT; EX_DATAERR when it is no such
 * table, or of none of the runs; EX_USAGE if its run is not known. */
bool xlm_results_read(xlm_results *results, const char *path, const xlm_runs *runs, int run, xlm_page *page, GError **error);

#endif
