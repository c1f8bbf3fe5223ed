/* xlm-mpi: windows over contexts, and the best spans in them. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A context that is too long for a sequence is read in windows, each with the whole question, as in BERT (Devlin et al. 2019).
 * The first window begins at the first subword; each of the others begins `stride` subwords after the beginning of the previous
 * one, or at its end if it is shorter than that, until one reaches the end of the context. */
#ifndef XLM_TASKS_ANSWER_SPANS_H
#define XLM_TASKS_ANSWER_SPANS_H

#include <stdint.h>

#include <xlm/tape.h> /* xlm_real */

/* Subwords of a context: first, …, first + n − 1. */
typedef struct xlm_answer_window {
    int64_t first, n;
} xlm_answer_window;

/* [in, out] before: a window, which becomes the next one; the first one if its n is 0. subwords: number of subwords of the
 * context; room: maximum number of subwords in a window; subwords, room, stride >= 1. False: there are no more windows. */
bool xlm_answer_next_window(int64_t subwords, int64_t room, int64_t stride, xlm_answer_window *before);

/* The rows from `start` to `end`, both included; score: start logit of the first row + end logit of the last row. */
typedef struct xlm_answer_span {
    int64_t start, end;
    double score;
} xlm_answer_span;

/* The order of spans, for qsort: by score, highest first; then by start, then by end. */
int xlm_answer_span_order(const void *a, const void *b);

/* Find the best spans with first <= start <= end < first + n and end < start + longest, at most max_spans of them. logits: [rows
 * x 2], start and end logit of each row. [out] best: [max_spans] in the order above. Returns their number. Spans with a NaN are
 * skipped. */
int64_t xlm_answer_best_spans(const xlm_real *logits, int64_t first, int64_t n, int64_t longest, int64_t max_spans,
                              xlm_answer_span *best);

#endif
