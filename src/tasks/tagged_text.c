/* xlm-mpi: words with tags, from CoNLL-U and from `token<tab>tag` files. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/tagged_text.h"

#include <stdarg.h>
#include <string.h>

#include "corpus/lines.h"
#include "text/normalise.h"

xlm_tagged_text *xlm_tagged_text_new(void)
{
    xlm_tagged_text *t = g_new(xlm_tagged_text, 1);
    t->words = g_array_new(FALSE, FALSE, sizeof(xlm_tagged_word));
    t->ends = g_array_new(FALSE, FALSE, sizeof(guint));
    t->strings = g_string_chunk_new(1 << 16);
    return t;
}

void xlm_tagged_text_free(xlm_tagged_text *text)
{
    if (text == NULL)
        return;
    g_array_unref(text->words);
    g_array_unref(text->ends);
    g_string_chunk_free(text->strings);
    g_free(text);
}

/* A file that is being read. */
typedef struct reader {
    xlm_tagged_text *text;
    xlm_lines *lines;
    const char *path;   /* kept with the text */
    const char *column; /* NULL: not CoNLL-U */
    bool found;         /* a word has the key */
} reader;

static bool refuse(const reader *r, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);
static bool refuse(const reader *r, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    xlm_error_set(error, EX_DATAERR, "%s:%" G_GINT64_FORMAT ": %s", r->path, xlm_lines_number(r->lines), what);
    g_free(what);
    return false;
}

static void add_word(reader *r, const char *word, const char *tag)
{
    const xlm_tagged_word w = {
        .word = g_string_chunk_insert(r->text->strings, word),
        .tag = g_string_chunk_insert_const(r->text->strings, tag),
        .path = r->path,
        .line = xlm_lines_number(r->lines),
    };
    g_array_append_val(r->text->words, w);
}

static void end_sentence(reader *r)
{
    const GArray *ends = r->text->ends;
    const guint begun = ends->len > 0 ? g_array_index(ends, guint, ends->len - 1) : 0;
    if (r->text->words->len > begun)
        g_array_append_val(r->text->ends, r->text->words->len);
}

/* ---- token<tab>tag ---- */

static bool read_pair(reader *r, char *const *fields, guint n, GError **error)
{
    if (n != 2 || *fields[0] == '\0' || *fields[1] == '\0')
        return refuse(r, error, "a line must have the form `token<tab>tag`, or be empty behind a sentence%s",
                      n == 10 ? "; a CoNLL-U file should be named .conllu" : "");
    add_word(r, fields[0], fields[1]);
    return true;
}

/* ---- CoNLL-U ---- */

enum { ID, FORM, UPOS = 3, XPOS, FEATS, MISC = 9, COLUMNS };

/* 1 for a word's number, 0 for those of lines that are passed over (3-4, 5.1), -1 for what is neither. */
static int kind_of(const char *id)
{
    const size_t digits = strspn(id, "0123456789");
    if (digits == 0)
        return -1;
    if (id[digits] == '\0')
        return 1;
    const char *second = id + digits + 1;
    const bool two = (id[digits] == '-' || id[digits] == '.') && *second != '\0' && second[strspn(second, "0123456789")] == '\0';
    return two ? 0 : -1;
}

/* The value of a key in "Key=Value|Key=Value"; g_free, or NULL. */
static char *value_of(const char *pairs, const char *key)
{
    const size_t size = strlen(key);
    for (const char *at = pairs; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, key, size) == 0 && at[size] == '=')
            return g_strndup(at + size + 1, strcspn(at + size + 1, "|"));
    }
    return NULL;
}

static bool read_key(reader *r, char *const *fields, GError **error)
{
    char *value = value_of(fields[FEATS], r->column);
    if (value == NULL)
        value = value_of(fields[MISC], r->column);
    const bool good = value == NULL || *value != '\0' || refuse(r, error, "%s has no value", r->column);
    r->found |= value != NULL;
    if (good)
        add_word(r, fields[FORM], value != NULL ? value : "O");
    g_free(value);
    return good;
}

static bool read_conllu(reader *r, char *const *fields, guint n, GError **error)
{
    if (n != COLUMNS)
        return refuse(r, error, "a line of CoNLL-U has %d columns between tabs, this one has %u", COLUMNS, n);
    const int kind = kind_of(fields[ID]);
    if (kind < 0)
        return refuse(r, error, "\"%s\" is no number of a word (3), a multiword token (3-4) or an empty node (3.1)", fields[ID]);
    if (kind == 0)
        return true;
    if (*fields[FORM] == '\0')
        return refuse(r, error, "the word is empty");
    const bool upos = strcmp(r->column, "upos") == 0;
    if (!upos && strcmp(r->column, "xpos") != 0)
        return read_key(r, fields, error);
    const char *tag = fields[upos ? UPOS : XPOS];
    if (*tag == '\0' || strcmp(tag, "_") == 0)
        return refuse(r, error, "\"%s\" has no %s; another column can be told with column = NAME", fields[FORM], r->column);
    add_word(r, fields[FORM], tag);
    return true;
}

/* ---- both ---- */

static bool read_line(reader *r, const char *text, size_t size, GError **error)
{
    if (memchr(text, '\0', size) != NULL)
        return refuse(r, error, "a byte of zero; this is not text");
    const size_t valid = xlm_utf8_check(text, size);
    if (valid < size)
        return refuse(r, error, "byte %zu: not UTF-8 (0x%02x); convert the file, for example with iconv", valid + 1,
                      (unsigned char)text[valid]);
    char *line = g_strchomp(g_strndup(text, size)), **fields;
    bool good = true;
    if (*line == '\0') {
        end_sentence(r);
    } else if (r->column == NULL || *line != '#') {
        g_free(line);
        line = g_strndup(text, size > 0 && text[size - 1] == '\r' ? size - 1 : size);
        fields = g_strsplit(line, "\t", -1);
        const guint n = g_strv_length(fields);
        good = r->column != NULL ? read_conllu(r, fields, n, error) : read_pair(r, fields, n, error);
        g_strfreev(fields);
    }
    g_free(line);
    return good;
}

static bool read_lines(reader *r, GError **error)
{
    const guint before = r->text->words->len;
    const char *text;
    size_t size;
    int got;
    while ((got = xlm_lines_next(r->lines, &text, &size, error)) == 1)
        if (!read_line(r, text, size, error))
            return false;
    end_sentence(r);
    if (got == 0 && r->text->words->len == before)
        return xlm_error_set(error, EX_DATAERR, "%s: there is no word in it", r->path);
    const bool key = r->column != NULL && strcmp(r->column, "upos") != 0 && strcmp(r->column, "xpos") != 0;
    if (got == 0 && key && !r->found)
        return xlm_error_set(error, EX_DATAERR, "%s: no word has %s=... in FEATS or MISC; column is upos, xpos or such a key",
                             r->path, r->column);
    return got == 0;
}

bool xlm_tagged_text_read(xlm_tagged_text *text, const char *path, const char *column, GError **error)
{
    const bool conllu = g_str_has_suffix(path, ".conllu") || g_str_has_suffix(path, ".conllu.gz");
    reader r = {.text = text, .lines = xlm_lines_open(path, error), .column = conllu ? column : NULL};
    if (r.lines == NULL)
        return false;
    r.path = g_string_chunk_insert_const(text->strings, path);
    const bool good = read_lines(&r, error);
    xlm_lines_close(r.lines);
    return good;
}
