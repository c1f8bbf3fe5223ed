/* xlm-mpi: layers between the encoder and the last layer of a task. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every head of a task ends with a linear layer. Of hidden states h, n x d, this layer reads
 *
 *   linear       dropout(h)
 *   dense        dropout(tanh(P dropout(h) + p))           (the poolers of BERT, RoBERTa's and XLM-R's classifiers; P: d x d)
 *   dense_norm   dropout(LayerNorm(a(P h + p)))            (ModernBERT; a: the activation of the model)
 *
 * In dense_norm, p is there if linear layers of the model have biases, and β of the norm if its norms have; ε is that of the
 * model's norms. */
#ifndef XLM_TASKS_HEAD_FORM_H
#define XLM_TASKS_HEAD_FORM_H

#include <xlm/loss.h>

typedef enum xlm_head_form { XLM_FORM_LINEAR, XLM_FORM_DENSE, XLM_FORM_DENSE_NORM } xlm_head_form;

/* The option `head` of a task, whose member is an int64_t: its choices, in the order of xlm_head_form, and its help. */
#define XLM_HEAD_FORM_CHOICES "linear|dense|dense_norm"
#define XLM_HEAD_FORM_HELP \
    "linear: W dropout(h) + b; dense: W dropout(tanh(P dropout(h) + p)) + b, as RoBERTa and XLM-R are fine-tuned; dense_norm: " \
    "W dropout(LayerNorm(a(P h + p))) + b with the model's activation a, as ModernBERT is"

/* Declares "dense_weight" and "dense_bias", "norm_weight" and "norm_bias", as far as the form has them. */
void xlm_head_form_declare(xlm_loss *self, xlm_declaration *declaration, xlm_head_form form);
/* What the last layer reads, n x d, of hidden states h, n x d, with dropout at this rate. */
xlm_var *xlm_head_form_apply(xlm_loss *self, xlm_tape *tape, xlm_var *h, xlm_head_form form, double dropout);

#endif
