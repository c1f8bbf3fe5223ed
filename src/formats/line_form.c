/* xlm-mpi: where the text is in the lines of a file. SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/line_form.h"

#include <jansson.h>
#include <string.h>

#include "formats/json_file.h"
#include "text/archive.h"

/* ---- what is given ---- */

/* The text before the next colon, for g_free; *given moves after it. NULL: there is none, or nothing after it. */
static char *part(const char **given)
{
    const char *begin = *given, *colon = strchr(begin, ':');
    if (colon == NULL || colon == begin || colon[1] == '\0')
        return NULL;
    *given = colon + 1;
    return g_strndup(begin, (gsize)(colon - begin));
}

/* The forms by their numbers; those with a part have it before the file. */
static const struct {
    const char *prefix, *shape;
    bool has_part;
} forms[] = {
    [XLM_FORM_TEXT] = {"", "FILE", false},
    [XLM_FORM_LINES] = {"lines:", "lines:FILE", false},
    [XLM_FORM_JSON] = {"jsonl:", "jsonl:FIELD:FILE", true},
    [XLM_FORM_FIELDS] = {"tsv:", "tsv:COLUMN:FILE, with columns counted from 1", true},
    [XLM_FORM_TMX] = {"tmx:", "tmx:LANG:FILE, with LANG as in the file's xml:lang", true},
    [XLM_FORM_WET] = {"wet:", "wet:FILE", false},
};

bool xlm_line_form_parse(const char *given, xlm_line_form *form, const char **path, GError **error)
{
    *form = (xlm_line_form){.kind = XLM_FORM_TEXT};
    *path = given;
    for (size_t kind = XLM_FORM_LINES; kind < G_N_ELEMENTS(forms); kind++)
        if (g_str_has_prefix(given, forms[kind].prefix)) {
            form->kind = (xlm_line_form_kind)kind;
            *path += strlen(forms[kind].prefix);
        }
    form->field = forms[form->kind].has_part ? part(path) : NULL;
    const bool whole = **path != '\0' && (!forms[form->kind].has_part || form->field != NULL);
    const bool number = form->kind != XLM_FORM_FIELDS ||
                        (whole && g_ascii_string_to_signed(form->field, 10, 1, G_MAXINT32, &form->column, NULL));
    if (whole && number)
        return true;
    xlm_line_form_clear(form);
    return xlm_error_set(error, EX_USAGE, "%s: the form is %s", given, forms[form->kind].shape);
}

void xlm_line_form_clear(xlm_line_form *form) { g_clear_pointer(&form->field, g_free); }

/* ---- formats that are not text alone ---- */

static const char *skip_space(const char *text)
{
    while (g_ascii_isspace(*text))
        text++;
    return text;
}

/* Numbers are of no interest, and whole ones may be larger than the integers of the library. */
static const size_t any_numbers = JSON_DECODE_INT_AS_REAL;

static bool is_json_object(const char *line, size_t length)
{
    size_t at = 0;
    while (at < length && g_ascii_isspace(line[at]))
        at++;
    json_t *value = at < length && line[at] == '{' ? json_loadb(line, length, any_numbers, NULL) : NULL;
    json_decref(value);
    return value != NULL;
}

/* Is it an object with a first member, `{"name": value`, which may be without its end or wrong? */
static bool has_json_member(const char *text)
{
    const char *name = *text == '{' ? skip_space(text + 1) : "";
    if (*name != '"')
        return false;
    const char *end = name + 1;
    while (*end != '"' && *end != '\0')
        end += *end == '\\' && end[1] != '\0' ? 2 : 1;
    const char *colon = *end == '"' ? skip_space(end + 1) : "";
    return *colon == ':' && *skip_space(colon + 1) != '\0';
}

static bool begins_with(const char *line, size_t length, const char *prefix)
{
    return length >= strlen(prefix) && memcmp(line, prefix, strlen(prefix)) == 0;
}

/* Is it the beginning of JSON that is not an object in each line? A bracket alone, as where each member has a line of its own, an
 * object that does not end in its line or is wrong, or an array in one line, or of objects. Text may begin with "[Music]" or
 * "[1]". */
static bool is_json_beginning(const char *line, size_t length)
{
    g_autofree char *text = g_strstrip(g_strndup(line, length));
    if (*text != '[')
        return strcmp(text, "{") == 0 || has_json_member(text);
    const size_t size = strlen(text);
    const char *first = skip_space(text + 1);
    if (*first == '\0' || strcmp(first, "{") == 0 || has_json_member(first))
        return true;
    const char *end = g_str_has_suffix(first, ",") ? text + size - 1 : text + size;
    if (is_json_object(first, (size_t)(end - first)))
        return true;
    json_t *value = *first == '{' || *first == '"' ? json_loadb(text, size, any_numbers, NULL) : NULL;
    json_decref(value);
    return value != NULL;
}

/* Latin letters of UTF-16 and UTF-32 without a byte order mark are valid UTF-8 with a byte 0 beside each. */
static bool is_wide(const char *line, size_t length)
{
    size_t zeros = 0;
    for (size_t i = 0; i < length; i++)
        zeros += line[i] == '\0';
    return zeros > 0 && zeros >= length / 3;
}

/* A comment of Universal Dependencies: "# text = …", "# newdoc", "# newdoc id = …". */
static bool is_comment(const char *line, size_t length)
{
    if (!begins_with(line, length, "# "))
        return false;
    g_autofree char *text = g_strndup(line + strlen("# "), length - strlen("# "));
    const size_t name = strspn(text, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.:-");
    return (name > 0 && g_str_has_prefix(text + name, " = ")) || strcmp(text, "newdoc") == 0 || strcmp(text, "newpar") == 0 ||
           g_str_has_prefix(text, "newdoc id = ") || g_str_has_prefix(text, "newpar id = ");
}

/* The ten columns of a first word, of words that are written as one (1-2), or of a word that is left out in writing (0.1). */
static bool is_first_word(const char *line, size_t length)
{
    int tabs = 0;
    for (size_t i = 0; i < length; i++)
        tabs += line[i] == '\t';
    return tabs == 9 && (begins_with(line, length, "1\t") || begins_with(line, length, "1-") || begins_with(line, length, "0."));
}

bool xlm_line_form_check(const xlm_line_form *form, const xlm_lines *lines, const char *line, size_t length, GError **error)
{
    if (form->kind != XLM_FORM_TEXT)
        return true;
    const char *path = xlm_lines_path(lines);
    /* As it is given on the command line. */
    const char *as = strcmp(path, XLM_LINES_INPUT) == 0 ? "-" : path;
    g_autofree char *plain = xlm_archive_plain_name(path);
    if (is_json_object(line, length))
        return xlm_error_set(error, EX_DATAERR, "%s: its lines are JSON; give it as jsonl:FIELD:%s, or as lines:%s if all of it "
                             "is text", path, as, as);
    if (begins_with(line, length, "<?xml") || begins_with(line, length, "<tmx"))
        return xlm_error_set(error, EX_DATAERR, "%s: is XML; give it as tmx:LANG:%s if it is TMX, or as lines:%s if all of it is "
                             "text; of other XML, write the sentences into files of lines first", path, as, as);
    if (begins_with(line, length, "WARC/"))
        return xlm_error_set(error, EX_DATAERR, "%s: is WARC, whose records have headers; give it as wet:%s if it is WET, or as "
                             "lines:%s if all of it is text", path, as, as);
    if (is_wide(line, length))
        return xlm_error_set(error, EX_DATAERR, "%s: is UTF-16 or UTF-32; convert the file, for example with iconv -f utf-16le "
                             "-t utf-8; give it as lines:%s if it is UTF-8 with many bytes 0", path, as);
    if (is_json_beginning(line, length))
        return xlm_error_set(error, EX_DATAERR, "%s: is JSON, but not an object in each line; write its text into a file of lines "
                             "first, or give it as lines:%s if all of it is text", path, as);
    if (is_comment(line, length) || is_first_word(line, length))
        return xlm_error_set(error, EX_DATAERR, "%s: is CoNLL-U, whose files are named *.conllu; rename it, or give it as lines:%s "
                             "if all of it is text", path, as);
    return !g_str_has_suffix(plain, ".tsv") || memchr(line, '\t', length) == NULL ||
           xlm_error_set(error, EX_DATAERR, "%s: its lines have fields between tabs; give it as tsv:COLUMN:%s, or as lines:%s "
                         "if all of it is text", path, as, as);
}

/* ---- the text of a line ---- */

static bool take_member(const char *field, const xlm_lines *lines, const char *line, size_t length, GString *storage,
                        GError **error)
{
    json_error_t why;
    json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES | any_numbers, &why);
    const json_t *value = json_object_get(object, field);
    bool good = false;
    if (object == NULL)
        XLM_LINES_REFUSE(lines, error, "column %d: not JSON: %s", why.column, why.text);
    else if (!json_is_object(object))
        XLM_LINES_REFUSE(lines, error, "is %s, not an object", xlm_json_kind(object));
    else if (value != NULL && !json_is_string(value) && !json_is_null(value))
        XLM_LINES_REFUSE(lines, error, "\"%s\" is %s, not a string", field, xlm_json_kind(value));
    else
        good = true;
    if (good && json_is_string(value))
        g_string_append_len(storage, json_string_value(value), (gssize)json_string_length(value));
    json_decref(object);
    return good;
}

static bool take_field(int64_t column, const xlm_lines *lines, const char *line, size_t length, const char **text, size_t *size,
                       GError **error)
{
    const char *end = line + length, *field = line, *tab = NULL;
    int64_t fields = 1;
    for (; fields < column && (tab = memchr(field, '\t', (size_t)(end - field))) != NULL; fields++)
        field = tab + 1;
    if (fields < column)
        return XLM_LINES_REFUSE(lines, error, "it has %" G_GINT64_FORMAT " field%s between tabs, and field %" G_GINT64_FORMAT
                                " is wanted", fields, fields == 1 ? "" : "s", column);
    tab = memchr(field, '\t', (size_t)(end - field));
    *text = field;
    *size = (size_t)((tab != NULL ? tab : end) - field);
    return true;
}

bool xlm_line_form_text(const xlm_line_form *form, const xlm_lines *lines, const char *line, size_t length, GString *storage,
                        const char **text, size_t *size, GError **error)
{
    *text = line;
    *size = length;
    if ((form->kind != XLM_FORM_JSON && form->kind != XLM_FORM_FIELDS) || length == 0)
        return true;
    if (form->kind == XLM_FORM_FIELDS)
        return take_field(form->column, lines, line, length, text, size, error);
    g_string_truncate(storage, 0);
    if (!take_member(form->field, lines, line, length, storage, error))
        return false;
    *text = storage->str;
    *size = storage->len;
    return true;
}
