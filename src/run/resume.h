/* xlm-mpi: what a run starts from: a checkpoint, files of stopped ranks, or another run's model.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_RUN_RESUME_H
#define XLM_RUN_RESUME_H

#include "checkpoint/checkpoint.h"
#include "job/job.h"

enum { XLM_RESUME_AUTO, XLM_RESUME_NEVER, XLM_RESUME_FILE };

typedef struct xlm_resume_setup {
    const xlm_comm *comm;
    const xlm_job *job;
    int resume;       /* XLM_RESUME_...: the newest checkpoint of the output directory, none, or `file` */
    const char *file;
    bool trains;      /* the run writes to its output directory: rank files are read, and later checkpoints moved aside */
    bool validates;   /* checkpoints are compared, and one is the best */
    int64_t best_of;  /* what by (run/scoring.h) */
    bool older;       /* a best score of a version that did not record that is taken for the same */
    xlm_best_score *members; /* scores that are compared too: they begin anew with the best; NULL: none */
} xlm_resume_setup;

/* Collective. Called before anything is allocated: if the run does not resume, can it start from the model that its job names? */
bool xlm_resume_check(const xlm_resume_setup *setup, const xlm_vocabulary *vocabulary, GError **error);

/* Collective. Read parameters, moments, saved states and the record of the start into `state`, and set progress; if there is
 * nothing to resume from, read the parameters of the job's start. progress->saved != progress->step means that the
 * output directory has no checkpoint of them yet: they came from rank files or, with XLM_RESUME_FILE, from a file of elsewhere.
 * [out] resumed: from a checkpoint or rank files; continues: from those of the output directory, so that its rows are of the same
 * course. Errors of reading. */
bool xlm_resume(const xlm_resume_setup *setup, xlm_run_state *state, xlm_run_progress *progress, bool *resumed, bool *continues,
                GError **error);

#endif
