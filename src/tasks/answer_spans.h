/* xlm-mpi: windows over contexts, and the best spans in them. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A context that is longer than what a sequence has room for is read in windows, each with the whole question, as BERT does it
 * (Devlin et al. 2019): the first begins at the first subword, each other `stride` subwords after the one before, or where that
 * ends when it is shorter, until one reaches the end. */
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

/* From row `start` to row `end`, both in it; score: start logit of the one + end logit of the other. */
typedef struct xlm_answer_span {
    int64_t start, end;
    double score;
} xlm_answer_span;

/* The order of spans: by score, highest first; of the same score by start, then by end. For qsort. */
int xlm_answer_span_order(const void *a, const void *b);

/* The `most` best spans, in their order, of rows first … first + n − 1 with first <= start <= end < start + longest.
 * logits: [rows x 2], start and end logit of each row. best: [most]. Returns how many there are. Not-a-numbers are in none. */
int64_t xlm_answer_best_spans(const xlm_real *logits, int64_t first, int64_t n, int64_t longest, int64_t max_spans,
                              xlm_answer_span *best);

#endif
