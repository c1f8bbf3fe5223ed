/* xlm-mpi: which subwords of a context question answering learns as the answer. SPDX-License-Identifier: GPL-3.0-or-later */
#include "files_fixture.h"
#include "places_fixture.h"

#include <jansson.h>

#include "options/options.h"
#include "tasks/task.h"
#include "tasks/tune_job.h"

/* A file of questions: each sample is a context, and is asked for its answers. g_free. */
static char *write_questions(void)
{
    json_t *paragraphs = json_array();
    for (size_t i = 0; i < G_N_ELEMENTS(samples); i++) {
        json_t *questions = json_array();
        for (size_t a = 0; a < G_N_ELEMENTS(samples[i].answers); a++) {
            const char *text = samples[i].text, *answer = samples[i].answers[a];
            json_array_append_new(questions, json_pack("{s: o, s: s, s: [{s: s, s: I}]}", "id",
                                                       json_sprintf("%s%d", samples[i].language, (int)a), "question", "a",
                                                       "answers", "text", answer, "answer_start",
                                                       (json_int_t)g_utf8_pointer_to_offset(text, strstr(text, answer))));
        }
        json_array_append_new(paragraphs, json_pack("{s: s, s: o}", "context", samples[i].text, "qas", questions));
    }
    json_t *root = json_pack("{s: s, s: [{s: o}]}", "version", "1.1", "data", "paragraphs", paragraphs);
    char *json = json_dumps(root, 0), *path = write_file("questions.json", json);
    free(json);
    json_decref(root);
    return path;
}

/* Append the bytes that a subword of byte-level BPE writes as characters. */
static void append_bytes(const char *subword, GString *out)
{
    for (const char *at = subword; *at != '\0'; at = g_utf8_next_char(at))
        for (int byte = 0; byte < 256; byte++)
            if (visible(byte) == g_utf8_get_char(at))
                g_string_append_c(out, (char)byte);
}

/* Do subwords ids[n], decoded, have the form of the answer, spaces aside? */
static bool has_answer(const xlm_vocabulary *v, form f, const int32_t *ids, size_t n, const char *answer)
{
    GString *decoded = g_string_new(NULL), *squeezed = g_string_new(NULL), *form_of_answer = g_string_new(NULL);
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(span));
    for (size_t i = 0; i < n && f == BYTES; i++)
        append_bytes(xlm_vocabulary_words(v)[ids[i]], decoded);
    if (f != BYTES)
        xlm_vocabulary_decode(v, ids, n, decoded);
    for (const char *at = decoded->str; *at != '\0'; at++)
        if (!g_ascii_isspace(*at))
            g_string_append_c(squeezed, *at);
    append_form(f, answer, 0, strlen(answer), form_of_answer, spans);
    const bool has = strstr(squeezed->str, form_of_answer->str) != NULL;
    g_string_free(decoded, TRUE);
    g_string_free(squeezed, TRUE);
    g_string_free(form_of_answer, TRUE);
    g_array_unref(spans);
    return has;
}

/* The subwords from the target of the beginning to that of the end have the answer, and none of them is too many. */
static void check_target(const char *name, const xlm_vocabulary *v, form f, const xlm_batch *b, const char *answer)
{
    int32_t rows[2] = {-1, -1};
    assert_int_equal(b->predicted, 2);
    for (int32_t m = 0; m < b->predicted; m++)
        rows[b->targets[m]] = b->predicted_rows[m];
    assert_true(rows[0] > 0 && rows[1] >= rows[0]);
    const int32_t *ids = b->corrupted.ids + rows[0];
    const size_t n = (size_t)(rows[1] - rows[0]) + 1;
    if (!has_answer(v, f, ids, n, answer) || has_answer(v, f, ids + 1, n - 1, answer) || has_answer(v, f, ids, n - 1, answer))
        fail_msg("%s: \"%s\" is learned as %zu subwords from %s", name, answer, n, xlm_vocabulary_words(v)[*ids]);
}

static void check_targets(const known_segmenter *s, const xlm_vocabulary *v, xlm_tokenizer *t, const void *path)
{
    const xlm_task *task = xlm_task_find("answering", NULL);
    const xlm_task_source source = {-1, NULL, path};
    xlm_task_state *options = xlm_task_state_read(task, "test", "", NULL, NULL);
    const xlm_loss self = {.cls = &task->loss, .name = "answering", .state = options};
    const xlm_task_encoder encoder = {.tokenizer = t, .length = 512, .training = true};
    xlm_examples *examples = xlm_examples_new(xlm_vocabulary_specials(v));
    GString *description = g_string_new(NULL);
    GError *error = NULL;
    void *text = task->read(&self, &source, 1, &error);
    if (text == NULL || !task->encode(&self, text, &encoder, examples, description, &error))
        fail_msg("%s", error->message);
    const int64_t answers = G_N_ELEMENTS(samples[0].answers);
    assert_int_equal(xlm_examples_count(examples), G_N_ELEMENTS(samples) * G_N_ELEMENTS(samples[0].answers));
    xlm_arena *arena = xlm_arena_new();
    for (int64_t k = 0; k < xlm_examples_count(examples); k++) {
        const uint32_t instance = 0;
        xlm_batch b;
        assert_true(xlm_examples_read(examples, 1, &k, &instance, arena, &b, NULL));
        check_target(s->name, v, s->form, &b, samples[k / answers].answers[k % answers]);
    }
    xlm_arena_free(arena);
    task->read_free(text);
    g_string_free(description, TRUE);
    xlm_examples_free(examples);
    xlm_options_free(task->loss.options, options);
    g_free(options);
}

static void test_targets(void **state)
{
    (void)state;
    char *path = write_questions();
    check_segmenters(check_targets, path);
    g_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
