/* xlm-mpi: files of questions and answers: what is read of them, and what is refused.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "files_fixture.h"
#include "question_fixture.h"

#include <string.h>

#include "formats/json_file.h"
#include "tasks/question_text.h"

static bool unanswered; /* questions whose answers are not known are allowed */

/* "id:question@context[answer(start-end)...] ..."; or the error, from the name of the file on. g_free. */
static char *read_back(const char *json, const char *language)
{
    char *path = write_file("a.json", json);
    xlm_question_text *t = xlm_question_text_new();
    t->unanswered = unanswered;
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
            g_string_append(out, q->unknown ? "?]" : "]");
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
    reads(ONE("a b", ANSWERS(ANSWER("b", "2.0"))), "q1:w@a b[b(2-3)]");
    refuses(ONE("a b", ANSWERS(ANSWER("b", "1"))),
            "a.json:1: data[0].paragraphs[0].qas[0] (id q1): the answer \"b\" is not at character 1 of the context, "
            "where \" \"");
    refuses(ONE("0123456789012345678901234567890123456789012345678901234567890123456789 b", ANSWERS(ANSWER("b", "3"))),
            "where \"3\" is;");
    refuses(ONE("a b", ANSWERS(ANSWER("0123456789012345678901234567890123456789012345678901234567890123456789", "2"))),
            "the answer \"012345678901234567890123456789012345678901234567890123456789...\" is not at");
    refuses(ONE("a b", ANSWERS(ANSWER("b c", "2"))), "(id q1): the answer \"b c\" is not at character 2");
    refuses(ONE("a b", ANSWERS(ANSWER("b", "4"))), "should begin at character 4 of the context, which has 3");
    refuses(ONE("a b", ANSWERS(ANSWER("a", "-1"))), "should begin at character -1");
    refuses(ONE("a b", ANSWERS(ANSWER("", "0"))), "(id q1): an answer has no word");
    refuses(ONE("a b", ANSWERS(ANSWER("a", "0.5"))), "(id q1): \"answer_start\" is not a whole number");
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
    /* The line of the question's id; for a context, that of the paragraph. */
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

/* Text that is only to be predicted. */
static void test_unanswered(void **state)
{
    (void)state;
    static const char bare[] = ONE("a b", ""), empty[] = ONE("a b", ANSWERS("")), answered[] = ONE("a b", ANSWERS(ANSWER("b", "2")));
    static const char impossible[] = ONE("a b", ANSWERS("") ", \"is_impossible\": true");
    refuses(bare, "(id q1): \"answers\" is missing");
    refuses(empty, "(id q1): there is no answer;");
    unanswered = true;
    reads(bare, "q1:w@a b[?]");
    reads(empty, "q1:w@a b[?]");
    reads(answered, "q1:w@a b[b(2-3)]");
    reads(impossible, "q1:w@a b[]");
    refuses(ONE("a b", ANSWERS(ANSWER("b", "1"))), "is not at character 1");
    unanswered = false;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reader),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_unanswered),
        cmocka_unit_test(test_several_files),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
