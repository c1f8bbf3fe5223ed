/* xlm-mpi: what a model is fine-tuned for. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A task is one file of this folder and one line in tasks.c. It is an objective (xlm/loss.h: name, options, head, loss), by which
 * the trainer trains as by any other, and beside that knows four things: how its files are read, how what is in them becomes
 * examples (stream/examples.h), how predictions are made of a pass, and how good they are.
 *
 *   read -> labels (of training text alone) -> encode -> { train, or predict -> score, print }
 *
 * What `read` makes is a text: items (sentences, pairs, questions) from files of one language or of several, each of which keeps
 * its source. All training files together are one text, so that what needs two languages at once, as code-switching, finds them
 * side by side. In development and test files each language is a text of its own and is scored on its own.
 *
 * A prediction is a number. A task says how many of them belong to each predicted row of an example (`width`); `predict` fills
 * them in for one pass, xlm_predict (tasks/predict.h) brings those of all passes and ranks together, in the order of the
 * examples, and `score` and `print` read them.
 *
 *   task                predicted rows               targets             labels  predictions of a row
 *   tagging             first subword of each word   the tag             tags    tag, its probability
 *   classification      <s>                          the class           classes the probability of each class
 *   question answering  the two ends of the answer;  0: start, 1: end    none    on the first: score of no answer, then start,
 *                       both <s> when the window                                 end and score of the best spans
 *                       has none */
#ifndef XLM_TASKS_TASK_H
#define XLM_TASKS_TASK_H

#include <xlm/loss.h>

#include "run/run.h" /* xlm_measure */
#include "stream/examples.h"
#include "subwords/tokenizer.h"

/* The beginning of every task's state, before its options. */
typedef struct xlm_task_state {
    char **labels; /* [classes], then NULL; borrowed */
    int64_t classes;
    double head_dropout; /* rate before the head, where the loss is made of the encoder's states */
} xlm_task_state;

/* A file of a text. */
typedef struct xlm_task_source {
    int language;     /* id of the vocabulary; -1: none in particular */
    const char *name; /* of the language, as the user wrote it; NULL: none was named */
    const char *path;
} xlm_task_source;

/* What examples are made with. */
typedef struct xlm_task_encoder {
    xlm_tokenizer *tokenizer;
    int64_t length; /* most tokens of an example, special ones included */
    bool training;  /* the examples are learned from; else they are scored */
    uint64_t seed;  /* of the run, for random draws of training examples */
} xlm_task_encoder;

/* A line of a table: one class, or whatever a task counts apart. */
typedef struct xlm_task_row {
    const char *kind;                     /* "tag", "span" */
    char *name;                           /* g_free */
    int64_t gold, predicted, right;       /* of this class */
} xlm_task_row;
double xlm_task_precision(const xlm_task_row *row); /* right / predicted, 0 when nothing was */
double xlm_task_recall(const xlm_task_row *row);    /* right / gold, 0 when there is none */
double xlm_task_f1(const xlm_task_row *row);        /* 2 right / (gold + predicted), 0 for 0 / 0 */

/* What was predicted instead of what: counts[g * classes + p] of what is of class g and was predicted as class p. */
typedef struct xlm_task_confusion {
    char **names;    /* [classes], then NULL; g_strfreev. NULL: there is no such table */
    int64_t *counts; /* [classes x classes] gold by rows; g_free */
} xlm_task_confusion;

typedef struct xlm_task_scores {
    GArray *measures; /* xlm_measure: shares, but for those whose name ends in "loss" or "threshold"; checkpoints are compared
                         by the first */
    GArray *rows;     /* xlm_task_row */
    xlm_task_confusion confusion;
} xlm_task_scores;
xlm_task_scores *xlm_task_scores_new(void);
/* NULL is allowed. */
void xlm_task_scores_free(xlm_task_scores *scores);
void xlm_task_scores_add(xlm_task_scores *scores, const char *measure, double value, int64_t terms);
/* A row with the counts of another. kind: borrowed. */
void xlm_task_scores_add_row(xlm_task_scores *scores, const char *kind, const char *name, const xlm_task_row *counts);
/* For each class, of n things: gold, predicted, right. gold, predicted: [n]. [classes]; g_free. */
xlm_task_row *xlm_task_count(int64_t classes, int64_t n, const int32_t *gold, const int32_t *predicted);
/* Count n things for the table, which gets copies of the names. gold, predicted: [n] indices into names. */
void xlm_task_scores_confuse(xlm_task_scores *scores, char *const *names, int64_t n, const int32_t *gold,
                             const int32_t *predicted);

/* The measure of this name; NULL. measures: GArray of xlm_measure. */
const xlm_measure *xlm_task_measure(const GArray *measures, const char *name);
/* The mean over languages of each measure that all of them have, in the order of the first language; their terms are added up.
 * languages: GArray of xlm_measure for each. GArray of xlm_measure, g_array_unref. */
GArray *xlm_task_means(const GPtrArray *languages);

/* The members of a set of names, sorted. NULL-terminated copies; g_strfreev. */
char **xlm_task_names(GHashTable *set);

/* Append what a file is to say of predictions. */
typedef void xlm_task_print(const xlm_loss *self, const void *text, const double *predictions, GString *out);
/* A file beside that of the predictions. */
typedef struct xlm_task_output {
    const char *name, *help; /* "n_best": what xlm_eval --output calls it; one line of what is in it */
    xlm_task_print *print;
} xlm_task_output;

typedef struct xlm_task {
    xlm_loss_class loss; /* needs_stream; its state begins with an xlm_task_state, which is set before open */
    bool plain_head;     /* there is no dropout before its head unless the job says head_dropout */
    /* What is in n >= 1 files, one after another; for read_free. The sources live as long as the text. EX_NOINPUT, EX_DATAERR
     * with file and line. */
    void *(*read)(const xlm_loss *self, const xlm_task_source *sources, int64_t n, GError **error);
    void (*read_free)(void *text);
    /* The classes of a text, sorted, NULL-terminated (g_strfreev). EX_DATAERR when there is nothing to learn. NULL for a task
     * whose targets are not classes: its state then has none. */
    char **(*labels)(const xlm_loss *self, const void *text, GError **error);
    /* Append the examples of a text; called once for each text, which may keep what predictions are to be read by. description:
     * one line for the log is appended, what was read, cut and replaced. Every token gets the language of its source (0 for none
     * in particular). A class that is not a label has no target, and the log says so; EX_DATAERR when none is one, with file and
     * line and the labels there are; EX_CONFIG for options that do not fit the labels. */
    bool (*encode)(const xlm_loss *self, void *text, const xlm_task_encoder *encoder, xlm_examples *examples,
                   GString *description, GError **error);
    /* Numbers that are predicted for each predicted row, at least 1. The labels are set. */
    int64_t (*width)(const xlm_loss *self);
    /* predictions[batch->predicted x width], all 0 before, of a pass as the loss gets it. */
    void (*predict)(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, double *predictions);
    /* Optional: set numbers of the state that development files decide, such as a threshold, by the predictions for n texts,
     * those of all languages. Called on all ranks alike before these are scored and a checkpoint is written; what `declare` has
     * declared as state is in the checkpoint, and xlm_eval reads it from there. */
    void (*decide)(xlm_loss *self, int64_t n, void *const *texts, const double *const *predictions);
    /* How good are predictions [predicted rows x width], of all examples of a text? */
    void (*score)(const xlm_loss *self, const void *text, const double *predictions, xlm_task_scores *scores);
    /* Append them, in the form that scorers of the task read. */
    xlm_task_print *print;
    const xlm_task_output *outputs; /* to a row without name; NULL: none */
} xlm_task;

/* NULL when there is none of this name; with error: EX_CONFIG that lists those there are. */
const xlm_task *xlm_task_find(const char *name, GError **error);
/* All, NULL-terminated. */
const xlm_task *const *xlm_tasks(void);

#endif
