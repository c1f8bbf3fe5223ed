/* xlm-mpi: sentences or pairs of sentences, each with a class. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/labelled_text.h"

#include <jansson.h>
#include <string.h>

#include "formats/json_file.h"
#include "tasks/task.h"
#include "text/lines.h"

/* The values of an item; the first three must be there. */
enum { LABEL, FIRST, SECOND, LANGUAGE, ID, VALUES, NEEDED = LANGUAGE };

typedef struct naming {
    const char *name[NEEDED]; /* [SECOND] NULL: one sentence */
} naming;

static const naming namings[] = {
    {{"gold_label", "sentence1", "sentence2"}},
    {{"label", "premise", "hypo"}},
    {{"label", "premise", "hypothesis"}},
    {{"label", "sentence1", "sentence2"}},
    {{"is_duplicate", "question1", "question2"}},
    {{"Quality", "#1 String", "#2 String"}},
    {{"label", "question", "sentence"}},
    {{"label", "sentence", NULL}},
    {{"label", "text", NULL}},
};
static const char *const id_names[] = {"pairID", "id", "idx", "index"};
static const char known_forms[] =
    "known are gold_label, sentence1, sentence2; label, premise, hypo; label, sentence1, sentence2 and others, and lines "
    "`label<tab>sentence[<tab>sentence]`; columns = LABEL,SENTENCE[,SENTENCE] names others";

xlm_labelled_text *xlm_labelled_text_new(void)
{
    xlm_labelled_text *t = g_new0(xlm_labelled_text, 1);
    t->items = g_array_new(FALSE, FALSE, sizeof(xlm_labelled_item));
    t->files = g_array_new(FALSE, FALSE, sizeof(xlm_labelled_file));
    t->strings = g_string_chunk_new(1 << 16);
    return t;
}

void xlm_labelled_text_free(xlm_labelled_text *text)
{
    if (text == NULL)
        return;
    g_array_unref(text->items);
    g_array_unref(text->files);
    g_string_chunk_free(text->strings);
    g_free(text);
}

const xlm_labelled_file *xlm_labelled_file_of(const xlm_labelled_text *text, const xlm_labelled_item *item)
{
    return &g_array_index(text->files, xlm_labelled_file, item->file);
}

const char *xlm_labelled_file_hint(const xlm_labelled_file *file, const xlm_labelled_item *item)
{
    if (!file->guessed)
        return "";
    return item->sentence[1] != NULL ? "; of lines `sentence<tab>sentence<tab>label` say columns = 3,1,2"
                                     : "; of lines `sentence<tab>label` say columns = 2,1";
}

static bool check_file_labels(const xlm_labelled_text *text, int32_t number, GError **error)
{
    const xlm_labelled_file *file = &g_array_index(text->files, xlm_labelled_file, number);
    const xlm_labelled_item *new = NULL; /* the last item whose label no earlier item has */
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < text->items->len; i++) {
        const xlm_labelled_item *item = &g_array_index(text->items, xlm_labelled_item, i);
        if (item->file == number && g_hash_table_add(seen, (char *)item->label))
            new = item;
    }
    const int64_t different = g_hash_table_size(seen);
    if (!((different > 64 && different > file->items / 10) || (different > 8 && different > file->items / 2)))
        return true;
    const int shown = (int)(g_utf8_offset_to_pointer(new->label, MIN(g_utf8_strlen(new->label, -1), 40)) - new->label);
    return xlm_error_at(error, file->path, new->line, "the first column has %" G_GINT64_FORMAT " different values in %"
                        G_GINT64_FORMAT " lines, the last new one \"%.*s\", which are too many to be labels%s (if they are "
                        "labels: columns = %s)", different, file->items, shown, new->label, xlm_labelled_file_hint(file, new),
                        new->sentence[1] != NULL ? "1,2,3" : "1,2");
}

bool xlm_labelled_text_check_labels(const xlm_labelled_text *text, GError **error)
{
    for (guint f = 0; f < text->files->len; f++)
        if (g_array_index(text->files, xlm_labelled_file, f).guessed && !check_file_labels(text, (int32_t)f, error))
            return false;
    return true;
}

/* A file that is being read. */
typedef struct reader {
    xlm_labelled_text *text;
    const xlm_labelled_options *options;
    xlm_labelled_file file;
    int64_t line;          /* the one being read */
    int64_t blank;         /* the first line without text, which is allowed only at the end; 0: none yet */
    int64_t rows;          /* number of items of the language */
    bool begun, json;      /* the first line has been read; lines are JSON objects */
    naming naming;         /* the names that are used, some perhaps with a suffix; all NULL without header */
    const char *id_name;
    bool header;           /* the first line of a table is a header */
    int column[VALUES];    /* of a table, from 0; -1: there is none */
    guint columns;         /* number of columns of a table's first line */
    GPtrArray *fields;     /* char *: of the present line */
    GHashTable *languages; /* the names that occur in the column `language` */
} reader;

#define refuse(r, error, ...) xlm_error_at(error, (r)->file.path, (r)->line, __VA_ARGS__)

static bool is_blank(const char *text) { return text[strspn(text, " \t\r\n\v\f")] == '\0'; }

static bool has_second(const reader *r) { return r->json ? r->naming.name[SECOND] != NULL : r->column[SECOND] >= 0; }

/* ---- an item ---- */

/* Is an item in another language than the requested one? */
static bool is_foreign(reader *r, const char *language)
{
    if (language == NULL)
        return false;
    g_hash_table_add(r->languages, g_strdup(language));
    return r->file.language_name != NULL && strcmp(language, r->file.language_name) != 0;
}

/* The label by its usual name: XNLI's translations of MultiNLI spell one differently. */
static const char *label_of(const reader *r, const char *label)
{
    const bool translated = g_strcmp0(r->naming.name[SECOND], "hypo") == 0;
    return translated && strcmp(label, "contradictory") == 0 ? "contradiction" : label;
}

/* The name of a value, for messages. */
static const char *what_is(const reader *r, int value)
{
    static const char *const names[NEEDED] = {"label", "first sentence", "second sentence"};
    return r->naming.name[value] != NULL ? r->naming.name[value] : names[value];
}

static bool add_item(reader *r, const char *const *value, GError **error)
{
    if (is_foreign(r, value[LANGUAGE]))
        return true;
    const int64_t row = r->rows++;
    const bool labelled = value[LABEL] != NULL && !is_blank(value[LABEL]);
    if (labelled && g_strcmp0(r->naming.name[LABEL], "gold_label") == 0 && strcmp(value[LABEL], "-") == 0) {
        r->file.unlabelled++;
        return true;
    }
    const int sentences = has_second(r) ? 2 : 1;
    for (int v = LABEL; v < FIRST + sentences; v++)
        if (v == LABEL ? !labelled && !r->options->unlabelled : is_blank(value[v])) {
            r->file.empty++;
            return r->options->leave_out_empty ||
                   refuse(r, error, "the %s is empty; fill it in, or leave such lines out with empty = leave_out",
                          what_is(r, v));
        }
    GStringChunk *strings = r->text->strings;
    xlm_labelled_item item = {.label = labelled ? g_string_chunk_insert_const(strings, label_of(r, value[LABEL])) : NULL,
                              .row = row, .line = r->line, .file = (int32_t)r->text->files->len};
    if (r->text->items->len > 0 && (g_array_index(r->text->items, xlm_labelled_item, 0).sentence[1] != NULL) != (sentences == 2))
        return refuse(r, error, "%s, where the files before have %s", sentences == 2 ? "two sentences" : "one sentence",
                      sentences == 2 ? "one" : "two");
    for (int s = 0; s < sentences; s++)
        item.sentence[s] = g_string_chunk_insert(strings, value[FIRST + s]);
    if (value[ID] != NULL && !is_blank(value[ID]))
        item.id = g_string_chunk_insert(strings, value[ID]);
    g_array_append_val(r->text->items, item);
    r->file.items++;
    return true;
}

/* ---- which values are meant ---- */

/* Is there a column or member of this name? */
typedef bool has_name(const void *data, const char *name);

/* The name if a file has it, or (of_language) the name with the language after it; NULL if it has neither. */
static const char *find_name(const reader *r, const char *name, bool of_language, has_name *has, const void *data)
{
    if (has(data, name))
        return g_string_chunk_insert_const(r->text->strings, name);
    if (!of_language || r->file.language_name == NULL)
        return NULL;
    g_autofree char *longer = g_strconcat(name, "_", r->file.language_name, NULL);
    return has(data, longer) ? g_string_chunk_insert_const(r->text->strings, longer) : NULL;
}

/* bare: the label may be absent. */
static bool try_naming(reader *r, const naming *tried, bool of_language, bool bare, has_name *has, const void *data)
{
    naming found = {{NULL}};
    for (int v = 0; v < NEEDED && tried->name[v] != NULL; v++)
        if ((found.name[v] = find_name(r, tried->name[v], of_language && v != LABEL, has, data)) == NULL) {
            if (!bare || v != LABEL)
                return false;
            found.name[v] = r->json ? tried->name[v] : NULL; /* another object may have it */
        }
    r->naming = found;
    return true;
}

/* Choose the first naming that the file has, or, if the label may be absent, has but for the label. */
static bool choose_naming(reader *r, bool unlabelled, has_name *has, const void *data)
{
    for (int bare = 0; bare <= unlabelled; bare++)
        for (guint i = 0; i < G_N_ELEMENTS(namings); i++)
            if (try_naming(r, &namings[i], false, bare, has, data) || try_naming(r, &namings[i], true, bare, has, data))
                return true;
    return false;
}

/* Choose the requested names, or the first naming that the file has. */
static bool choose_names(reader *r, has_name *has, const void *data, GError **error)
{
    char *const *asked = r->options->columns;
    for (guint i = 0; i < G_N_ELEMENTS(id_names) && r->id_name == NULL; i++)
        r->id_name = has(data, id_names[i]) ? id_names[i] : NULL;
    if (asked != NULL) {
        const naming wanted = {{asked[0], asked[1], asked[2]}};
        for (int v = 0; v < NEEDED && asked[v] != NULL; v++)
            if (!has(data, asked[v]) && !(v == LABEL && r->options->unlabelled))
                return xlm_error_set(error, EX_CONFIG, "%s:%" G_GINT64_FORMAT ": columns asks for \"%s\", which is not there",
                                     r->file.path, r->line, asked[v]);
        return try_naming(r, &wanted, false, r->options->unlabelled, has, data);
    }
    return choose_naming(r, r->options->unlabelled, has, data) ||
           refuse(r, error, "%s lacks columns of a label and of sentences; %s", r->json ? "the first object" : "the header",
                  known_forms);
}

static void describe(reader *r, const char *what)
{
    g_autoptr(GString) form = g_string_new(what);
    for (int v = 0; v < NEEDED; v++)
        if (r->naming.name[v] != NULL)
            g_string_append_printf(form, "%s%s", form->len > strlen(what) ? ", " : " ", r->naming.name[v]);
    r->file.form = g_string_chunk_insert_const(r->text->strings, form->str);
}

/* ---- tables ---- */

static int find_column(const reader *r, const char *name)
{
    for (guint i = 0; name != NULL && i < r->fields->len; i++)
        if (strcmp(r->fields->pdata[i], name) == 0)
            return (int)i;
    return -1;
}

static bool has_column(const void *data, const char *name) { return find_column(data, name) >= 0; }

/* Are the requested columns given by numbers? [out] column: these, from 0. */
static bool asks_for_numbers(const reader *r, int *column)
{
    char *const *asked = r->options->columns;
    bool all = asked != NULL;
    for (int v = 0; v < NEEDED && all && asked[v] != NULL; v++) {
        guint64 number;
        all = g_ascii_string_to_unsigned(asked[v], 10, 1, 1 << 16, &number, NULL);
        column[v] = all ? (int)number - 1 : -1;
    }
    return all;
}

/* Is the first line a header without a label? A class may be called "sentence", so one such name alone is none. */
static bool is_bare_header(reader *r)
{
    bool more = r->columns == 1;
    for (guint i = 0; i < G_N_ELEMENTS(id_names) && !more; i++)
        more = find_column(r, id_names[i]) >= 0;
    if (choose_naming(r, true, has_column, r) && (more || r->naming.name[SECOND] != NULL))
        return true;
    r->naming = (naming){{NULL}};
    return false;
}

/* Is the first line a header? */
static bool is_header(reader *r)
{
    static const char *const names[] = {"gold_label", "label", "sentence1", "sentence2", "premise", "hypo", "hypothesis",
                                        "is_duplicate", "question1", "#1 String"};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++)
        if (find_column(r, names[i]) >= 0)
            return true;
    return r->options->columns != NULL || (r->options->unlabelled && is_bare_header(r));
}

/* Determine the columns by the first line. [out] taken: it was a header. */
static bool begin_table(reader *r, bool *taken, GError **error)
{
    int column[VALUES] = {-1, -1, -1, -1, -1};
    const bool numbers = asks_for_numbers(r, column);
    r->columns = r->fields->len;
    *taken = r->header = !numbers && is_header(r);
    if (r->header) {
        if (!choose_names(r, has_column, r, error))
            return false;
        for (int v = 0; v < NEEDED; v++)
            column[v] = find_column(r, r->naming.name[v]);
        column[LANGUAGE] = find_column(r, "language");
        column[ID] = find_column(r, r->id_name);
        describe(r, "columns");
    } else if (numbers) {
        for (int v = 0; v < NEEDED; v++)
            if (column[v] >= (int)r->columns)
                return refuse(r, error, "columns asks for column %d, and the line has %u", column[v] + 1, r->columns);
        if (choose_naming(r, false, has_column, r))
            return refuse(r, error, "it has a header; let columns name its columns, instead of numbers");
        r->file.form = "columns by their numbers";
    } else {
        const guint sentences = r->columns == 1 && r->options->unlabelled;
        if (r->columns + sentences != 2 && r->columns != 3)
            return refuse(r, error, "%u column%s between tabs and no header; %s", r->columns, r->columns == 1 ? "" : "s",
                          known_forms);
        for (guint v = sentences; v < r->columns + sentences; v++)
            column[v] = (int)(v - sentences);
        r->file.guessed = true;
        r->file.form = r->columns == 3 ? "lines `label<tab>sentence<tab>sentence`"
                       : r->columns == 2 ? "lines `label<tab>sentence`" : "lines `sentence`";
    }
    memcpy(r->column, column, sizeof column);
    return true;
}

/* Are rows with too few columns left out? They are parts of records that are broken over lines. */
static bool leaves_out_parts(const reader *r) { return r->header && r->options->leave_out_empty; }

static void leave_out_parts(reader *r, int64_t lines)
{
    r->rows += lines;
    r->file.parts += lines;
}

static bool add_row(reader *r, GError **error)
{
    int needed = 0;
    for (int v = 0; v < VALUES; v++)
        needed = MAX(needed, r->column[v] + 1);
    const bool part = r->fields->len < (guint)needed;
    bool good = !part || leaves_out_parts(r);
    for (guint i = r->columns; i < r->fields->len; i++)
        good = good && *(const char *)r->fields->pdata[i] == '\0';
    if (!good)
        return refuse(r, error, "%u column%s between tabs, where the first line has %u%s", r->fields->len,
                      r->fields->len == 1 ? "" : "s", r->columns,
                      part && r->header ? "; leave such lines out with empty = leave_out" : "");
    if (part) {
        leave_out_parts(r, 1);
        return true;
    }
    const char *value[VALUES];
    for (int v = 0; v < VALUES; v++)
        value[v] = r->column[v] >= 0 ? r->fields->pdata[r->column[v]] : NULL;
    return add_item(r, value, error);
}

static bool read_row(reader *r, char *line, GError **error)
{
    g_ptr_array_set_size(r->fields, 0);
    for (char *at = line; at != NULL;) {
        g_ptr_array_add(r->fields, at);
        if ((at = strchr(at, '\t')) != NULL)
            *at++ = '\0';
    }
    bool taken = false;
    if (!r->begun && !begin_table(r, &taken, error))
        return false;
    return taken || add_row(r, error);
}

/* ---- JSON ---- */

static bool has_member(const void *data, const char *name) { return json_object_get(data, name) != NULL; }

/* The text of a value: a string, or, if it is not a sentence, a whole number or truth value, which is written into number[32].
 * NULL for anything else. */
static const char *text_of(const json_t *value, bool sentence, char number[32])
{
    int64_t whole;
    if (!sentence && xlm_json_whole(value, &whole))
        g_snprintf(number, 32, "%" G_GINT64_FORMAT, whole);
    else if (!sentence && json_is_boolean(value))
        g_strlcpy(number, json_is_true(value) ? "true" : "false", 32);
    else
        return json_string_value(value);
    return number;
}

/* The first objects had no label, so it was not known which of the names it has. */
static void find_label(reader *r, const json_t *object)
{
    const char **name = r->naming.name;
    for (guint i = 0; i < G_N_ELEMENTS(namings); i++) {
        const char *const *known = namings[i].name;
        const bool same = g_str_has_prefix(name[FIRST], known[FIRST]) && (name[SECOND] == NULL) == (known[SECOND] == NULL) &&
                          (name[SECOND] == NULL || g_str_has_prefix(name[SECOND], known[SECOND]));
        if (same && json_object_get(object, name[LABEL]) == NULL && json_object_get(object, known[LABEL]) != NULL)
            name[LABEL] = known[LABEL];
    }
}

static bool read_members(reader *r, const json_t *object, GError **error)
{
    if (!json_is_object(object))
        return refuse(r, error, "not a JSON object; there must be one a line");
    if (!r->begun) {
        if (!choose_names(r, has_member, object, error))
            return false;
        describe(r, "JSON objects with");
    }
    if (r->options->unlabelled && r->options->columns == NULL)
        find_label(r, object);
    const char *const *needed = r->naming.name;
    const char *const name[VALUES] = {needed[LABEL], needed[FIRST], needed[SECOND], "language", r->id_name};
    const char *value[VALUES] = {NULL};
    char number[VALUES][32];
    for (int v = 0; v < VALUES; v++) {
        const json_t *member = name[v] != NULL ? json_object_get(object, name[v]) : NULL;
        value[v] = text_of(member, v == FIRST || v == SECOND, number[v]);
        const bool needed_here = v < NEEDED && !(v == LABEL && r->options->unlabelled);
        if (name[v] != NULL && value[v] == NULL && (needed_here || (member != NULL && !json_is_null(member))))
            return refuse(r, error, member == NULL ? "the object has no \"%s\"" : "\"%s\" is not text but %s", name[v],
                          xlm_json_kind(member));
    }
    return add_item(r, value, error);
}

static bool read_object(reader *r, const char *line, GError **error)
{
    json_error_t why;
    json_auto_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &why);
    if (object == NULL && json_error_code(&why) == json_error_numeric_overflow) /* a whole number, such as one of a hash */
        object = json_loads(line, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &why);
    if (object == NULL)
        return refuse(r, error, "byte %d: invalid JSON: %s", why.position, why.text);
    return read_members(r, object, error);
}

/* ---- lines ---- */

/* Is a line that has only tabs a row of a table, which is left out like others without text? */
static bool is_empty_row(const reader *r, const char *line)
{
    return r->begun && !r->json && r->options->leave_out_empty && strchr(line, '\t') != NULL;
}

static bool read_line(void *data, const xlm_lines *lines, char *line, GError **error)
{
    reader *r = data;
    r->line = xlm_lines_number(lines);
    if (is_blank(line) && !is_empty_row(r, line)) {
        r->blank = r->blank > 0 ? r->blank : r->line;
        return true;
    }
    if (r->blank > 0 && leaves_out_parts(r)) {
        leave_out_parts(r, r->line - r->blank);
        r->blank = 0;
    } else if (r->blank > 0) {
        r->line = r->blank;
        return refuse(r, error, "a line without text");
    }
    if (!r->begun)
        r->json = line[strspn(line, " \t")] == '{';
    if (r->json ? !read_object(r, line, error) : !read_row(r, line, error))
        return false;
    r->begun = true;
    return true;
}

/* Refuse a file without items. */
static bool refuse_emptiness(const reader *r, GError **error)
{
    if (g_hash_table_size(r->languages) == 0 || r->rows > 0)
        return xlm_error_set(error, EX_DATAERR, "%s: there is no item with a label in it", r->file.path);
    g_auto(GStrv) names = xlm_task_names(r->languages);
    g_autofree char *list = g_strjoinv(", ", names);
    return xlm_error_set(error, EX_DATAERR, "%s: there is no line of language %s in it; it has %s", r->file.path,
                         r->file.language_name, list);
}

bool xlm_labelled_text_read(xlm_labelled_text *text, const char *path, const char *language_name, int language,
                            const xlm_labelled_options *options, GError **error)
{
    const guint columns = options->columns != NULL ? g_strv_length((char **)options->columns) : 2;
    if (columns != 2 && columns != 3)
        return xlm_error_set(error, EX_CONFIG, "columns names the label and one or two sentences, not %u columns", columns);
    reader r = {.text = text, .options = options};
    r.file = (xlm_labelled_file){.language = language, .path = g_string_chunk_insert_const(text->strings, path)};
    if (language_name != NULL)
        r.file.language_name = g_string_chunk_insert_const(text->strings, language_name);
    r.fields = g_ptr_array_new();
    r.languages = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    const bool good = xlm_lines_each(path, read_line, &r, error) && (r.file.items > 0 || refuse_emptiness(&r, error));
    if (good)
        g_array_append_val(text->files, r.file);
    g_hash_table_unref(r.languages);
    g_ptr_array_unref(r.fields);
    return good;
}
