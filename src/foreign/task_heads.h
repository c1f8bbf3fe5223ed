/* xlm-mpi: heads of tasks, in models of other programs. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Our heads compute the same as theirs according to this table:
 *
 *   tagging                  ...ForTokenClassification      W h + b
 *   classification, dense    ...ForSequenceClassification   W tanh(P h + p) + b of the first token: BERT's and ALBERT's pooler
 *                                                           with a classifier, RoBERTa's and XLM-R's classifier of two layers
 *   classification, linear   XLMForSequenceClassification   W h + b of the first token
 *   answering                ...ForQuestionAnswering        w_start, w_end; their biases change no softmax, and no order of spans
 *   all three, dense_norm    those of ModernBERT            of LayerNorm(a(P h + p)) in place of h; of the first token, or of
 *                                                           the mean over all tokens (classifier_pooling)
 *
 * Other heads are left out, with a message. */
#ifndef XLM_FOREIGN_TASK_HEADS_H
#define XLM_FOREIGN_TASK_HEADS_H

#include "foreign/architecture.h"
#include "model/model_file.h"

typedef struct xlm_task_head {
    const char *model_type, *task; /* ours: "tagging"; parameters are "objectives/<task>/..." */
    const char *ending;            /* of the class, after its name: "ForTokenClassification" */
    const char *dense;             /* tensor of "dense_weight" and "dense_bias", without .weight; NULL: none */
    const char *norm;              /* of "norm_weight" and "norm_bias"; NULL: none */
    bool in_body;                  /* this tensor's name has the prefix of the body */
    const char *out;               /* tensor of "weight" and "bias" */
    bool labels, bias;             /* it has names of classes; our head has a parameter "bias" */
} xlm_task_head;

/* The head for a class such as "BertForTokenClassification", or for the task of one of our models, whose head has these layers
 * before the last one; NULL: none computes the same. */
const xlm_task_head *xlm_task_head_of_class(const xlm_architecture *architecture, const char *class_name);
const xlm_task_head *xlm_task_head_of_task(const xlm_architecture *architecture, const xlm_model_task *task, bool dense,
                                           bool norm);

/* Their name of a parameter "objectives/...". g_free. */
char *xlm_task_head_tensor(const xlm_task_head *head, const xlm_architecture *architecture, bool bare, const char *parameter);
/* Declare its parameters, for a model of this configuration. */
void xlm_task_head_declare(const xlm_task_head *head, xlm_parameters *parameters, int64_t classes,
                           const xlm_model_config *config);

/* What config.json says about the task: the names of classes in their order, or LABEL_0, LABEL_1, ... if it has none. classes:
 * rows of the tensor; length: positions of the model; separators: of the tokenizer between two texts. Languages are not checked.
 * NULL with EX_DATAERR: a head that computes something else, or wrong labels. xlm_model_task_free. */
xlm_model_task *xlm_task_head_read(const xlm_task_head *head, const json_t *json, const char *path, int64_t classes,
                                   int64_t length, int separators, GError **error);
/* The other way. */
void xlm_task_head_write(const xlm_task_head *head, const xlm_model_task *task, json_t *json);

/* Was the task of this config.json learned here? */
bool xlm_task_head_is_ours(const json_t *json);
/* The number of tokens that the task has between the two texts of a sequence; 0: its sequences are of one text, or task is
 * NULL. */
int xlm_task_head_separators(const xlm_model_task *task);

/* The null threshold of question answering (tasks/answering.c), which transformers does not know: part of what
 * xlm_task_head_write has written. It is finite or infinite. */
bool xlm_task_head_is_of_answers(const xlm_task_head *head); /* may be NULL */
void xlm_task_head_write_threshold(double threshold, json_t *json);
/* config.json of another program has none: then it is INFINITY, every question is answered, and a warning says so. EX_DATAERR: it
 * is not a threshold. */
bool xlm_task_head_read_threshold(const json_t *json, const char *path, double *threshold, GError **error);

#endif
