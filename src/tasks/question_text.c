/* xlm-mpi: questions, with contexts that have their answers. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/question_text.h"

#include <string.h>

#include "formats/json_file.h"

xlm_question_text *xlm_question_text_new(void)
{
    xlm_question_text *text = g_new0(xlm_question_text, 1);
    text->sources = g_array_new(FALSE, FALSE, sizeof(xlm_question_source));
    text->contexts = g_array_new(FALSE, FALSE, sizeof(xlm_context));
    text->questions = g_array_new(FALSE, FALSE, sizeof(xlm_question));
    text->answers = g_array_new(FALSE, FALSE, sizeof(xlm_answer));
    text->strings = g_string_chunk_new(1 << 16);
    text->ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return text;
}

void xlm_question_text_free(xlm_question_text *text)
{
    if (text == NULL)
        return;
    g_array_unref(text->sources);
    g_array_unref(text->contexts);
    g_array_unref(text->questions);
    g_array_unref(text->answers);
    g_string_chunk_free(text->strings);
    g_hash_table_unref(text->ids);
    g_free(text);
}

/* A reader at data[article].paragraphs[paragraph].qas[question], of which the last two are -1 outside of them. */
typedef struct reader {
    xlm_question_text *text;
    xlm_question_source source;
    int64_t article, paragraph, question;
    const char *id; /* of the question, once it is known */
} reader;

/* The reader's place in the file: "data[0].paragraphs[3]". g_free. */
static char *place_of(const reader *r)
{
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "data[%" G_GINT64_FORMAT "]", r->article);
    if (r->paragraph >= 0)
        g_string_append_printf(out, ".paragraphs[%" G_GINT64_FORMAT "]", r->paragraph);
    if (r->question >= 0)
        g_string_append_printf(out, ".qas[%" G_GINT64_FORMAT "]", r->question);
    return g_string_free(out, FALSE);
}

/* The place with file, line and, unless it is NULL, id. g_free. */
static char *describe_place(const char *path, const char *place, const char *id)
{
    GString *out = g_string_new(path);
    g_autofree char *value = g_strconcat(place, id != NULL ? ".id" : NULL, NULL);
    const int64_t line = xlm_json_line(path, value);
    if (line > 0)
        g_string_append_printf(out, ":%" G_GINT64_FORMAT, line);
    g_string_append_printf(out, ": %s", place);
    if (id != NULL)
        g_string_append_printf(out, " (id %s)", id);
    return g_string_free(out, FALSE);
}

char *xlm_context_place(const xlm_question_text *text, const xlm_context *context)
{
    return describe_place(g_array_index(text->sources, xlm_question_source, context->source).path, context->place, NULL);
}

char *xlm_question_place(const xlm_question_text *text, const xlm_question *question)
{
    g_autofree char *place = g_strdup_printf("%s.qas[%u]", g_array_index(text->contexts, xlm_context, question->context).place,
                                             question->number);
    return describe_place(g_array_index(text->sources, xlm_question_source, question->source).path, place, question->id);
}

G_GNUC_PRINTF(3, 4) static bool refuse(const reader *r, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *place = place_of(r), *described = describe_place(r->source.path, place, r->id);
    return xlm_error_set(error, EX_DATAERR, "%s: %s", described, what);
}

/* The value of a key of an object; NULL with an error if it is not of the kind `kind`, as xlm_json_kind names it ("an array"). */
static const json_t *member(const reader *r, const json_t *object, const char *key, const char *kind, GError **error)
{
    const json_t *value = json_object_get(object, key);
    if (strcmp(xlm_json_kind(value), kind) == 0)
        return value;
    if (value == NULL)
        refuse(r, error, "\"%s\" is missing", key);
    else
        refuse(r, error, "\"%s\" is %s, but should be %s", key, xlm_json_kind(value), kind);
    return NULL;
}

static const char *text_of(reader *r, const json_t *object, const char *key, GError **error)
{
    const json_t *value = member(r, object, key, "a string", error);
    return value != NULL ? json_string_value(value) : NULL;
}

static bool is_object(const reader *r, const json_t *value, const char *what, GError **error)
{
    return json_is_object(value) || refuse(r, error, "%s is %s, but should be an object", what, xlm_json_kind(value));
}

static bool is_blank(const char *text)
{
    for (; *text != '\0'; text = g_utf8_next_char(text))
        if (!g_unichar_isspace(g_utf8_get_char(text)))
            return false;
    return true;
}

/* ---- answers ---- */

char *xlm_question_excerpt(const char *text)
{
    enum { MAX_CHARACTERS = 60 };
    if (g_utf8_strlen(text, -1) <= MAX_CHARACTERS)
        return g_strdup(text);
    g_autofree char *beginning = g_utf8_substring(text, 0, MAX_CHARACTERS);
    return g_strconcat(beginning, "...", NULL);
}

/* Refuse an answer that is not where it should be. place: that place in the context; NULL if it is outside of it. length:
 * characters of the context. */
static bool refuse_place(const reader *r, const char *text, int64_t at, const char *place, int64_t length, GError **error)
{
    g_autofree char *answer = xlm_question_excerpt(text);
    if (place == NULL) {
        refuse(r, error, "the answer \"%s\" should begin at character %" G_GINT64_FORMAT " of the context, which has %"
               G_GINT64_FORMAT, answer, at, length);
    } else {
        g_autofree char *rest = g_utf8_substring(place, 0, MIN(g_utf8_strlen(text, -1), length - at));
        g_autofree char *there = xlm_question_excerpt(rest);
        refuse(r, error, "the answer \"%s\" is not at character %" G_GINT64_FORMAT " of the context, where \"%s\" is; "
               "answer_start counts characters from 0", answer, at, there);
    }
    return false;
}

static bool add_answer(reader *r, const json_t *value, const xlm_context *context, GError **error)
{
    if (!is_object(r, value, "an answer", error))
        return false;
    const char *text = text_of(r, value, "text", error);
    const json_t *start = text != NULL ? member(r, value, "answer_start", "a number", error) : NULL;
    if (start == NULL)
        return false;
    int64_t at;
    if (!xlm_json_whole(start, &at))
        return refuse(r, error, "\"answer_start\" is not a whole number");
    if (is_blank(text))
        return refuse(r, error, "an answer has no word; is this a file whose answers were taken out?");
    const int64_t length = g_utf8_strlen(context->text, context->size);
    const char *place = at >= 0 && at <= length ? g_utf8_offset_to_pointer(context->text, at) : NULL;
    if (place == NULL || !g_str_has_prefix(place, text))
        return refuse_place(r, text, at, place, length, error);
    const uint32_t first = (uint32_t)(place - context->text);
    const xlm_answer answer = {g_string_chunk_insert_const(r->text->strings, text), first, first + (uint32_t)strlen(text)};
    g_array_append_val(r->text->answers, answer);
    return true;
}

/* [out] impossible: does the question say that it cannot be answered? */
static bool read_impossible(const reader *r, const json_t *qa, bool *impossible, GError **error)
{
    const json_t *value = json_object_get(qa, "is_impossible");
    *impossible = json_is_true(value);
    return value == NULL || json_is_boolean(value) ||
           refuse(r, error, "\"is_impossible\" is %s, but should be true or false", xlm_json_kind(value));
}

static bool add_answers(reader *r, const json_t *qa, xlm_question *question, GError **error)
{
    const xlm_context context = g_array_index(r->text->contexts, xlm_context, question->context);
    bool impossible;
    if (!read_impossible(r, qa, &impossible, error))
        return false;
    const json_t *given = json_object_get(qa, "answers");
    const bool none = given == NULL || (json_is_array(given) && json_array_size(given) == 0);
    question->unknown = r->text->unanswered && !impossible && none;
    if (question->unknown || (impossible && given == NULL))
        return true;
    const json_t *answers = member(r, qa, "answers", "an array", error);
    if (answers == NULL)
        return false;
    question->answers = (guint)json_array_size(answers);
    if (impossible && question->answers > 0)
        return refuse(r, error, "\"is_impossible\" is true, but there are answers");
    if (!impossible && question->answers == 0)
        return refuse(r, error, "there is no answer; a question that the context does not answer says \"is_impossible\": true");
    for (size_t i = 0; i < question->answers; i++)
        if (!add_answer(r, json_array_get(answers, i), &context, error))
            return false;
    return true;
}

/* ---- questions, contexts ---- */

/* Check an id, which must not have occurred before in a file of this language. */
static bool check_id(reader *r, const char *id, GError **error)
{
    if (*id == '\0')
        return refuse(r, error, "\"id\" is empty");
    r->id = id;
    char *key = g_strconcat(r->source.language != NULL ? r->source.language : "", "\t", id, NULL);
    return g_hash_table_add(r->text->ids, key) ||
           refuse(r, error, "another question in this language has the same id; predictions go by ids");
}

static bool add_question(reader *r, const json_t *qa, GError **error)
{
    if (!is_object(r, qa, "a question", error))
        return false;
    xlm_question_text *t = r->text;
    const char *id = text_of(r, qa, "id", error);
    if (id == NULL || !check_id(r, id, error))
        return false;
    const char *question = text_of(r, qa, "question", error);
    if (question == NULL)
        return false;
    xlm_question q = {.source = t->sources->len - 1, .context = t->contexts->len - 1,
                      .number = (guint)r->question, .first_answer = t->answers->len,
                      .id = g_string_chunk_insert_const(t->strings, id), .text = g_string_chunk_insert(t->strings, question)};
    if (!add_answers(r, qa, &q, error))
        return false;
    g_array_index(t->sources, xlm_question_source, q.source).unanswerable |= q.answers == 0 && !q.unknown;
    g_array_append_val(t->questions, q);
    r->id = NULL;
    return true;
}

static bool add_context(reader *r, const json_t *paragraph, GError **error)
{
    const json_t *value = member(r, paragraph, "context", "a string", error);
    if (value == NULL)
        return false;
    if (json_string_length(value) > G_MAXINT32)
        return refuse(r, error, "\"context\" is longer than 2 GiB");
    if (is_blank(json_string_value(value)))
        return refuse(r, error, "\"context\" has no word");
    g_autofree char *place = place_of(r);
    const xlm_context context = {
        .text = g_string_chunk_insert(r->text->strings, json_string_value(value)), .size = (uint32_t)json_string_length(value),
        .source = r->text->sources->len - 1, .place = g_string_chunk_insert(r->text->strings, place),
    };
    g_array_append_val(r->text->contexts, context);
    return true;
}

/* Call `add` for each element of an array, whose number is *at meanwhile. */
static bool add_each(reader *r, const json_t *array, int64_t *at, bool (*add)(reader *r, const json_t *element, GError **error),
                     GError **error)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        *at = (int64_t)i;
        if (!add(r, json_array_get(array, i), error))
            return false;
    }
    *at = -1;
    return array != NULL;
}

static bool add_paragraph(reader *r, const json_t *paragraph, GError **error)
{
    if (!is_object(r, paragraph, "a paragraph", error) || !add_context(r, paragraph, error))
        return false;
    return add_each(r, member(r, paragraph, "qas", "an array", error), &r->question, add_question, error);
}

static bool add_article(reader *r, const json_t *article, GError **error)
{
    return is_object(r, article, "an article", error) &&
           add_each(r, member(r, article, "paragraphs", "an array", error), &r->paragraph, add_paragraph, error);
}

/* The version of a file, which is a string or a number there; "" if there is none. */
static const char *version_of(xlm_question_text *text, const json_t *root)
{
    const json_t *version = json_object_get(root, "version");
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    if (json_is_string(version))
        return g_string_chunk_insert_const(text->strings, json_string_value(version));
    if (!json_is_number(version))
        return "";
    return g_string_chunk_insert_const(text->strings, g_ascii_formatd(number, sizeof number, "%.1f", json_number_value(version)));
}

static bool read_articles(reader *r, const json_t *root, GError **error)
{
    const json_t *data = json_object_get(root, "data");
    if (!json_is_object(root))
        return xlm_error_set(error, EX_DATAERR, "%s: is %s; SQuAD's files are an object with an array \"data\"", r->source.path,
                             xlm_json_kind(root));
    if (!json_is_array(data))
        return xlm_error_set(error, EX_DATAERR, "%s: \"data\", which should be an array, is %s", r->source.path,
                             xlm_json_kind(data));
    r->source.version = version_of(r->text, root);
    g_array_append_val(r->text->sources, r->source);
    const guint before = r->text->questions->len;
    return add_each(r, data, &r->article, add_article, error) &&
           (r->text->questions->len > before ||
            xlm_error_set(error, EX_DATAERR, "%s: there is no question in it", r->source.path));
}

bool xlm_question_text_read(xlm_question_text *text, const char *path, const char *language, int language_id, GError **error)
{
    json_auto_t *root = xlm_json_read(path, error);
    if (root == NULL)
        return false;
    reader r = {.text = text, .paragraph = -1, .question = -1,
                .source = {.path = g_string_chunk_insert_const(text->strings, path), .language_id = language_id,
                           .language = language != NULL ? g_string_chunk_insert_const(text->strings, language) : NULL}};
    return read_articles(&r, root, error);
}
