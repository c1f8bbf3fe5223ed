/* xlm-mpi: windows over contexts, and the best spans in them. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A context that is too long for a sequence is read in windows, each with the whole question, as in BERT (Devlin et al. 2019):
 * the first begins at the first subword, and each other one `stride` subwords after the previous one, or at its end if it is
 * shorter, until one reaches the end of the context. */
#ifndef XLM_TASKS_ANSWER_SPANS_H
#define XLM_TASKS_ANSWER_SPANS_H

#include <stdint.h>

#include <xlm/tape.h> /* xlm_real */

/* Subwords of a context: first, …, first + n − 1. */
typedef struct xlm_answer_window {
    int64_t first, n;
} xlm_answer_window;

/* The window after `before` (n 0: the first) of a context of `subwords`, with room for `room` in a window. False: there is none.
 * subwords, room, stride >= 1. */
bool xlm_answer_next_window(int64_t subwords, int64_t room, int64_t stride, xlm_answer_window *before);

/* From row `start` to row `end`, both inclusive; score: start logit of the first + end logit of the last. */
typedef struct xlm_answer_span {
    int64_t start, end;
    double score;
} xlm_answer_span;

/* The order of spans, for qsort: by score, highest first; then by start, then by end. */
int xlm_answer_span_order(const void *a, const void *b);

/* The best spans, at most max_spans, in their order, of rows first … first + n − 1 with first <= start <= end < start + longest.
 * logits: [rows x 2], start and end logit of each row. best: [max_spans]. Returns their number. Spans with a NaN are skipped. */
int64_t xlm_answer_best_spans(const xlm_real *logits, int64_t first, int64_t n, int64_t longest, int64_t max_spans,
                              xlm_answer_span *best);

#endif
