/* xlm-mpi: what the output directories of runs know. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_REPORT_RUNS_H
#define XLM_REPORT_RUNS_H

#include "base/error.h"
#include "report/page.h"
#include "run/curves.h"
#include "run/run_inputs.h"

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
    GArray *steps;         /* int64_t: those of its checkpoints, ascending */
    int64_t best;          /* step of the checkpoint that was chosen as the best; 0: there is none */
    xlm_run_inputs inputs;
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

enum { XLM_RUN_UNKNOWN = -1, XLM_RUN_OTHER = -2 };

/* The run in whose directory a file is; XLM_RUN_UNKNOWN: in none. */
int xlm_runs_holding(const xlm_runs *runs, const char *path);
/* The run of a checkpoint that the file `from` names. A relative path begins in the directory of that file or, if it leads to
 * nothing there, in the working directory; before that, a file in a run's directory means that run by its name. A path that leads
 * to nothing, as after directories were moved, means the run with the same name, of several the one whose path has more of its
 * last names. XLM_RUN_OTHER: the path leads to something that is none of the runs; XLM_RUN_UNKNOWN: to nothing, and no run alone
 * has the name. */
int xlm_runs_find(const xlm_runs *runs, const char *checkpoint, const char *from);
/* The last step of which there is a checkpoint or a row of metrics.csv; -1: there is none. */
int64_t xlm_run_last_step(const xlm_run *run);
/* Can a checkpoint of this step be of the run? There is such a checkpoint, or metrics.csv ends there or has an evaluation;
 * without any checkpoint, every step that was trained, and without metrics.csv too, every step. */
bool xlm_run_has_step(const xlm_run *run, int64_t step);

#endif
