/* xlm-mpi: measures of the model during a run, instead of losses or in addition. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_RUN_VALIDATION_H
#define XLM_RUN_VALIDATION_H

#include "run/measure.h"
#include "train/workspace.h"

/* Measures the model during a run, by losses on held-out text, by measures of its own, or by both. Checkpoints are compared by
 * one score (run/scoring.h); `best` (checkpoint/checkpoint.h) points to the one with the best, the first of several. */
typedef struct xlm_validation {
    /* Measure the model after `step` updates. Collective; the results are the same on all ranks. Append to measures (GArray of
     * xlm_language_measure), those of the whole set first. NULL: there are losses only. */
    bool (*measure)(void *data, const xlm_workspace *workspace, int64_t step, GArray *measures, GError **error);
    /* Keep what belongs to the model that was just measured, after `step` updates, because it is the best so far. Collective. NULL:
     * nothing belongs to it. */
    bool (*keep_best)(void *data, const xlm_comm *comm, int64_t step, GError **error);
    void *data;
    bool losses;          /* losses on held-out text are computed too */
    char *const *choose_by; /* the score is the mean of these measures (run/measures.h), NULL-terminated; NULL: it is the first
                             * of `measure`, and higher is better */
    const char *settings; /* text of what the score depends on: scores with another text are not compared */
    bool older;           /* may scores in checkpoints of versions that did not record it be compared? */
    /* XLM_CHECKPOINT_BEST..., in checkpoints: the best score with its step; what it was the score of; evaluations from it on. */
    const char *state, *of, *from;
    const char *split;    /* the name of the set in metrics.csv: "dev" */
    const char *language; /* of the set; XLM_MEAN_LANGUAGE: measures that name no language are means over several */
    int64_t patience;     /* the run ends after this many consecutive measurements without a new best; 0: never */
    int64_t average;      /* number of checkpoints whose mean is written at the end (checkpoint/checkpoint_mean.h); 0: none */
    bool average_best;    /* those with the highest scores; false: the last ones */
} xlm_validation;

#endif
