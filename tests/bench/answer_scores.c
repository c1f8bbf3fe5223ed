/* xlm-mpi: scores of given answers, for comparison with the published scripts. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   answer_scores DATA.json PREDICTIONS.json squad|LANG [NULL_ODDS.json]
 *
 * prints exact_match and f1 in percent, and with null odds best_exact, its threshold, best_f1 and its threshold, a line each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/json_file.h"
#include "tasks/answer_scores.h"
#include "tasks/question_text.h"

static void demand(bool good, GError *error)
{
    if (good)
        return;
    fprintf(stderr, "answer_scores: %s\n", error != NULL ? error->message : "DATA PREDICTIONS squad|LANG [NULL_ODDS]");
    exit(EXIT_FAILURE);
}

static const json_t *value_of(const json_t *root, const char *id)
{
    const json_t *value = json_object_get(root, id);
    if (value != NULL)
        return value;
    fprintf(stderr, "answer_scores: nothing for %s\n", id);
    exit(EXIT_FAILURE);
}

static xlm_answer_result result_of(const xlm_question_text *text, guint i, xlm_answer_rules rules, bool second,
                                   const json_t *predictions, const json_t *odds)
{
    const xlm_question *q = &g_array_index(text->questions, xlm_question, i);
    const char **right = g_new(const char *, MAX(q->answers, 1));
    for (guint k = 0; k < q->answers; k++)
        right[k] = g_array_index(text->answers, xlm_answer, q->first_answer + k).text;
    xlm_answer_result result =
        xlm_answer_result_of(rules, second, json_string_value(value_of(predictions, q->id)), q->answers, right);
    if (odds != NULL)
        result.null_odds = json_number_value(value_of(odds, q->id));
    g_free(right);
    return result;
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    xlm_answer_rules rules = XLM_ANSWERS_SQUAD;
    demand(argc == 4 || argc == 5, NULL);
    demand(strcmp(argv[3], "squad") == 0 || xlm_answer_rules_find(argv[3], &rules), NULL);
    xlm_question_text *text = xlm_question_text_new();
    demand(xlm_question_text_read(text, argv[1], NULL, -1, &error), error);
    json_t *predictions = xlm_json_read(argv[2], &error);
    demand(predictions != NULL, error);
    json_t *odds = argc == 5 ? xlm_json_read(argv[4], &error) : NULL;
    demand(argc == 4 || odds != NULL, error);
    const guint n = text->questions->len;
    const bool second = g_array_index(text->sources, xlm_question_source, 0).unanswerable;
    xlm_answer_result *results = g_new(xlm_answer_result, n);
    for (guint i = 0; i < n; i++)
        results[i] = result_of(text, i, rules, second, predictions, odds);
    const xlm_answer_mean all = xlm_answer_average(n, results, INFINITY).all;
    printf("exact_match %.17g\nf1 %.17g\n", 100 * all.match.exact, 100 * all.match.f1);
    if (odds != NULL) {
        const xlm_answer_threshold exact = xlm_answer_best_threshold(n, results, false),
                                   f1 = xlm_answer_best_threshold(n, results, true);
        printf("best_exact %.17g\nbest_exact_thresh %.17g\nbest_f1 %.17g\nbest_f1_thresh %.17g\n", 100 * exact.mean,
               exact.threshold, 100 * f1.mean, f1.threshold);
    }
    g_free(results);
    json_decref(predictions);
    json_decref(odds);
    xlm_question_text_free(text);
    return 0;
}
