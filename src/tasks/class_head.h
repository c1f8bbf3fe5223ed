/* xlm-mpi: the classification head and its loss. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With h_n, N x d, the state H[L] of the predicted row of sequence n, that of <s>, or the mean of the states of all its tokens,
 * and f the layers of tasks/head_form.h,
 *
 *   z_n = W f(h_n) + b                                              (Devlin et al. 2019, section 4.1)
 *   L = −(1/N) Σ_n log softmax(z_n)[class of n]                     W: classes x d */
#ifndef XLM_TASKS_CLASS_HEAD_H
#define XLM_TASKS_CLASS_HEAD_H

#include "tasks/head_form.h"

typedef struct xlm_class_head {
    int64_t classes;
    xlm_head_form form;
    bool mean;      /* of all tokens; every sequence has one predicted row */
    double dropout; /* in the loss */
} xlm_class_head;

/* Declares the required view, the parameters of the form, "weight" and "bias". */
void xlm_class_declare(xlm_loss *self, xlm_declaration *declaration, const xlm_class_head *head);
xlm_var *xlm_class_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, const xlm_class_head *head);
/* predictions: [N x classes] softmax(z). */
void xlm_class_predict(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, const xlm_class_head *head, double *predictions);

#endif
