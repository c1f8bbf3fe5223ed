/* xlm-mpi: what a model is fine-tuned for. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A task is one file of this folder and one line in tasks.c. It is an objective (xlm/loss.h: name, options, declare, loss), with
 * which the trainer trains as with any other. In addition it knows how its files are read, how their contents become examples
 * (stream/examples.h), how predictions are made in a pass, and how good these are.
 *
 *   read -> labels (of training text alone) -> encode -> { train, or predict -> score, print }
 *
 * `read` returns a text: items (sentences, pairs, questions) from files in one or several languages, each of which keeps its
 * source. All training files together are one text, so that code-switching, which needs two languages at once, has both. In
 * development and test files each language is a text of its own and is scored separately.
 *
 * What is known of an item that is to be predicted is its gold: a tag, a class, answers. Items of text that is read to be
 * predicted (xlm_task_state.unlabelled) may have none; `items` counts those that have.
 *
 * A prediction is a number. A task says how many predictions belong to each predicted row of an example (`width`); `predict`
 * computes them for one pass, xlm_predict (tasks/predict.h) gathers those of all passes and ranks in the order of the examples,
 * and `score` and `print` read them.
 *
 *   task                predicted rows               targets             labels  predictions of a row
 *   tagging             first subword of each word   the tag             tags    tag, its probability
 *   classification      <s>                          the class           classes the probability of each class
 *   question answering  the two ends of the answer;  0: start, 1: end    none    of the first row: null score, then start, end
 *                       both <s> if the window                                   and score of the best spans
 *                       has no answer */
#ifndef XLM_TASKS_TASK_H
#define XLM_TASKS_TASK_H

#include <xlm/loss.h>

#include "run/measure.h"
#include "stream/examples.h"
#include "subwords/tokenizer.h"

/* The beginning of every task's state, before its options. */
typedef struct xlm_task_state {
    char **labels; /* [classes], then NULL; borrowed */
    int64_t classes;
    double head_dropout; /* dropout rate of the encoder's states before the head */
    int64_t sentences;   /* of an item of the training text, 1 or 2, where `labels` sets it; 0: it is not known */
    bool unlabelled;     /* text is read to be predicted: items without gold are allowed */
} xlm_task_state;

/* A file of a text. */
typedef struct xlm_task_source {
    int language;     /* id of the vocabulary; -1: none in particular */
    const char *name; /* of the language, as the user wrote it; NULL: none was named */
    const char *path;
} xlm_task_source;

/* Settings for making examples. */
typedef struct xlm_task_encoder {
    xlm_tokenizer *tokenizer;
    int64_t length; /* maximum number of tokens of an example, including special tokens */
    bool training;  /* the examples are for training; else they are scored */
    uint64_t seed;  /* of the run, for random draws of training examples */
} xlm_task_encoder;

/* How many items of a text are predicted, and how many of them have gold. */
typedef struct xlm_task_items {
    int64_t all, gold;
    const char *what; /* the items: "words" */
} xlm_task_items;

/* A row of a table: one class, or anything else that a task counts separately. */
typedef struct xlm_task_row {
    const char *kind;                     /* "tag", "span" */
    char *name;                           /* g_free */
    int64_t gold, predicted, right;       /* how many are of this class, are predicted as it, and are both */
} xlm_task_row;
double xlm_task_precision(const xlm_task_row *row); /* right / predicted, 0 when nothing was */
double xlm_task_recall(const xlm_task_row *row);    /* right / gold, 0 when there is none */
double xlm_task_f1(const xlm_task_row *row);        /* 2 right / (gold + predicted), 0 for 0 / 0 */

/* A confusion table: counts[g * classes + p] is the number of things of class g that were predicted as class p. */
typedef struct xlm_task_confusion {
    char **names;    /* [classes], then NULL; g_strfreev. NULL: there is no such table */
    int64_t *counts; /* [classes x classes] gold by rows; g_free */
} xlm_task_confusion;

typedef struct xlm_task_scores {
    GArray *measures; /* xlm_measure: shares, except those whose name ends in "loss" or "threshold"; checkpoints are compared
                         by the first */
    GArray *rows;     /* xlm_task_row */
    xlm_task_confusion confusion;
} xlm_task_scores;
xlm_task_scores *xlm_task_scores_new(void);
/* NULL is allowed. */
void xlm_task_scores_free(xlm_task_scores *scores);
void xlm_task_scores_add(xlm_task_scores *scores, const char *measure, double value, int64_t terms);
/* Add a row with the counts of `counts`. kind: borrowed; name: copied. */
void xlm_task_scores_add_row(xlm_task_scores *scores, const char *kind, const char *name, const xlm_task_row *counts);
/* Count gold, predicted and right for each class. gold, predicted: [n] classes of n things. Returns [classes]; g_free. */
xlm_task_row *xlm_task_count(int64_t classes, int64_t n, const int32_t *gold, const int32_t *predicted);
/* Add n things to the confusion table, which copies the names. gold, predicted: [n] indices into names. */
void xlm_task_scores_confuse(xlm_task_scores *scores, char *const *names, int64_t n, const int32_t *gold,
                             const int32_t *predicted);

/* The measure of this name; NULL if there is none. measures: GArray of xlm_measure. */
const xlm_measure *xlm_task_measure(const GArray *measures, const char *name);
/* The means over languages of the measures that all of them have, in the order of the first language; terms are added up.
 * languages: elements are GArray of xlm_measure. Returns a GArray of xlm_measure; g_array_unref. */
GArray *xlm_task_means(const GPtrArray *languages);

/* The members of a set of names, sorted and copied. NULL-terminated; g_strfreev. */
char **xlm_task_names(GHashTable *set);

/* Append "; WHAT: N" to a description for the log, unless n is 0. */
void xlm_task_note(GString *description, const char *what, int64_t n);
/* Append the contents of a file of predictions. */
typedef void xlm_task_print(const xlm_loss *self, const void *text, const double *predictions, GString *out);
/* A file in addition to that of the predictions. */
typedef struct xlm_task_output {
    const char *name, *help; /* its name for xlm_eval --output ("n_best"); one line about its contents */
    xlm_task_print *print;
} xlm_task_output;

typedef struct xlm_task {
    xlm_loss_class loss; /* needs_stream; its state begins with an xlm_task_state, which is set before open. It has no label
                            function and no mean but the first, for which xlm_predict ends the program */
    bool plain_head;     /* there is no dropout before its head unless the job sets head_dropout */
    /* Read n >= 1 files, one after another, into a text; read_free. The sources live as long as the text. EX_NOINPUT, EX_DATAERR
     * with file and line. */
    void *(*read)(const xlm_loss *self, const xlm_task_source *sources, int64_t n, GError **error);
    void (*read_free)(void *text);
    xlm_task_items (*items)(const void *text);
    /* The classes of a text, sorted, NULL-terminated (g_strfreev). EX_DATAERR when there is nothing to learn. NULL for a task
     * whose targets are not classes: its state then has none. */
    char **(*labels)(const xlm_loss *self, const void *text, GError **error);
    /* Append the examples of a text. Called once for each text, which may keep what is needed to read predictions. description:
     * one line for the log is appended, about what was read, cut and replaced. Every token gets the language of its source (0 for
     * none in particular). A class that is not a label has no target, and the log says so, or is refused where it is all that an
     * example has: EX_DATAERR, with file, line and the labels, as when no class of the text is a label; EX_CONFIG for options that
     * do not fit the labels. An item without gold has any target: the loss of a text with such items has no meaning. */
    bool (*encode)(const xlm_loss *self, void *text, const xlm_task_encoder *encoder, xlm_examples *examples,
                   GString *description, GError **error);
    /* The number of predictions for each predicted row, at least 1. The labels have been set. */
    int64_t (*width)(const xlm_loss *self);
    /* [out] predictions: [batch->predicted x width], initially 0. The pass is like one of the loss. */
    void (*predict)(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, double *predictions);
    /* Optional: set numbers of the state that depend on development files, such as a threshold, by the predictions for n texts,
     * one for each language. Called in the same way on all ranks, before these texts are scored and a checkpoint is written; what
     * `declare` has declared as state is in the checkpoint, and xlm_eval reads it from there. */
    void (*decide)(xlm_loss *self, int64_t n, void *const *texts, const double *const *predictions);
    /* Score the predictions for all examples of a text, [predicted rows x width]; items without gold do not count, and some item
     * has it. */
    void (*score)(const xlm_loss *self, const void *text, const double *predictions, xlm_task_scores *scores);
    /* Append the predictions, in the form that scoring programs of the task read. */
    xlm_task_print *print;
    const xlm_task_output *outputs; /* ended by a row without a name; NULL: none */
} xlm_task;

/* The task of this name. NULL with EX_CONFIG when there is none; the message gives advice. */
const xlm_task *xlm_task_find(const char *name, GError **error);
/* All tasks, NULL-terminated. */
const xlm_task *const *xlm_tasks(void);

#endif
