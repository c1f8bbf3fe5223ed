/* xlm-mpi: how well questions are answered. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The score of a question is the best match (answer_rules.h) of the predicted answer with any of its right answers; scores are
 * means over questions. A question that cannot be answered has 1 in both measures if no answer is predicted, and else 0.
 *
 * No answer is predicted if the null odds, null score − score of the best answer, are greater than a threshold. The best
 * threshold is found as in SQuAD 2.0's script: the candidates are the thresholds at which the null odds of one more question are
 * no longer greater, in ascending order, and the first with the highest mean is taken; or 0, and no question is answered, if no
 * mean is higher than that. */
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

/* Right answers: [answers]; 0: it cannot be answered. second_edition: match as in SQuAD 2.0. null_odds of the result: 0. */
xlm_answer_result xlm_answer_result_of(xlm_answer_rules rules, bool second_edition, const char *predicted, guint answers,
                                       const char *const *right);

/* Means over n questions; 0 for none. */
typedef struct xlm_answer_mean {
    xlm_answer_match match;
    int64_t n, answered; /* number of these for which an answer is predicted */
} xlm_answer_mean;
typedef struct xlm_answer_means {
    xlm_answer_mean all, answerable, unanswerable; /* HasAns and NoAns of SQuAD 2.0 */
} xlm_answer_means;
/* threshold: INFINITY: all are answered, whatever their null odds. */
xlm_answer_means xlm_answer_average(int64_t n, const xlm_answer_result *results, double threshold);

/* A threshold, and the mean that results from it. */
typedef struct xlm_answer_threshold {
    double threshold, mean;
} xlm_answer_threshold;
/* of_f1: the highest mean F1, else exact match. n >= 1. */
xlm_answer_threshold xlm_answer_best_threshold(int64_t n, const xlm_answer_result *results, bool of_f1);

#endif
