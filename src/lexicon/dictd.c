/* xlm-mpi: dictionaries of dictd, as FreeDict's packages have them. SPDX-License-Identifier: GPL-3.0-or-later */
#include "lexicon/dictd.h"

#include <string.h>

#include "text/lines.h"
#include "text/normalise.h"

/* ---- files ---- */

static bool must_exist(const char *path, GError **error)
{
    return g_file_test(path, G_FILE_TEST_IS_REGULAR) ||
           xlm_error_set(error, EX_NOINPUT, "%s: no such file; a dictd dictionary is NAME.index and NAME.dict.dz or NAME.dict",
                         path);
}

bool xlm_dictd_find(const char *path, char **index, char **text, GError **error)
{
    static const char *const endings[] = {".index", ".dict.dz", ".dict"};
    size_t stem = strlen(path);
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++)
        if (g_str_has_suffix(path, endings[i])) {
            stem -= strlen(endings[i]);
            break;
        }
    *index = g_strdup_printf("%.*s.index", (int)stem, path);
    *text = g_strdup_printf("%.*s.dict", (int)stem, path);
    if (!g_file_test(*text, G_FILE_TEST_EXISTS)) {
        g_free(*text);
        *text = g_strdup_printf("%.*s.dict.dz", (int)stem, path);
    }
    if (must_exist(*index, error) && must_exist(*text, error))
        return true;
    g_clear_pointer(index, g_free);
    g_clear_pointer(text, g_free);
    return false;
}

/* A whole file, plain or compressed. g_byte_array_unref. */
static GByteArray *load(const char *path, GError **error)
{
    enum { BLOCK = 1 << 20 };
    g_autoptr(xlm_lines) lines = xlm_lines_open(path, error);
    if (lines == NULL)
        return NULL;
    xlm_lines_keep_bytes(lines);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    int64_t got;
    do {
        const guint before = bytes->len;
        g_byte_array_set_size(bytes, before + BLOCK);
        got = xlm_lines_bytes(lines, (char *)bytes->data + before, BLOCK, error);
        g_byte_array_set_size(bytes, before + (guint)MAX(got, 0));
    } while (got > 0 && bytes->len < G_MAXINT32);
    if (got > 0)
        xlm_error_set(error, EX_DATAERR, "%s: more than 2 GiB of text", path);
    return got == 0 ? g_steal_pointer(&bytes) : NULL;
}

/* ---- index ---- */

/* A number in base 64, most significant digit first; -1 if it is not one. */
static int64_t read_number(const char *digits, size_t n)
{
    static const char base[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    int64_t number = n > 0 && n <= 10 ? 0 : -1;
    for (size_t i = 0; i < n && number >= 0; i++) {
        const char *digit = memchr(base, digits[i], sizeof base - 1);
        number = digit == NULL ? -1 : number << 6 | (digit - base);
    }
    return number;
}

/* Offset and length of a line `headword<tab>offset<tab>length[<tab>...]`. */
static bool split_index(const char *line, size_t size, int64_t *offset, int64_t *length)
{
    g_autofree char *copy = g_strndup(line, size);
    g_auto(GStrv) fields = g_strsplit(copy, "\t", 4);
    const bool whole = g_strv_length(fields) >= 3;
    *offset = whole ? read_number(fields[1], strlen(fields[1])) : -1;
    *length = whole ? read_number(fields[2], strlen(fields[2])) : -1;
    return *offset >= 0 && *length >= 0;
}

/* Headwords of the database's description of itself. */
static bool is_about_database(const char *line, size_t size)
{
    static const char *const names[] = {"00database", "00-database"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (size >= strlen(names[i]) && memcmp(line, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* ---- the text of an entry ---- */

/* The character that closes what `c`, after `before`, opens; 0 when it opens nothing. */
static char closes(char c, char before)
{
    switch (c) {
    case '(': return ')';
    case '[': return ']';
    case '<': return '>';
    case '{': return '}';
    case '/': return before == ' ' ? '/' : 0;
    default: return 0;
    }
}

/* A line without what is in brackets and between slashes. */
static void strip(const char *line, size_t size, GString *out)
{
    g_string_truncate(out, 0);
    for (size_t i = 0; i < size; i++) {
        const char close = closes(line[i], i > 0 ? line[i - 1] : ' ');
        const char *end = close != 0 ? memchr(line + i + 1, close, size - i - 1) : NULL;
        if (end != NULL)
            i = (size_t)(end - line);
        else
            g_string_append_c(out, line[i]);
    }
    g_strstrip(out->str);
    out->len = strlen(out->str);
}

/* Is it a line without translations: an example, "Note: ...", " see: ..."? */
static bool is_remark(const char *line, size_t size)
{
    size_t i = 0;
    while (i < size && line[i] == ' ')
        i++;
    if (i == size || line[i] == '"')
        return true;
    if (i == 0)
        return false;
    while (i < size && g_ascii_isalpha(line[i]))
        i++;
    return i < size && line[i] == ':';
}

/* After the number of a sense, "1. ". */
static char *after_number(char *text)
{
    char *at = text;
    while (g_ascii_isdigit(*at))
        at++;
    return at > text && at[0] == '.' && at[1] == ' ' ? at + 2 : text;
}

/* Pass on the translations of a line. Returns their number, -1 on error. */
static int read_translations(xlm_entries *entries, xlm_entry *entry, char *line, GError **error)
{
    int n = 0;
    for (char *rest = after_number(line); rest != NULL;) {
        char *stop = strpbrk(rest, ",;");
        if (stop != NULL)
            *stop++ = '\0';
        const char *word = g_strstrip(rest);
        entry->word[1] = word;
        entry->size[1] = strlen(word);
        rest = stop;
        if (*word == '\0')
            continue;
        if (!xlm_entries_give(entries, entry, error))
            return -1;
        n++;
        if (entries->first)
            break;
    }
    return n;
}

/* Pass on the entry at text[size]. Returns its number of translations, -1 on error. */
static int read_entry(xlm_entries *entries, xlm_entry *entry, const char *text, size_t size, GError **error)
{
    g_autoptr(GString) head = g_string_new(NULL), line = g_string_new(NULL);
    int n = 0;
    for (size_t start = 0; start < size && n >= 0 && !(entries->first && n > 0);) {
        const char *stop = memchr(text + start, '\n', size - start);
        const size_t length = stop != NULL ? (size_t)(stop - text) - start : size - start;
        if (start == 0) {
            strip(text + start, length, head);
            entry->word[0] = head->str;
            entry->size[0] = head->len;
        } else if (!is_remark(text + start, length)) {
            strip(text + start, length, line);
            const int more = read_translations(entries, entry, line->str, error);
            n = more < 0 ? -1 : n + more;
        }
        start += length + 1;
    }
    return n;
}

static bool read_line(xlm_entries *entries, const xlm_lines *index, const char *line, size_t size, const GByteArray *text,
                      GError **error)
{
    xlm_entry entry = {.path = xlm_lines_path(index), .line = xlm_lines_number(index)};
    int64_t offset, length;
    const char *wrong = NULL;
    if (size == 0 || is_about_database(line, size))
        return true;
    if (!split_index(line, size, &offset, &length))
        wrong = "not `headword<tab>offset<tab>length`";
    else if (offset + length > text->len)
        wrong = "leads beyond the end of the dictionary's text";
    else if (xlm_utf8_check((const char *)text->data + offset, (size_t)length) < (size_t)length ||
             memchr(text->data + offset, '\0', (size_t)length) != NULL)
        wrong = "leads to what is not UTF-8 text";
    else {
        const int n = read_entry(entries, &entry, (const char *)text->data + offset, (size_t)length, error);
        if (n != 0)
            return n > 0;
        wrong = "leads to an entry without a translation";
    }
    xlm_entries_pass_over(entries, entry.path, entry.line, wrong);
    return true;
}

bool xlm_dictd_read(xlm_entries *entries, const char *path, GError **error)
{
    g_autofree char *index_path = NULL, *text_path = NULL;
    if (!xlm_dictd_find(path, &index_path, &text_path, error))
        return false;
    g_autoptr(GByteArray) text = load(text_path, error);
    g_autoptr(xlm_lines) index = text != NULL ? xlm_lines_open(index_path, error) : NULL;
    const char *line;
    size_t size;
    int more = index != NULL ? 1 : -1;
    while (more == 1 && (more = xlm_lines_next(index, &line, &size, error)) == 1)
        if (!read_line(entries, index, line, size, text, error))
            more = -1;
    return more == 0;
}
