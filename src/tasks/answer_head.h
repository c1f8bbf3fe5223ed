/* xlm-mpi: the head that finds answers, and its loss. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A sequence is <s> Q </s> C </s> or <s> Q </s></s> C </s>, where Q is the question and C a window of the context
 * (answer_spans.h). C and the </s> after it have type 1, everything before them type 0. With what the layers of tasks/head_form.h
 * make of the hidden states of all rows j of a sequence, h_j, and two vectors w_start, w_end (Devlin et al. 2019, section 4.2),
 *
 *   L = −(1/2N) Σ_n log softmax_j(w_start·h_j)[s_n] + log softmax_j(w_end·h_j)[e_n]
 *
 * for N windows; s_n and e_n are the rows of the first and the last subword of the first right answer; both are that of <s> if
 * the window does not contain the whole answer. There is no bias, because it would not change the softmax.
 *
 * The score of a span of the context, start <= end, is the sum of its two logits. The null score of a window is the sum of both
 * logits of <s>, and that of a question is the lowest of its windows. An answer is the text of the context from the first to the
 * last character of its span. */
#ifndef XLM_TASKS_ANSWER_HEAD_H
#define XLM_TASKS_ANSWER_HEAD_H

#include "tasks/answer_spans.h"
#include "tasks/head_form.h"

/* Declares the required view, the parameters of the form, and "weight", 2 x d: w_start, w_end. */
void xlm_answer_declare(xlm_loss *self, xlm_declaration *declaration, xlm_head_form form);
/* L, with dropout at this rate. For each sequence two rows are predicted, those of s_n and e_n, with targets 0 and 1. */
xlm_var *xlm_answer_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, xlm_head_form form, double dropout);

/* ---- predictions: for each sequence a row with its null score and its best spans, and then an unused row ---- */

/* Number of values of a row for `max_spans` spans. */
int64_t xlm_answer_width(int64_t max_spans);
/* predictions: [2 x sequences x width]. longest: maximum number of rows of a span. */
void xlm_answer_predict(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, xlm_head_form form, int64_t longest,
                        int64_t max_spans, double *predictions);
double xlm_answer_null_score(const double *row);
/* [out] span: the i-th best span of a row, in subwords of the window, from 0. False when there are fewer. */
bool xlm_answer_span_at(const double *row, int64_t i, xlm_answer_span *span);

#endif
