/* xlm-mpi: what the output directories of runs know. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_REPORT_RUNS_H
#define XLM_REPORT_RUNS_H

#include "base/error.h"
#include "report/page.h"
#include "run/curves.h"

enum { XLM_MAX_RUNS = 24 }; /* side by side */

typedef struct xlm_run {
    const char *directory; /* as given */
    char *place;           /* its absolute path, without links */
    char *label;           /* the directory's name; if several have the same, the path as given */
    char *job;             /* with every key; NULL: not found */
    char *command;         /* that runs it again; NULL: not known */
    xlm_curves *curves;    /* of metrics.csv, or of none */
    bool metrics;          /* it has metrics.csv */
    char *checkpoint;      /* the newest one that can be read; NULL: none */
    int64_t best;          /* step of the checkpoint that was chosen as the best; 0: there is none */
    GPtrArray *facts;      /* char *: name, value, name, value, ... */
} xlm_run;

typedef struct xlm_runs {
    int n;
    xlm_run *run;             /* [n] */
    xlm_page_column *columns; /* [n] the label of run i, and style i */
} xlm_runs;

/* directories: [n], borrowed. Damaged files in them are noted on the page. EX_USAGE: a directory is given twice; EX_NOINPUT: one
 * is not the output directory of a run. */
bool xlm_runs_read(xlm_runs *runs, char *const *directories, int n, xlm_page *page, GError **error);
void xlm_runs_clear(xlm_runs *runs);

/* The run that a checkpoint or another file belongs to, by its path: it is in the run's directory, or in one of the same name, if
 * only one run has that name. -1: there is none. */
int xlm_runs_find(const xlm_runs *runs, const char *path);

#endif
