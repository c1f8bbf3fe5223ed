/* xlm-mpi: a run's metrics.csv (run/report.h) as curves. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_RUN_CURVES_H
#define XLM_RUN_CURVES_H

#include "base/error.h"

typedef struct xlm_curve_point {
    int64_t step;
    double value;
} xlm_curve_point;

/* One number over the steps of a run. */
typedef struct xlm_curve {
    char *name;      /* "train total loss", "held_out mlm perplexity", "dev accuracy de", "dev accuracy mean" of several
                         languages; of a direction of translation "dev bleu en-de" */
    char *split, *objective, *language; /* as in the rows; language: "" if there is none */
    const char *quantity; /* the column: "loss", "perplexity", "accuracy", "score", "learning_rate", "gradient_norm", "tokens",
                             "seconds" */
    bool detail;     /* of one language of held-out text; or about the course of training, not about what it learned */
    bool more;       /* higher is better (accuracies and scores), not lower (losses and perplexities) */
    bool every_step; /* has one value per step, of training */
    GArray *points;  /* xlm_curve_point, steps ascending */
} xlm_curve;

typedef struct xlm_curves {
    GPtrArray *curves; /* xlm_curve, in the order of the file */
    GHashTable *names; /* names of the curves */
    int64_t bad;       /* number of lines that are cut short, or that have something else instead of numbers; they are skipped */
} xlm_curves;

/* Losses of training, losses, perplexities and accuracies of held-out text, scores; learning rates, norms of gradients, tokens
 * and seconds. Columns are found by their names; a missing column has no values. Damaged values and numbers that are not finite
 * are skipped. path NULL: no curves. EX_NOINPUT when there is no such file. */
xlm_curves *xlm_curves_read(const char *path, GError **error);
/* NULL is allowed. */
void xlm_curves_free(xlm_curves *curves);
/* The curve of that name; NULL: there is none. */
const xlm_curve *xlm_curves_find(const xlm_curves *curves, const char *name);

/* The index of a step in the points; -1: it is not there. */
int xlm_curve_find(const xlm_curve *curve, int64_t step);
/* The best point, the first of several. There must be points. */
xlm_curve_point xlm_curve_best(const xlm_curve *curve);

#endif
