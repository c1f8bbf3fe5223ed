/* xlm-mpi: question answering: reader, rules, windows, spans, examples and measures against answers by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/rng.h"
#include "tasks/answer_head.h"
#include "tasks/answer_text.h"
#include "tasks/task.h"
#include "tasks/tune_job.h"
#include "text/bpe.h"
#include "text/json_file.h"

static char *directory;

/* A file of that name and text; g_free. */
static char *write_file(const char *name, const char *text)
{
    char *path = g_build_filename(directory, name, NULL);
    assert_true(g_file_set_contents(path, text, -1, NULL));
    return path;
}

static void near(double a, double b)
{
    if (fabs(a - b) > 1e-12)
        fail_msg("%.17g instead of %.17g", a, b);
}

/* ---- rules ---- */

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
    /* The article's letters go wherever they stand, and leave a space. */
    has_words(XLM_ANSWERS_AR, "البيت خالد،", "بيت|خ|د");
    has_words(XLM_ANSWERS_ZH, "北京，2008年 abc def", "北|京|2008|年|abc|def");
    has_words(XLM_ANSWERS_ZH, "\xE9\xBE\xA6x", "\xE9\xBE\xA6x"); /* U+9FA6, behind the last that stands alone */
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
    enum { N = 9, MOST = 60 };
    for (uint32_t test = 0; test < 500; test++) {
        xlm_real logits[2 * N];
        const xlm_rng_key key = xlm_rng_make_key(3, XLM_RNG_SAMPLE, test);
        for (uint32_t i = 0; i < 2 * N; i++) /* few values, so that scores are often equal */
            logits[i] = (xlm_real)xlm_rng_below(xlm_rng_draw(key, i, 0, 0, 0).v[0], 5);
        const int64_t first = xlm_rng_below(xlm_rng_draw(key, 90, 0, 0, 0).v[0], 3), n = N - first - 1,
                      longest = 1 + xlm_rng_below(xlm_rng_draw(key, 91, 0, 0, 0).v[0], 6),
                      most = 1 + xlm_rng_below(xlm_rng_draw(key, 92, 0, 0, 0).v[0], MOST);
        xlm_answer_span all[N * N], best[MOST];
        int64_t count = 0;
        for (int64_t i = first; i < first + n; i++)
            for (int64_t j = i; j < first + n && j - i + 1 <= longest; j++)
                all[count++] = (xlm_answer_span){i, j, (double)logits[2 * i] + (double)logits[2 * j + 1]};
        qsort(all, (size_t)count, sizeof *all, xlm_answer_span_order);
        assert_int_equal(xlm_answer_best_spans(logits, first, n, longest, most, best), MIN(count, most));
        for (int64_t i = 0; i < MIN(count, most); i++)
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

/* ---- reading ---- */

/* "id:question@context[answer(start-end)...] ..."; or the error, from the name of the file on. g_free. */
static char *read_back(const char *json, const char *language)
{
    char *path = write_file("a.json", json);
    xlm_question_text *t = xlm_question_text_new();
    GError *error = NULL;
    GString *out = g_string_new(NULL);
    if (xlm_question_text_read(t, path, language, 3, &error)) {
        for (guint i = 0; i < t->questions->len; i++) {
            const xlm_question *q = &g_array_index(t->questions, xlm_question, i);
            const xlm_context *c = &g_array_index(t->contexts, xlm_context, q->context);
            assert_string_equal(g_array_index(t->sources, xlm_question_source, q->source).path, path);
            g_string_append_printf(out, "%s%s:%s@%s[", i > 0 ? " " : "", q->id, q->text, c->text);
            for (guint k = 0; k < q->answers; k++) {
                const xlm_answer *a = &g_array_index(t->answers, xlm_answer, q->first_answer + k);
                assert_memory_equal(c->text + a->start, a->text, a->end - a->start);
                g_string_append_printf(out, "%s%s(%u-%u)", k > 0 ? " " : "", a->text, a->start, a->end);
            }
            g_string_append_c(out, ']');
        }
    } else {
        assert_true(error->code == EX_DATAERR);
        if (!g_str_has_prefix(error->message, path))
            fail_msg("no file: %s", error->message);
        g_string_append(out, error->message + strlen(directory) + 1);
        g_error_free(error);
    }
    xlm_question_text_free(t);
    g_free(path);
    return g_string_free(out, FALSE);
}

static void reads(const char *json, const char *expected)
{
    char *got = read_back(json, "en");
    assert_string_equal(got, expected);
    g_free(got);
    char *windows = g_strdup_printf("\xef\xbb\xbf%s\r\n", json); /* as a program on Windows would write the file */
    got = read_back(windows, NULL);
    assert_string_equal(got, expected);
    g_free(got);
    g_free(windows);
}

static void refuses(const char *json, const char *part)
{
    char *got = read_back(json, "en");
    if (strstr(got, part) == NULL)
        fail_msg("no '%s' in: %s", part, got);
    g_free(got);
}

#define FILE_OF(paragraphs) "{\"version\": \"1.1\", \"data\": [{\"title\": \"t\", \"paragraphs\": [" paragraphs "]}]}"
#define CONTEXT(context, questions) "{\"context\": \"" context "\", \"qas\": [" questions "]}"
#define QUESTION(id, rest) "{\"id\": \"" id "\", \"question\": \"w\"" rest "}"
#define ANSWER(text, start) "{\"text\": \"" text "\", \"answer_start\": " start "}"
#define ANSWERS(answers) ", \"answers\": [" answers "]"
#define ONE(context, rest) FILE_OF(CONTEXT(context, QUESTION("q1", rest)))

static void test_reader(void **state)
{
    (void)state;
    reads(FILE_OF(CONTEXT("Der Bär läuft.", QUESTION("q1", ANSWERS(ANSWER("Bär", "4") "," ANSWER("läuft.", "8")))
                          "," QUESTION("q2", ", \"is_impossible\": false" ANSWERS(ANSWER("Der", "0"))))
                  "," CONTEXT("x", QUESTION("q3", ", \"is_impossible\": true" ANSWERS("") ", \"plausible_answers\": 1"))),
          "q1:w@Der Bär läuft.[Bär(4-8) läuft.(9-16)] q2:w@Der Bär läuft.[Der(0-3)] q3:w@x[]");
    reads(ONE("x", ", \"is_impossible\": true"), "q1:w@x[]");
    /* Characters, not bytes nor units of UTF-16. */
    reads(ONE("a\\ud83d\\ude00\\u00e9 b", ANSWERS(ANSWER("b", "4"))), "q1:w@a\xF0\x9F\x98\x80\xC3\xA9 b[b(8-9)]");
    refuses(ONE("a b", ANSWERS(ANSWER("b", "1"))),
            "a.json:1: data[0].paragraphs[0].qas[0] (id q1): the answer \"b\" does not stand at character 1 of the context, "
            "where \" \"");
    refuses(ONE("0123456789012345678901234567890123456789012345678901234567890123456789 b", ANSWERS(ANSWER("b", "3"))),
            "where \"3\" is;");
    refuses(ONE("a b", ANSWERS(ANSWER("0123456789012345678901234567890123456789012345678901234567890123456789", "2"))),
            "the answer \"012345678901234567890123456789012345678901234567890123456789...\" does not stand");
    refuses(ONE("a b", ANSWERS(ANSWER("b c", "2"))), "(id q1): the answer \"b c\" does not stand at character 2");
    refuses(ONE("a b", ANSWERS(ANSWER("b", "4"))), "should begin at character 4 of the context, which has 3");
    refuses(ONE("a b", ANSWERS(ANSWER("a", "-1"))), "should begin at character -1");
    refuses(ONE("a b", ANSWERS(ANSWER("", "0"))), "(id q1): an answer has no word");
    refuses(ONE("a b", ANSWERS(ANSWER("a", "0.0"))), "(id q1): \"answer_start\" is not a whole number");
    refuses(ONE("a b", ANSWERS(ANSWER("a", "\"0\""))), "\"answer_start\" is a string, but should be a number");
    refuses(ONE("a b", ANSWERS("{\"text\": \"a\"}")), "(id q1): \"answer_start\" is missing");
    refuses(ONE("a b", ANSWERS("{\"answer_start\": 0}")), "(id q1): \"text\" is missing");
    refuses(ONE("a b", ANSWERS("3")), "(id q1): an answer is a number, but should be an object");
    refuses(ONE("a b", ANSWERS("")), "(id q1): there is no answer;");
    refuses(ONE("a b", ""), "(id q1): \"answers\" is missing");
    refuses(ONE("a b", ", \"is_impossible\": true" ANSWERS(ANSWER("a", "0"))), "is true, but there are answers");
    refuses(ONE("a b", ", \"is_impossible\": 1" ANSWERS(ANSWER("a", "0"))), "\"is_impossible\" is a number");
    refuses(ONE(" \\u00a0\\n", ", \"is_impossible\": true"), "data[0].paragraphs[0]: \"context\" has no word");
    refuses(FILE_OF(CONTEXT("a", QUESTION("q", ANSWERS(ANSWER("a", "0"))) "," QUESTION("q", ANSWERS(ANSWER("a", "0"))))),
            "data[0].paragraphs[0].qas[1] (id q): another question in this language has the same id");
    refuses(FILE_OF("{\"context\": \"a\"}"), "data[0].paragraphs[0]: \"qas\" is missing");
    refuses(FILE_OF("{\"context\": 3, \"qas\": []}"), "data[0].paragraphs[0]: \"context\" is a number, but should be a string");
    refuses(FILE_OF("{\"qas\": []}"), "data[0].paragraphs[0]: \"context\" is missing");
    refuses(FILE_OF(CONTEXT("a", "{\"id\": 7, \"question\": \"w\"}")), "qas[0]: \"id\" is a number, but should be a string");
    refuses(FILE_OF(CONTEXT("a", "{\"id\": \"\", \"question\": \"w\"}")), "qas[0]: \"id\" is empty");
    refuses(FILE_OF(CONTEXT("a", "{\"id\": \"7\"}")), "qas[0] (id 7): \"question\" is missing");
    refuses(FILE_OF(CONTEXT("a", "null")), "qas[0]: a question is null, but should be an object");
    refuses(FILE_OF("[]"), "data[0].paragraphs[0]: a paragraph is an array");
    refuses("{\"data\": [{}]}", "a.json:1: data[0]: \"paragraphs\" is missing");
    refuses("{\"data\": []}", "a.json: there is no question in it");
    refuses("{\"data\": {}}", "a.json: \"data\", which should be an array, is an object");
    refuses("{}", "a.json: \"data\", which should be an array, is missing");
    refuses("[]", "a.json: is an array; SQuAD's files are");
    /* The line of the question's id; of a context, that of the paragraph. */
    refuses("{\"data\":\n[{\"paragraphs\": [\n{\"context\": \"a\",\n\"qas\": [\n{\n\"question\": \"w\",\n\"id\":\n\"q\"}]}]}]}",
            "a.json:8: data[0].paragraphs[0].qas[0] (id q): \"answers\" is missing");
    refuses("{\"data\":\n[{\"paragraphs\": [\n{\"context\": \" \",\n\"qas\": []}]}]}",
            "a.json:3: data[0].paragraphs[0]: \"context\"");
}

static void test_json(void **state)
{
    (void)state;
    refuses("", "a.json:1: column 0: not JSON: ");
    refuses("{\"data\": [\n  {,\n", "a.json:2: column 4: not JSON: ");
    refuses("{\"data\": [\n  {\"a\": \"", "a.json:2: column 9: not JSON: the file ends within a value");
    refuses(FILE_OF("") " x", "a.json:1: column ");
    refuses("{\"data\": [], \"data\": []}", "not JSON: duplicate object key");
    refuses(ONE("a\\u0000b", ""), "not JSON: a string with the character 0");
    refuses("{\"data\": \"\xff\"}", "a.json:1: column 10: not JSON: not UTF-8");
    GString *deep = g_string_new("{\"data\": ");
    for (int i = 0; i < 100000; i++)
        g_string_append_c(deep, '[');
    refuses(deep->str, "not JSON: values are nested too deeply");
    g_string_free(deep, TRUE);
    char *path = write_file("lines.json",
                            "\xef\xbb\xbf{\"x\": \"}]\\\"\\\\\", \"y\":\n [1e5, true,\n\n "
                            "{\"a\": [[], {}], \"b\" :\n\"c\"} ,\n 3\n]\n}\n");
    static const struct {
        const char *place;
        int64_t line;
    } lines[] = {{"", 1}, {"x", 1}, {"y", 2}, {"y[0]", 2}, {"y[1]", 2}, {"y[2]", 4}, {"y[2].a[1]", 4}, {"y[2].b", 5}, {"y[3]", 6},
                 {"y[4]", 0}, {"y[2].c", 0}, {"z", 0}, {"x[0]", 0}, {"y.a", 0}, {"y[0].a", 0}, {"[0]", 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
        if (xlm_json_line(path, lines[i].place) != lines[i].line)
            fail_msg("line of %s: %d", lines[i].place, (int)xlm_json_line(path, lines[i].place));
    g_unlink(path);
    assert_int_equal(xlm_json_line(path, "x"), 0);
    g_free(path);
    /* More than a line of text may have. */
    GString *words = g_string_new(NULL);
    for (int i = 0; i < 1 << 20; i++)
        g_string_append(words, "twenty-one characters");
    char *json = g_strdup_printf(ONE("%s end", ANSWERS(ANSWER("end", "%d"))), words->str, (int)words->len + 1), *got;
    got = read_back(json, "en");
    assert_true(g_str_has_suffix(got, "[end(22020097-22020100)]"));
    g_free(got);
    g_free(json);
    g_string_free(words, TRUE);
}

/* Files of several languages have the same ids, and tell their versions. */
static void test_several_files(void **state)
{
    (void)state;
    char *path = write_file("b.json", "{\"version\": 1.0, \"data\": [{\"paragraphs\": ["
                            CONTEXT("a", QUESTION("q", ANSWERS(ANSWER("a", "0")))) "]}]}");
    xlm_question_text *t = xlm_question_text_new();
    GError *error = NULL;
    assert_true(xlm_question_text_read(t, path, "en", 0, NULL));
    assert_true(xlm_question_text_read(t, path, "de", 1, NULL));
    assert_true(xlm_question_text_read(t, path, NULL, -1, NULL));
    assert_false(xlm_question_text_read(t, path, "de", 1, &error));
    assert_non_null(strstr(error->message, "same id"));
    g_error_free(error);
    assert_string_equal(g_array_index(t->sources, xlm_question_source, 0).version, "1.0");
    assert_string_equal(g_array_index(t->sources, xlm_question_source, 1).language, "de");
    assert_int_equal(g_array_index(t->questions, xlm_question, 1).source, 1);
    xlm_question_text_free(t);
    g_free(path);
}

/* ---- examples and predictions ---- */

/* "w1", ... "w9": ids 5 ... 13; "lo@@", "w": 14, 15. */
static xlm_vocabulary *make_vocabulary(void)
{
    static const char *const names[] = {"en", "de"},
                      *const subwords[] = {"w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8", "w9", "lo@@", "w"};
    const xlm_vocabulary_settings settings = {.words = XLM_WORDS_ICU, .lowercase = true, .languages = 2, .language_names = names};
    static const char codes[] = "l o 9\nw 1</w> 1\nw 2</w> 1\nw 3</w> 1\nw 4</w> 1\nw 5</w> 1\nw 6</w> 1\nw 7</w> 1\nw 8</w> 1\n"
                                "w 9</w> 1\n";
    xlm_word_counts *words = xlm_word_counts_new();
    for (int i = 0; i < 11; i++)
        xlm_word_counts_add(words, subwords[i], strlen(subwords[i]), 20 - i);
    xlm_segmenter *segmenter = xlm_segmenter_parse(&xlm_segmenter_bpe, "codes", codes, strlen(codes), NULL);
    xlm_vocabulary *v = xlm_vocabulary_new(words, segmenter, &settings, NULL);
    assert_non_null(v);
    xlm_word_counts_free(words);
    return v;
}

/* "id:language:type*target ... | ..." of every example. g_free. */
static char *show(const xlm_examples *e)
{
    GString *out = g_string_new(NULL);
    xlm_arena *arena = xlm_arena_new();
    for (int64_t i = 0; i < xlm_examples_count(e); i++) {
        const uint32_t instance = 0;
        xlm_batch b;
        assert_true(xlm_examples_read(e, 1, &i, &instance, arena, &b, NULL));
        for (int32_t k = 0, m = 0; k < b.tokens; k++) {
            g_string_append_printf(out, "%s%d", k > 0 ? " " : i > 0 ? " | " : "", b.ids[k]);
            if (k == 0 || b.languages[k] != b.languages[k - 1] || b.types[k] != b.types[k - 1])
                g_string_append_printf(out, ":%d:%d", b.languages[k], b.types[k]);
            for (; m < b.masked && b.masked_rows[m] == k; m++)
                g_string_append_printf(out, "*%d", b.targets[m]);
        }
    }
    xlm_arena_free(arena);
    return g_string_free(out, FALSE);
}

static double measure_of(const xlm_task_scores *s, const char *name)
{
    for (guint i = 0; i < s->measures->len; i++)
        if (strcmp(g_array_index(s->measures, xlm_measure, i).name, name) == 0)
            return g_array_index(s->measures, xlm_measure, i).value;
    return NAN;
}

/* A task that has read a text of two files. */
struct answering_fixture {
    const xlm_task *task;
    xlm_task_state *state;
    xlm_loss self;
    xlm_vocabulary *vocabulary;
    xlm_tokenizer *tokenizer;
    char *paths[2];
    void *text;
};

static const char first_file[] = "{\"version\": \"v2.0\", \"data\": [{\"paragraphs\": ["
    CONTEXT("W1 (low  w2), w3 w4", "{\"id\": \"q1\", \"question\": \"w9?\""
            ANSWERS(ANSWER("low  w2", "4") "," ANSWER("w3", "14")) "}," QUESTION("q2", ", \"is_impossible\": true"))
    "]}]}";
static const char second_file[] = ONE("w1 w2 w3 w4 w5", ANSWERS(ANSWER("w2 w3", "3")));

static struct answering_fixture open_fixture(const char *options)
{
    struct answering_fixture f = {.task = xlm_task_find("answering", NULL), .vocabulary = make_vocabulary()};
    assert_non_null(f.task);
    f.state = xlm_task_state_read(f.task, "test", options, NULL, NULL);
    assert_non_null(f.state);
    f.self = (xlm_loss){.cls = &f.task->loss, .name = "answering", .state = f.state};
    char message[100] = "";
    assert_true(f.task->loss.open(&f.self, message, sizeof message));
    f.tokenizer = xlm_tokenizer_new(f.vocabulary, NULL);
    f.paths[0] = write_file("one.json", first_file);
    f.paths[1] = write_file("two.json", second_file);
    const xlm_task_source sources[] = {{0, "en", f.paths[0]}, {1, "de", f.paths[1]}};
    f.text = f.task->read(&f.self, sources, 2, NULL);
    assert_non_null(f.text);
    return f;
}

static void close_fixture(struct answering_fixture *f)
{
    f->task->read_free(f->text);
    xlm_tokenizer_free(f->tokenizer);
    xlm_vocabulary_free(f->vocabulary);
    xlm_options_free(f->task->loss.options, f->state);
    g_free(f->state);
    g_free(f->paths[0]);
    g_free(f->paths[1]);
}

static xlm_examples *encode(const struct answering_fixture *f, int64_t length, GString *description)
{
    const xlm_task_encoder encoder = {.tokenizer = f->tokenizer, .length = length};
    xlm_examples *e = xlm_examples_new(&xlm_own_special_tokens);
    assert_true(f->task->encode(&f->self, f->text, &encoder, e, description, NULL));
    return e;
}

static void test_examples(void **state)
{
    (void)state;
    struct answering_fixture f = open_fixture("stride = 3\nquestion_length = 1\n");
    GString *description = g_string_new(NULL);
    /* <s> w9 </s> W1 ( low w2 ) , w3 w4 </s>: nine subwords of context, for 6 of which there is room. */
    xlm_examples *e = encode(&f, 10, description);
    char *got = show(e);
    assert_string_equal(got,
                        "0:0:0 13 2 5:0:1 3 14*0 15 6*1 3 2 | 0:0:0*0*1 13 2 15:0:1 6 3 3 7 8 2 | " /* q1 */
                        "0:0:0*0*1 15 2 5:0:1 3 14 15 6 3 2 | 0:0:0*0*1 15 2 15:0:1 6 3 3 7 8 2 | " /* q2 */
                        "0:1:0 15 2 5:1:1 6*0 7*1 8 9 2");
    assert_string_equal(description->str, "3 questions (1 without an answer), 2 contexts, 5 windows, 49 tokens; answers compared "
                        "by the rules of SQuAD; in several windows: 2; questions cut: 1");
    g_free(got);
    xlm_examples_free(e);
    close_fixture(&f);

    /* Two </s> before the context, of the question's type; what they take leaves room for 5. */
    f = open_fixture("stride = 3\nquestion_length = 1\nseparators = 2\n");
    g_string_truncate(description, 0);
    e = encode(&f, 10, description);
    got = show(e);
    assert_true(g_str_has_prefix(got, "0:0:0 13 2 2 5:0:1 3 14*0 15 6*1 2 | 0:0:0*0*1 13 2 2 15:0:1 6 3 3 7 2 | "));
    assert_true(g_str_has_suffix(got, " | 0:1:0 15 2 2 5:1:1 6*0 7*1 8 9 2"));
    g_free(got);
    xlm_examples_free(e);
    close_fixture(&f);

    f = open_fixture("stride = 2\n"); /* windows of two subwords: none has an answer whole */
    g_string_truncate(description, 0);
    e = encode(&f, 6, description);
    assert_non_null(strstr(description->str, "; answers that no window has whole: 2"));
    assert_int_equal(xlm_examples_longest(e), 6);
    xlm_examples_free(e);
    close_fixture(&f);
    g_string_free(description, TRUE);
}

/* What a model could have found in the five windows of test_examples, of which every other row counts. */
enum { WIDTH = 8 };
static const double found[10][WIDTH] = {
    {5, 2, 2, 4, 7, 0, 0, 6.5}, {0}, /* q1: "low  w2", "W1" */
    {1, 2, 4, 4, 9, 0, 1, 7},   {0}, /* "w3"; "low  w2" again, as "w  w2" */
    {4, 1, 0, 1, 5},            {0}, /* q2: "W1 (" */
    {8, 1, 5, 5, 4.5},          {0},
    {2, 1, 1, 3, 6},            {0}, /* q1 of the other file: "w2 w3 w4" */
};

/* Every answer is wrong, and null odds are −2: no answer is the best to all, and none is given. */
static void test_none_answered(void **state)
{
    (void)state;
    static const double wrong[10][WIDTH] = {{0, 1, 0, 0, 2}, {0}, {0}, {0}, {0, 1, 0, 0, 2}, {0}, {0}, {0}, {0, 1, 3, 3, 2}};
    struct answering_fixture f = open_fixture("stride = 3\nn_best = 2\nquestion_length = 1\n");
    GString *out = g_string_new(NULL);
    xlm_examples_free(encode(&f, 10, out));
    f.task->decide(&f.self, 1, (void *const[]){f.text}, (const double *const[]){wrong[0]});
    xlm_task_scores *s = xlm_task_scores_new();
    f.task->score(&f.self, f.text, wrong[0], s);
    near(measure_of(s, "best_f1"), 1.0 / 3);
    near(measure_of(s, "f1"), 1.0 / 3);
    near(measure_of(s, "no_ans_f1"), 1);
    xlm_task_scores_free(s);
    g_string_free(out, TRUE);
    close_fixture(&f);
}

static void test_predictions(void **state)
{
    (void)state;
    struct answering_fixture f = open_fixture("stride = 3\nn_best = 2\nquestion_length = 1\n");
    GString *out = g_string_new(NULL);
    xlm_examples_free(encode(&f, 10, out));
    g_string_truncate(out, 0);
    assert_int_equal(f.task->width(&f.self), WIDTH);
    f.task->print(&f.self, f.text, found[0], out);
    /* Texts that are scored have one language, so that no id is lost. */
    assert_string_equal(out->str, "{\n \"q1\": \"w2 w3 w4\",\n \"q2\": \"W1 (\"\n}\n");
    g_string_truncate(out, 0);
    assert_string_equal(f.task->outputs[0].name, "n_best");
    f.task->outputs[0].print(&f.self, f.text, found[0], out);
    assert_non_null(strstr(out->str, "\"text\": \"w2 w3 w4\",\n   \"score\": 6.0,\n   \"probability\": 0.98201379"));
    g_string_truncate(out, 0);
    f.task->outputs[1].print(&f.self, f.text, found[0], out);
    assert_string_equal(out->str, "{\n \"q1\": -4.0,\n \"q2\": -1.0\n}\n");

    /* q1 right by its second answer, q2 answered, which is wrong; of the other file F1 4/5. */
    xlm_task_scores *s = xlm_task_scores_new();
    f.task->score(&f.self, f.text, found[0], s);
    assert_string_equal(g_array_index(s->measures, xlm_measure, 0).name, "f1");
    near(measure_of(s, "f1"), (1 + 0 + 0.8) / 3);
    near(measure_of(s, "exact_match"), 1.0 / 3);
    near(measure_of(s, "has_ans_f1"), 1.8 / 2);
    near(measure_of(s, "has_ans_exact"), 1.0 / 2);
    near(measure_of(s, "no_ans_f1"), 0);
    near(measure_of(s, "best_f1"), 2.8 / 3); /* null odds −8, −1, −4 */
    near(measure_of(s, "best_exact"), 2.0 / 3);
    xlm_task_scores_free(s);

    /* The dev files decide a threshold of −4: q2 then has no answer. */
    void *const texts[] = {f.text};
    const double *const predictions[] = {found[0]};
    f.task->decide(&f.self, 1, texts, predictions);
    s = xlm_task_scores_new();
    f.task->score(&f.self, f.text, found[0], s);
    near(measure_of(s, "f1"), 2.8 / 3);
    near(measure_of(s, "no_ans_f1"), 1);
    const xlm_task_row *row = &g_array_index(s->rows, xlm_task_row, 1);
    assert_string_equal(row->name, "unanswerable");
    assert_true(row->gold == 1 && row->predicted == 1 && row->right == 1);
    xlm_task_scores_free(s);
    g_string_truncate(out, 0);
    f.task->print(&f.self, f.text, found[0], out);
    assert_non_null(strstr(out->str, "\"q2\": \"\""));
    close_fixture(&f);

    /* Unless all are to be answered. */
    f = open_fixture("stride = 3\nn_best = 2\nquestion_length = 1\nno_answer = never\nchoose_by = exact_match\n");
    xlm_examples_free(encode(&f, 10, out));
    f.task->decide(&f.self, 1, (void *const[]){f.text}, predictions);
    s = xlm_task_scores_new();
    f.task->score(&f.self, f.text, found[0], s);
    assert_string_equal(g_array_index(s->measures, xlm_measure, 0).name, "exact_match");
    near(measure_of(s, "f1"), 1.8 / 3);
    xlm_task_scores_free(s);
    close_fixture(&f);
    g_string_free(out, TRUE);
}

/* A task that has read a text of one file. */
static struct answering_fixture open_one(const char *options, const char *json)
{
    struct answering_fixture f = open_fixture(options);
    f.task->read_free(f.text);
    char *path = write_file("bad.json", json);
    const xlm_task_source source = {0, "en", path};
    f.text = f.task->read(&f.self, &source, 1, NULL);
    assert_non_null(f.text);
    g_free(path);
    return f;
}

static void refuses_to_encode(const char *json, int64_t length, int code, const char *part)
{
    struct answering_fixture f = open_one("separators = 2\n", json);
    xlm_examples *e = xlm_examples_new(&xlm_own_special_tokens);
    const xlm_task_encoder encoder = {.tokenizer = f.tokenizer, .length = length, .training = true};
    GString *description = g_string_new(NULL);
    GError *error = NULL;
    assert_false(f.task->encode(&f.self, f.text, &encoder, e, description, &error));
    assert_int_equal(error->code, code);
    if (strstr(error->message, part) == NULL)
        fail_msg("no '%s' in: %s", part, error->message);
    g_error_free(error);
    g_string_free(description, TRUE);
    xlm_examples_free(e);
    close_fixture(&f);
}

/* Of a file that says this version, in this language. */
static xlm_answer_rules rules_of(const char *version, const char *language)
{
    char *json = g_strdup_printf("{%s \"data\": [{\"paragraphs\": ["
                                 CONTEXT("a", QUESTION("q", ANSWERS(ANSWER("a", "0")))) "]}]}", version);
    struct answering_fixture f = open_fixture("");
    char *path = write_file("c.json", json);
    const xlm_task_source source = {-1, language, path};
    xlm_answer_text *text = f.task->read(&f.self, &source, 1, NULL);
    assert_non_null(text);
    const xlm_answer_rules rules = g_array_index(text->rules, xlm_answer_rules, 0);
    f.task->read_free(text);
    close_fixture(&f);
    g_free(path);
    g_free(json);
    return rules;
}

/* rules = auto goes by the version alone, so that all languages of one test set are compared alike. */
static void test_automatic_rules(void **state)
{
    (void)state;
    assert_int_equal(rules_of("\"version\": \"1.0\",", "en"), XLM_ANSWERS_EN);
    assert_int_equal(rules_of("\"version\": \"1.0\",", "de"), XLM_ANSWERS_DE);
    assert_int_equal(rules_of("\"version\": 1.0,", "zh"), XLM_ANSWERS_ZH);
    assert_int_equal(rules_of("\"version\": \"1.0\",", "el"), XLM_ANSWERS_SQUAD);
    assert_int_equal(rules_of("\"version\": \"1.0\",", NULL), XLM_ANSWERS_SQUAD);
    assert_int_equal(rules_of("\"version\": \"1.1\",", "en"), XLM_ANSWERS_SQUAD);
    assert_int_equal(rules_of("\"version\": \"1.1\",", "de"), XLM_ANSWERS_SQUAD);
    assert_int_equal(rules_of("\"version\": \"v2.0\",", "ar"), XLM_ANSWERS_SQUAD);
    assert_int_equal(rules_of("", "de"), XLM_ANSWERS_SQUAD);
}

static const char invisible[] = ONE("w1 \\u200b w2", ANSWERS(ANSWER("\\u200b", "3")));

/* Where nothing is learned an answer without a subword is one that is not found. */
static void test_invisible_answer(void **state)
{
    (void)state;
    struct answering_fixture f = open_one("", invisible);
    GString *description = g_string_new(NULL);
    xlm_examples *e = encode(&f, 10, description);
    char *got = show(e);
    assert_string_equal(got, "0:0:0*0*1 15 2 5:0:1 6 2");
    g_free(got);
    xlm_examples_free(e);
    g_string_free(description, TRUE);
    close_fixture(&f);
}

static void test_refused(void **state)
{
    (void)state;
    /* Invisible characters are no words, and no white space either. */
    refuses_to_encode(ONE("\\u200b", ", \"is_impossible\": true"), 10, EX_DATAERR,
                      "bad.json:1: data[0].paragraphs[0]: \"context\" has no word");
    refuses_to_encode(invisible, 10, EX_DATAERR, "bad.json:1: data[0].paragraphs[0].qas[0] (id q1): the answer");
    refuses_to_encode(second_file, 5, EX_CONFIG, "it must be at least 6");
    const xlm_task *task = xlm_task_find("answering", NULL);
    xlm_task_state *s = xlm_task_state_read(task, "test", "rules = mlqa\n", NULL, NULL);
    const xlm_loss self = {.cls = &task->loss, .name = "answering", .state = s};
    char *path = write_file("c.json", second_file);
    const xlm_task_source greek = {0, "el", path}, none = {-1, NULL, path}, arabic = {0, "ar", path};
    GError *error = NULL;
    assert_null(task->read(&self, &greek, 1, &error));
    assert_int_equal(error->code, EX_CONFIG);
    assert_non_null(strstr(error->message, "c.json: rules = mlqa, but"));
    g_clear_error(&error);
    assert_null(task->read(&self, &none, 1, &error));
    g_clear_error(&error);
    xlm_answer_text *text = task->read(&self, &arabic, 1, NULL);
    assert_non_null(text);
    assert_int_equal(g_array_index(text->rules, xlm_answer_rules, 0), XLM_ANSWERS_AR);
    task->read_free(text);
    xlm_options_free(task->loss.options, s);
    g_free(s);
    /* Rules that are named, whatever the language. */
    s = xlm_task_state_read(task, "test", "rules = mlqa-zh\n", NULL, NULL);
    const xlm_loss named = {.cls = &task->loss, .name = "answering", .state = s};
    text = task->read(&named, &none, 1, NULL);
    assert_non_null(text);
    assert_int_equal(g_array_index(text->rules, xlm_answer_rules, 0), XLM_ANSWERS_ZH);
    task->read_free(text);
    xlm_options_free(task->loss.options, s);
    g_free(s);
    g_free(path);
}

/* Question 1 of de with the context of en, and the other way round, two windows at a time; question 2 stands in en alone. */
static void test_switched(void **state)
{
    (void)state;
    struct answering_fixture f = open_fixture("code_switching = en\nstride = 3\nquestion_length = 1\n");
    const xlm_task_encoder encoder = {.tokenizer = f.tokenizer, .length = 10, .training = true};
    xlm_examples *e = xlm_examples_new(&xlm_own_special_tokens);
    GString *description = g_string_new(NULL);
    assert_true(f.task->encode(&f.self, f.text, &encoder, e, description, NULL));
    char *got = show(e);
    assert_string_equal(got, "0:1:0 15 2 5:0:1 3 14*0 15 6*1 3 2 | 0:0:0 13 2 5:1:1 6*0 7*1 8 9 2 | "
                             "0:1:0*0*1 15 2 15:0:1 6 3 3 7 8 2 | 0:0:0 13 2 5:1:1 6*0 7*1 8 9 2");
    assert_non_null(strstr(description->str, "; code-switched with en: 1 pairs of questions, by id"));
    assert_int_equal(xlm_examples_together(e), 2);
    g_free(got);
    xlm_examples_free(e);
    close_fixture(&f);
    /* Of all questions none has a translation. */
    f = open_fixture("code_switching = de\nstride = 3\nquestion_length = 1\n");
    g_array_index(((xlm_answer_text *)f.text)->questions->questions, xlm_question, 2).id = "other";
    GError *error = NULL;
    e = xlm_examples_new(&xlm_own_special_tokens);
    const xlm_task_encoder other = {.tokenizer = f.tokenizer, .length = 10, .training = true};
    assert_false(f.task->encode(&f.self, f.text, &other, e, description, &error));
    assert_int_equal(error->code, EX_DATAERR);
    assert_non_null(strstr(error->message, "one.json:1: data[0].paragraphs[0].qas[0] (id q1): "
                           "code_switching = de has no question of this id"));
    g_error_free(error);
    g_string_free(description, TRUE);
    xlm_examples_free(e);
    close_fixture(&f);
}

/* A context of 10,000 words, whose last is the answer. */
static void test_long_context(void **state)
{
    (void)state;
    GString *json = g_string_new("{\"data\": [{\"paragraphs\": [{\"context\": \"");
    for (int i = 0; i < 9999; i++)
        g_string_append(json, "w1 ");
    g_string_append(json, "w2\", \"qas\": [" QUESTION("q", ANSWERS(ANSWER("w2", "29997"))) "]}]}]}");
    struct answering_fixture f = open_fixture("");
    f.task->read_free(f.text);
    char *path = write_file("long.json", json->str);
    const xlm_task_source source = {0, "en", path};
    f.text = f.task->read(&f.self, &source, 1, NULL);
    g_string_truncate(json, 0);
    xlm_examples *e = encode(&f, 128, json);
    /* Room for 124 subwords, which is less than the stride: 80 windows of 124, and 80 subwords. */
    assert_string_equal(json->str, "1 questions, 1 contexts, 81 windows, 10324 tokens; answers compared by the rules of SQuAD; "
                        "in several windows: 1");
    char *got = show(e);
    assert_true(g_str_has_suffix(got, " 5 6*0*1 2"));
    g_free(got);
    g_free(path);
    g_string_free(json, TRUE);
    xlm_examples_free(e);
    close_fixture(&f);
}

static int make_directory(void **state)
{
    (void)state;
    directory = g_dir_make_tmp("answering-XXXXXX", NULL);
    return directory == NULL;
}

static int remove_directory(void **state)
{
    (void)state;
    GDir *folder = g_dir_open(directory, 0, NULL);
    for (const char *name; (name = g_dir_read_name(folder)) != NULL;) {
        char *path = g_build_filename(directory, name, NULL);
        g_unlink(path);
        g_free(path);
    }
    g_dir_close(folder);
    g_rmdir(directory);
    g_free(directory);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),    cmocka_unit_test(test_comparing),     cmocka_unit_test(test_windows),
        cmocka_unit_test(test_spans),    cmocka_unit_test(test_results),       cmocka_unit_test(test_threshold),
        cmocka_unit_test(test_reader),   cmocka_unit_test(test_json),          cmocka_unit_test(test_several_files),
        cmocka_unit_test(test_examples), cmocka_unit_test(test_none_answered), cmocka_unit_test(test_predictions),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_long_context),  cmocka_unit_test(test_switched),
        cmocka_unit_test(test_automatic_rules), cmocka_unit_test(test_invisible_answer),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
