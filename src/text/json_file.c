/* xlm-mpi: files of JSON, plain or gzip. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/json_file.h"

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

/* What the parser says, in words for a person who does not know the parser. */
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
