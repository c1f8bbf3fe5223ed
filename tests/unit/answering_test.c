/* xlm-mpi: question answering: examples, predictions and measures against answers by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "files_fixture.h"
#include "question_fixture.h"
#include "vocabulary_fixture.h"

#include <math.h>
#include <string.h>

#include "options/options.h"
#include "tasks/answer_head.h"
#include "tasks/answer_text.h"
#include "tasks/task.h"
#include "tasks/tune_job.h"

static void near(double a, double b)
{
    if (fabs(a - b) > 1e-12)
        fail_msg("%.17g instead of %.17g", a, b);
}

/* "w1", ... "w9": ids 5 ... 13; "lo@@", "w": 14, 15. */
static xlm_vocabulary *make_vocabulary(void)
{
    static const char *const subwords[] = {"w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8", "w9", "lo@@", "w"};
    return vocabulary_of(XLM_WORDS_ICU, 11, subwords,
                         "l o 9\nw 1</w> 1\nw 2</w> 1\nw 3</w> 1\nw 4</w> 1\nw 5</w> 1\nw 6</w> 1\nw 7</w> 1\nw 8</w> 1\n"
                         "w 9</w> 1\n");
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
        for (int32_t k = 0, m = 0; k < b.corrupted.tokens; k++) {
            g_string_append_printf(out, "%s%d", k > 0 ? " " : i > 0 ? " | " : "", b.corrupted.ids[k]);
            if (k == 0 || b.corrupted.languages[k] != b.corrupted.languages[k - 1] || b.corrupted.types[k] != b.corrupted.types[k - 1])
                g_string_append_printf(out, ":%d:%d", b.corrupted.languages[k], b.corrupted.types[k]);
            for (; m < b.predicted && b.predicted_rows[m] == k; m++)
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

/* Logits of a model for the five windows of test_examples; every other row counts. */
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

    /* q1 is right by its second answer, q2 is answered and therefore wrong; the other file has F1 4/5. */
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

/* For a file with this version, in this language. */
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

/* Without training, an answer without a subword counts as not found. */
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

/* Question 1 of de with the context of en, and the other way round, two windows at a time; question 2 is only in en. */
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
    /* No question has a translation. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),     cmocka_unit_test(test_none_answered),    cmocka_unit_test(test_predictions),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_long_context),     cmocka_unit_test(test_switched),
        cmocka_unit_test(test_automatic_rules), cmocka_unit_test(test_invisible_answer),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
