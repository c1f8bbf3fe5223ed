/* xlm-mpi: how well questions are answered. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/answer_scores.h"

#include <stdlib.h>

xlm_answer_result xlm_answer_result_of(xlm_answer_rules rules, bool second_edition, const char *predicted, guint answers,
                                       const char *const *right)
{
    xlm_answer_result result = {.answerable = answers > 0, .empty = *predicted == '\0'};
    g_auto(GStrv) words = xlm_answer_words(rules, predicted);
    bool compared = false;
    for (guint i = 0; i < answers; i++) {
        g_auto(GStrv) other = xlm_answer_words(rules, right[i]);
        if (!second_edition || other[0] != NULL) {
            const xlm_answer_match match = xlm_answer_compare(words, other, second_edition);
            result.match.exact = MAX(result.match.exact, match.exact);
            result.match.f1 = MAX(result.match.f1, match.f1);
            compared = true;
        }
    }
    if (!compared)
        result.match = (xlm_answer_match){words[0] == NULL, words[0] == NULL};
    return result;
}

static void add(xlm_answer_mean *mean, const xlm_answer_match *match, bool answered)
{
    mean->match.exact += match->exact;
    mean->match.f1 += match->f1;
    mean->n++;
    mean->answered += answered;
}

static void divide(xlm_answer_mean *mean)
{
    mean->match.exact /= MAX(mean->n, 1);
    mean->match.f1 /= MAX(mean->n, 1);
}

xlm_answer_means xlm_answer_average(int64_t n, const xlm_answer_result *results, double threshold)
{
    xlm_answer_means means = {0};
    for (int64_t i = 0; i < n; i++) {
        const xlm_answer_result *r = &results[i];
        const bool none = r->null_odds > threshold;
        const xlm_answer_match match = none ? (xlm_answer_match){!r->answerable, !r->answerable} : r->match;
        add(&means.all, &match, !none && !r->empty);
        add(r->answerable ? &means.answerable : &means.unanswerable, &match, !none && !r->empty);
    }
    divide(&means.all);
    divide(&means.answerable);
    divide(&means.unanswerable);
    return means;
}

static int by_odds(const void *pa, const void *pb)
{
    const xlm_answer_result *a = *(const xlm_answer_result *const *)pa, *b = *(const xlm_answer_result *const *)pb;
    if (a->null_odds != b->null_odds)
        return a->null_odds < b->null_odds ? -1 : 1;
    return a < b ? -1 : a > b;
}

xlm_answer_threshold xlm_answer_best_threshold(int64_t n, const xlm_answer_result *results, bool of_f1)
{
    g_autofree const xlm_answer_result **order = g_new(const xlm_answer_result *, n);
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        order[i] = &results[i];
        sum += !results[i].answerable;
    }
    qsort(order, (size_t)n, sizeof *order, by_odds);
    xlm_answer_threshold best = {0, sum};
    for (int64_t i = 0; i < n; i++) {
        const xlm_answer_result *r = order[i];
        if (r->answerable)
            sum += of_f1 ? r->match.f1 : r->match.exact;
        else
            sum -= !r->empty;
        if (sum > best.mean)
            best = (xlm_answer_threshold){r->null_odds, sum};
    }
    best.mean /= (double)n;
    return best;
}
