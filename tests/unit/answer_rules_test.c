/* xlm-mpi: answers to questions: rules, windows, spans and scores against answers by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <glib.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "tasks/answer_head.h"
#include "tasks/answer_text.h"

static void near(double a, double b)
{
    if (fabs(a - b) > 1e-12)
        fail_msg("%.17g instead of %.17g", a, b);
}

static void has_words(xlm_answer_rules rules, const char *answer, const char *expected)
{
    char **words = xlm_answer_words(rules, answer), *got = g_strjoinv("|", words);
    assert_string_equal(got, expected);
    g_free(got);
    g_strfreev(words);
}

static void test_rules(void **state)
{
    (void)state;
    has_words(XLM_ANSWERS_SQUAD, "The  quick,\tbrown fox!", "quick|brown|fox");
    has_words(XLM_ANSWERS_SQUAD, "A theory of an A.", "theory|of");
    has_words(XLM_ANSWERS_SQUAD, "a-b the_x $5^2", "ab|thex|52"); /* punctuation goes first, and joins */
    has_words(XLM_ANSWERS_SQUAD, "the“quick”", "“quick”");        /* not ASCII: stays, and is no letter, so `the` goes */
    has_words(XLM_ANSWERS_EN, "the“quick”—x", "thequickx");       /* in MLQA it goes, and joins */
    has_words(XLM_ANSWERS_EN, "an 5 $ €", "5|€");                 /* ASCII's symbols go, others are no punctuation */
    has_words(XLM_ANSWERS_SQUAD, "the\xCC\x81 a", "\xCC\x81");    /* a combining mark is no letter of the word */
    has_words(XLM_ANSWERS_SQUAD, "a² the½", "a²|the½");           /* what is a number is */
    has_words(XLM_ANSWERS_ES, "La casa de las Unas EL él", "casa|de|él");
    has_words(XLM_ANSWERS_DE, "Des Kaisers Neue Kleider, die einer", "kaisers|neue|kleider");
    has_words(XLM_ANSWERS_DE, "the ein", "the");
    has_words(XLM_ANSWERS_VI, "Những ngôi nhà của là", "ngôi|nhà");
    has_words(XLM_ANSWERS_HI, "एक घर।", "एक|घर"); /* danda is punctuation */
    /* The article is removed wherever it is, and leaves a space. */
    has_words(XLM_ANSWERS_AR, "البيت خالد،", "بيت|خ|د");
    has_words(XLM_ANSWERS_ZH, "北京，2008年 abc def", "北|京|2008|年|abc|def");
    has_words(XLM_ANSWERS_ZH, "\xE9\xBE\xA6x", "\xE9\xBE\xA6x"); /* U+9FA6, after the last ideograph that is a word by itself */
    has_words(XLM_ANSWERS_SQUAD, "ΟΔΟΣ İ", "οδος|i\xCC\x87");
    has_words(XLM_ANSWERS_SQUAD, "a\x1f" "b\xC2\xA0" "c\xE3\x80\x80" "d\xE2\x80\x8B" "e", "b|c|d\xE2\x80\x8B" "e");
    has_words(XLM_ANSWERS_SQUAD, "the ...", "");
    xlm_answer_rules rules;
    assert_true(xlm_answer_rules_find("zh-Hans", &rules) && rules == XLM_ANSWERS_ZH);
    assert_true(xlm_answer_rules_find("DE", &rules) && rules == XLM_ANSWERS_DE);
    assert_false(xlm_answer_rules_find("el", &rules) || xlm_answer_rules_find("deu", &rules) ||
                 xlm_answer_rules_find("", &rules) || xlm_answer_rules_find(NULL, &rules));
}

static void compares(const char *predicted, const char *right, bool empty_is_equal, double exact, double f1)
{
    char **a = xlm_answer_words(XLM_ANSWERS_SQUAD, predicted), **b = xlm_answer_words(XLM_ANSWERS_SQUAD, right);
    const xlm_answer_match match = xlm_answer_compare(a, b, empty_is_equal);
    near(match.exact, exact);
    near(match.f1, f1);
    g_strfreev(a);
    g_strfreev(b);
}

static void test_comparing(void **state)
{
    (void)state;
    compares("the Cat sat", "cat sat.", false, 1, 1);
    compares("cat", "cat sat on it", false, 0, 2 * 1.0 * 0.25 / 1.25);
    compares("x x y", "x z x x", false, 0, 4.0 / 7); /* two shared: 2/3, 2/4 */
    compares("y x", "x y", false, 0, 1);
    compares("dog", "cat", false, 0, 0);
    compares("", "the", false, 1, 0);
    compares("", "the", true, 1, 1);
    compares("", "cat", true, 0, 0);
    compares("cat", "", true, 0, 0);
}

/* ---- windows and spans ---- */

static void has_windows(int64_t subwords, int64_t room, int64_t stride, const char *expected)
{
    GString *out = g_string_new(NULL);
    for (xlm_answer_window w = {0}; xlm_answer_next_window(subwords, room, stride, &w);)
        g_string_append_printf(out, "%d+%d ", (int)w.first, (int)w.n);
    assert_string_equal(out->str, expected);
    g_string_free(out, TRUE);
}

static void test_windows(void **state)
{
    (void)state;
    has_windows(5, 5, 2, "0+5 ");
    has_windows(6, 5, 2, "0+5 2+4 ");
    has_windows(10, 4, 3, "0+4 3+4 6+4 ");
    has_windows(10, 4, 4, "0+4 4+4 8+2 ");
    has_windows(10, 4, 100, "0+4 4+4 8+2 "); /* nothing is passed over */
    has_windows(3, 1, 1, "0+1 1+1 2+1 ");
}

static void test_spans(void **state)
{
    (void)state;
    enum { N = 9, MAX_SPANS = 60 };
    for (uint32_t test = 0; test < 500; test++) {
        xlm_real logits[2 * N];
        const xlm_rng_key key = xlm_rng_make_key(3, XLM_RNG_SAMPLE, test);
        for (uint32_t i = 0; i < 2 * N; i++) /* few values, so that scores are often equal */
            logits[i] = (xlm_real)xlm_rng_below(xlm_rng_draw(key, i, 0, 0, 0).v[0], 5);
        const int64_t first = xlm_rng_below(xlm_rng_draw(key, 90, 0, 0, 0).v[0], 3), n = N - first - 1,
                      longest = 1 + xlm_rng_below(xlm_rng_draw(key, 91, 0, 0, 0).v[0], 6),
                      max = 1 + xlm_rng_below(xlm_rng_draw(key, 92, 0, 0, 0).v[0], MAX_SPANS);
        xlm_answer_span all[N * N], best[MAX_SPANS];
        int64_t count = 0;
        for (int64_t i = first; i < first + n; i++)
            for (int64_t j = i; j < first + n && j - i + 1 <= longest; j++)
                all[count++] = (xlm_answer_span){i, j, (double)logits[2 * i] + (double)logits[2 * j + 1]};
        qsort(all, (size_t)count, sizeof *all, xlm_answer_span_order);
        assert_int_equal(xlm_answer_best_spans(logits, first, n, longest, max, best), MIN(count, max));
        for (int64_t i = 0; i < MIN(count, max); i++)
            assert_true(best[i].start == all[i].start && best[i].end == all[i].end && best[i].score == all[i].score);
    }
    xlm_answer_span best[2];
    const xlm_real nothing[] = {(xlm_real)NAN, (xlm_real)NAN, (xlm_real)NAN, (xlm_real)NAN};
    assert_int_equal(xlm_answer_best_spans(nothing, 0, 2, 2, 2, best), 0);
}

/* ---- scores ---- */

static void test_results(void **state)
{
    (void)state;
    const char *const right[] = {"the old house", "the", "garden"};
    xlm_answer_result r = xlm_answer_result_of(XLM_ANSWERS_SQUAD, false, "old garden", 3, right);
    near(r.match.f1, 2.0 / 3); /* the best of 1/2, 0 and 2/3 */
    near(r.match.exact, 0);
    assert_true(r.answerable && !r.empty);
    r = xlm_answer_result_of(XLM_ANSWERS_SQUAD, false, "", 2, right + 1);
    assert_true(r.match.exact == 1 && r.match.f1 == 0 && r.empty); /* like "the", of which nothing is left */
    r = xlm_answer_result_of(XLM_ANSWERS_SQUAD, true, "", 2, right + 1);
    assert_true(r.match.exact == 0 && r.match.f1 == 0); /* in SQuAD 2.0 "the" does not count */
    r = xlm_answer_result_of(XLM_ANSWERS_SQUAD, true, "", 1, right + 1);
    assert_true(r.match.exact == 1 && r.match.f1 == 1);
    r = xlm_answer_result_of(XLM_ANSWERS_SQUAD, true, "house", 0, NULL);
    assert_true(r.match.exact == 0 && r.match.f1 == 0 && !r.answerable);
}

static void test_threshold(void **state)
{
    (void)state;
    /* In the order of their null odds: answerable 1, unanswerable, answerable 0.75, unanswerable, answerable 0. */
    const xlm_answer_result results[] = {
        {{0, 0.75}, 0.5, true, false}, {{1, 1}, -3, true, false}, {{0, 0}, 2, false, false}, {{0, 0}, -1, false, false},
        {{0, 0}, 3, true, false},
    };
    /* None answered 2; then 3, 2, 2.75, 1.75, 1.75. */
    xlm_answer_threshold best = xlm_answer_best_threshold(5, results, true);
    near(best.threshold, -3);
    near(best.mean, 3.0 / 5);
    best = xlm_answer_best_threshold(5, results, false);
    near(best.threshold, -3);
    near(best.mean, 3.0 / 5);
    /* Without the sure one none is better than 2 answered: 0, and the mean without an answer. */
    best = xlm_answer_best_threshold(3, results + 2, true);
    near(best.threshold, 0);
    near(best.mean, 2.0 / 3);
    best = xlm_answer_best_threshold(1, results, true);
    near(best.threshold, 0.5);
    near(best.mean, 0.75);
    const xlm_answer_means all = xlm_answer_average(5, results, INFINITY), some = xlm_answer_average(5, results, -1);
    near(all.all.match.f1, 1.75 / 5);
    assert_int_equal(all.all.answered, 5);
    near(some.all.match.f1, 2.0 / 5); /* odds above −1 are no answer: the first, third and last */
    near(some.all.match.exact, 2.0 / 5);
    near(some.answerable.match.f1, 1.0 / 3);
    near(some.unanswerable.match.f1, 1.0 / 2);
    assert_int_equal(some.all.answered, 2);
    assert_int_equal(some.unanswerable.answered, 1);
    assert_int_equal(xlm_answer_average(0, NULL, 0).all.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules), cmocka_unit_test(test_comparing), cmocka_unit_test(test_windows),
        cmocka_unit_test(test_spans), cmocka_unit_test(test_results),   cmocka_unit_test(test_threshold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
