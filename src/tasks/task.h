/* xlm-mpi: what a model is fine-tuned for. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A task is one file of this folder and one line in tasks.c. It is an objective (xlm/loss.h: name, options, head, loss), by which
 * the trainer trains as by any other, and beside that knows four things: how its files are read, how what stands in them becomes
 * examples (stream/examples.h), how predictions are made of a pass, and how good they are.
 *
 *   read -> labels (of training text alone) -> encode -> { train, or predict -> score, print }
 *
 * How tasks to come fit in, without a change here:
 *   classification (XNLI)  encode: <s> S </s> T </s>, type 1 on T, the row of <s> predicted, its target the number of the class;
 *                          head, loss and predict as of tagging; score: accuracy
 *   question answering     encode: <s> Q </s> window of the context </s>; two predicted rows, those of the answer's ends (both
 *                          <s> when the window has none), targets 0 and 1, start and end; no labels; its view has all rows
 *                          of H[L]: softmax of start and of end over the rows of each sequence. predict
 *                          gives label = the best span's two positions, score = its logit; score picks each question's best
 *                          window */
#ifndef XLM_TASKS_TASK_H
#define XLM_TASKS_TASK_H

#include <xlm/loss.h>

#include "stream/examples.h"
#include "text/tokenizer.h"
#include "train/run.h" /* xlm_measure */

/* The beginning of every task's state, before its options. */
typedef struct xlm_task_state {
    char **labels; /* [classes], then NULL; borrowed */
    int64_t classes;
} xlm_task_state;

/* What examples are made with. */
typedef struct xlm_task_encoder {
    xlm_tokenizer *tokenizer;
    int language;   /* id; -1: none in particular */
    int64_t length; /* most tokens of an example, special ones included */
} xlm_task_encoder;

/* What was predicted for a predicted row of an example. */
typedef struct xlm_prediction {
    int32_t label;
    float score; /* its probability, or what the task says */
} xlm_prediction;

/* A line of a table: one class, or whatever a task counts apart. */
typedef struct xlm_task_row {
    const char *kind;                     /* "tag", "span" */
    char *name;                           /* g_free */
    int64_t gold, predicted, right;       /* of this class */
} xlm_task_row;
double xlm_task_precision(const xlm_task_row *row); /* right / predicted, 0 when nothing was */
double xlm_task_recall(const xlm_task_row *row);    /* right / gold, 0 when there is none */
double xlm_task_f1(const xlm_task_row *row);        /* 2 right / (gold + predicted), 0 for 0 / 0 */

typedef struct xlm_task_scores {
    GArray *measures; /* xlm_measure; the first is the one that checkpoints are compared by */
    GArray *rows;     /* xlm_task_row */
} xlm_task_scores;
xlm_task_scores *xlm_task_scores_new(void);
void xlm_task_scores_free(xlm_task_scores *scores);

typedef struct xlm_task {
    xlm_loss_class loss; /* needs_stream; its state begins with an xlm_task_state, which is set before open */
    /* What stands in the files, one after another; for read_free. EX_NOINPUT, EX_DATAERR with file and line. */
    void *(*read)(const xlm_loss *self, char *const *paths, GError **error);
    void (*read_free)(void *text);
    /* The classes of a text, sorted, NULL-terminated (g_strfreev); none where targets are not classes. EX_DATAERR when there is
     * nothing to learn. */
    char **(*labels)(const xlm_loss *self, const void *text, GError **error);
    /* Append the examples of a text. description: one line for the log is appended, what was read, cut and replaced. A class
     * that is not a label has no target, and the log says so; EX_DATAERR when none is one, with file and line and the labels
     * there are; EX_CONFIG for options that do not fit the labels. */
    bool (*encode)(const xlm_loss *self, const void *text, const xlm_task_encoder *encoder, xlm_examples *examples,
                   GString *description, GError **error);
    /* predictions[batch->masked], of a pass as the loss gets it. */
    void (*predict)(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, xlm_prediction *predictions);
    /* How good are predictions, of all examples of a text? */
    void (*score)(const xlm_loss *self, const void *text, const xlm_prediction *predictions, xlm_task_scores *scores);
    /* Append them beside what is right. */
    void (*print)(const xlm_loss *self, const void *text, const xlm_prediction *predictions, GString *out);
} xlm_task;

/* NULL when there is none of this name; with error: EX_CONFIG that lists those there are. */
const xlm_task *xlm_task_find(const char *name, GError **error);
/* All, NULL-terminated. */
const xlm_task *const *xlm_tasks(void);

#endif
