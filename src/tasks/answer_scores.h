/* xlm-mpi: how well questions are answered. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each question has the best match (answer_rules.h) of the predicted answer with any of its right ones; scores are means over
 * questions. A question that cannot be answered is right, 1 in both measures, when no answer is predicted, and else wrong.
 *
 * Whether none is predicted is decided by the null odds, null score − score of the best answer, against a threshold: none where
 * they are greater. The threshold that makes a mean highest is found as SQuAD 2.0's script finds it: of those at which the null
 * odds of one more question are no longer greater, in ascending order, the first with the highest mean, or 0, and none is
 * answered, when no mean is higher than that. */
#ifndef XLM_TASKS_ANSWER_SCORES_H
#define XLM_TASKS_ANSWER_SCORES_H

#include <stdint.h>

#include "tasks/answer_rules.h"

/* A question. */
typedef struct xlm_answer_result {
    xlm_answer_match match; /* of the predicted answer, whatever the null odds are */
    double null_odds;
    bool answerable, empty; /* empty: the predicted answer is "" */
} xlm_answer_result;

/* Right answers: [answers]; 0: it cannot be answered. second_edition: as SQuAD 2.0 matches. null_odds of the result: 0. */
xlm_answer_result xlm_answer_result_of(xlm_answer_rules rules, bool second_edition, const char *predicted, guint answers,
                                       const char *const *right);

/* Means over n questions; 0 for none. */
typedef struct xlm_answer_mean {
    xlm_answer_match match;
    int64_t n, answered; /* of these, an answer is predicted */
} xlm_answer_mean;
typedef struct xlm_answer_means {
    xlm_answer_mean all, answerable, unanswerable; /* HasAns and NoAns of SQuAD 2.0 */
} xlm_answer_means;
/* threshold: INFINITY: all are answered, whatever the null odds. */
xlm_answer_means xlm_answer_average(int64_t n, const xlm_answer_result *results, double threshold);

/* A threshold, and the mean that it makes. */
typedef struct xlm_answer_threshold {
    double threshold, mean;
} xlm_answer_threshold;
/* of_f1: the highest mean F1, else exact match. n >= 1. */
xlm_answer_threshold xlm_answer_best_threshold(int64_t n, const xlm_answer_result *results, bool of_f1);

#endif
