/* xlm-mpi: files of JSON, plain or gzip. SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/json_file.h"

#include <math.h>
#include <string.h>

#include "text/lines.h"

typedef struct reader {
    xlm_lines *lines;
    GError *error; /* of the file; the parser would only say that it ended */
} reader;

static size_t read_some(void *bytes, size_t n, void *data)
{
    reader *r = data;
    const int64_t got = r->error == NULL ? xlm_lines_bytes(r->lines, bytes, n, &r->error) : -1;
    return got >= 0 ? (size_t)got : (size_t)-1;
}

/* The parser's message, in words for users who do not know the parser. */
static const char *explain(const json_error_t *at)
{
    switch (json_error_code(at)) {
    case json_error_null_character: return "a string with the character 0 (\\u0000); this is not text";
    case json_error_stack_overflow: return "values are nested too deeply";
    case json_error_invalid_utf8: return "not UTF-8; convert the file, for example with iconv";
    case json_error_premature_end_of_input: return "the file ends within a value; is it complete?";
    default: return at->text;
    }
}

json_t *xlm_json_read(const char *path, GError **error)
{
    reader r = {.lines = xlm_lines_open(path, error)};
    if (r.lines == NULL)
        return NULL;
    json_error_t at;
    json_t *root = json_load_callback(read_some, &r, JSON_REJECT_DUPLICATES, &at);
    xlm_lines_close(r.lines);
    if (r.error != NULL) {
        json_decref(root);
        g_propagate_error(error, r.error);
        return NULL;
    }
    if (root == NULL)
        xlm_error_set(error, EX_DATAERR, "%s:%d: column %d: not JSON: %s", path, at.line, MAX(at.column, 0), explain(&at));
    return root;
}

/* ---- lines of values: the text has been parsed by xlm_json_read, but its end is respected in any case ---- */

static const char *skip_space(const char *p) { return p + strspn(p, " \t\r\n"); }

/* After the string that begins at p. */
static const char *skip_string(const char *p)
{
    for (p++; *p != '\0' && *p != '"'; p++)
        p += *p == '\\' && p[1] != '\0';
    return *p != '\0' ? p + 1 : p;
}

/* After the value that begins at p. */
static const char *skip_value(const char *p)
{
    int64_t depth = 0;
    do {
        if (*p == '"') {
            p = skip_string(p);
        } else if (strchr("{}[],:", *p) == NULL) {
            p += strcspn(p, "{}[],: \t\r\n\"");
        } else if (*p != '\0') {
            depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
            p++;
        }
        p = depth > 0 ? skip_space(p) : p;
    } while (depth > 0 && *p != '\0');
    return p;
}

/* The value of a key of the object, or element of the array (key NULL), that begins at p; NULL. */
static const char *enter(const char *p, const char *key, size_t length, int64_t element)
{
    if (*p != (key != NULL ? '{' : '['))
        return NULL;
    p = skip_space(p + 1);
    for (int64_t i = 0; *p != '\0' && *p != '}' && *p != ']'; i++) {
        bool here = i == element;
        if (key != NULL) {
            const char *name = p + 1;
            p = skip_string(p);
            here = p == name + length + 1 && strncmp(name, key, length) == 0;
            p = skip_space(p);
            p = skip_space(*p == ':' ? p + 1 : p);
        }
        if (here)
            return p;
        p = skip_space(skip_value(p));
        p = skip_space(*p == ',' ? p + 1 : p);
    }
    return NULL;
}

static int64_t line_of(const char *text, const char *place)
{
    const char *p = skip_space(text);
    while (p != NULL && *place != '\0') {
        place += *place == '.';
        if (*place == '[') {
            char *end;
            p = enter(p, NULL, 0, g_ascii_strtoll(place + 1, &end, 10));
            place = end + (*end == ']');
        } else {
            const size_t length = strcspn(place, ".[");
            p = enter(p, place, length, -1);
            place += length;
        }
    }
    int64_t line = 1;
    for (const char *at = text; p != NULL && at < p; at++)
        line += *at == '\n';
    return p != NULL ? line : 0;
}

int64_t xlm_json_line(const char *path, const char *place)
{
    g_autoptr(xlm_lines) lines = xlm_lines_open(path, NULL);
    if (lines == NULL)
        return 0;
    g_autoptr(GString) text = g_string_new(NULL);
    char bytes[1 << 14];
    int64_t got;
    while ((got = xlm_lines_bytes(lines, bytes, sizeof bytes, NULL)) > 0)
        g_string_append_len(text, bytes, got);
    return got == 0 ? line_of(text->str, place) : 0;
}

bool xlm_json_whole(const json_t *value, int64_t *number)
{
    const double real = json_real_value(value);
    if (json_is_integer(value))
        *number = json_integer_value(value);
    else if (json_is_real(value) && fabs(real) <= 0x1p53 && real == trunc(real))
        *number = (int64_t)real;
    else
        return false;
    return true;
}

const char *xlm_json_kind(const json_t *value)
{
    if (value == NULL)
        return "missing";
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_INTEGER:
    case JSON_REAL: return "a number";
    case JSON_TRUE:
    case JSON_FALSE: return "true or false";
    default: return "null";
    }
}
