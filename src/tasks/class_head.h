/* xlm-mpi: the classification head and its loss. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With h_n = dropout(H[L]) at the predicted rows, those of <s>, N x d,
 *
 *   linear   z_n = W h_n + b                                        (Devlin et al. 2019, section 4.1)
 *   dense    z_n = W dropout(tanh(P h_n + p)) + b                   (RoBERTa's and XLM-R's; P: d x d)
 *
 *   L = −(1/N) Σ_n log softmax(z_n)[class of n]                     W: classes x d */
#ifndef XLM_TASKS_CLASS_HEAD_H
#define XLM_TASKS_CLASS_HEAD_H

#include <xlm/loss.h>

/* Declares the required view, "weight" and "bias", and with `dense` "dense_weight" and "dense_bias". */
void xlm_class_declare(xlm_loss *self, xlm_declaration *declaration, int64_t classes, bool dense);
/* L, with dropout at this rate. */
xlm_var *xlm_class_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, bool dense, double dropout);
/* predictions: [N x classes] softmax(z). */
void xlm_class_predict(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, bool dense, double *predictions);

#endif
