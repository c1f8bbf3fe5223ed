/* xlm-mpi: how well questions are answered. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The score of a question is the best match (answer_rules.h) of the predicted answer with any of its right answers; scores are
 * means over questions. A question that cannot be answered has 1 in both measures if no answer is predicted, and else 0.
 *
 * No answer is predicted if the null odds, null score − score of the best answer, are greater than a threshold. The best
 * threshold is found as in SQuAD 2.0's script: the candidates are the null odds of all questions in ascending order, each of
 * which lets one more question be answered, and the first with the highest mean is taken; or 0, with the mean of answering no
 * question, if no candidate has a higher mean. */
#ifndef XLM_TASKS_ANSWER_SCORES_H
#define XLM_TASKS_ANSWER_SCORES_H

#include <stdint.h>

#include "tasks/answer_rules.h"

/* The result for a question. */
typedef struct xlm_answer_result {
    xlm_answer_match match; /* of the predicted answer, whatever the null odds are */
    double null_odds;
    bool answerable, empty; /* empty: the predicted answer is "" */
} xlm_answer_result;

/* The result of a predicted answer. right: [answers] right answers; answers = 0: the question cannot be answered. second_edition:
 * compare as in SQuAD 2.0. null_odds of the result is 0. */
xlm_answer_result xlm_answer_result_of(xlm_answer_rules rules, bool second_edition, const char *predicted, guint answers,
                                       const char *const *right);

/* Means over n questions; 0 if there are none. */
typedef struct xlm_answer_mean {
    xlm_answer_match match;
    int64_t n, answered; /* answered: number of questions for which an answer is predicted */
} xlm_answer_mean;
typedef struct xlm_answer_means {
    xlm_answer_mean all, answerable, unanswerable; /* HasAns and NoAns of SQuAD 2.0 */
} xlm_answer_means;
/* threshold: of the null odds; INFINITY: all questions are answered. results: [n]. */
xlm_answer_means xlm_answer_average(int64_t n, const xlm_answer_result *results, double threshold);

/* A threshold, and the mean that results from it. */
typedef struct xlm_answer_threshold {
    double threshold, mean;
} xlm_answer_threshold;
/* The threshold with the highest mean of F1 (of_f1), or of exact match. results: [n], n >= 1. */
xlm_answer_threshold xlm_answer_best_threshold(int64_t n, const xlm_answer_result *results, bool of_f1);

#endif
