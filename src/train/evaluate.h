/* xlm-mpi: losses on held-out text. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TRAIN_EVALUATE_H
#define XLM_TRAIN_EVALUATE_H

#include "train/workspace.h"

/* One objective on held-out text. language -1: all languages, else a language id. perplexity and accuracy are those of the
 * predicted tokens, and NAN for objectives without scores (then the only row is that of all languages). */
typedef struct xlm_evaluation {
    int objective, language;
    int64_t terms;
    double loss, perplexity, accuracy;
    const char *metric; /* NULL: a row of losses; else this metric of the objective, its count under terms. The host's */
    double score;       /* of the metric */
} xlm_evaluation;

/* Maximum number of instances of stream s in one pass of an evaluation. */
int64_t xlm_evaluation_block(const xlm_job *job, int s);

/* Collective. Evaluate every objective on the held-out part of its stream after `step` updates, dropout off, with about [train]
 * evaluate_instances instances of the stream, at least one micro-batch of each of its languages or pairs, spread evenly over them.
 * *rows is new memory (g_free), the same on all ranks and for any
 * number of them. */
bool xlm_evaluate(const xlm_job *job, const xlm_workspace *workspace, int64_t step, xlm_evaluation **rows, int *n,
                  GError **error);

#endif
