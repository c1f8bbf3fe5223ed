/* xlm-mpi: files whose lines are fields between spaces. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>
#include <unicode/uchar.h>

#include "files/files.h"
#include "files/new_file.h"
#include "text/fields.h"
#include "text/lines.h"
#include "text/words.h"

xlm_fields xlm_fields_begin(const char *name, const char *text, size_t size)
{
    return (xlm_fields){name, text, size, 0};
}

/* Returns the number of fields of a line. [out] field: [n] the first n of them. */
static int split_line(const char *line, size_t size, int n, xlm_field *field)
{
    int found = 0;
    size_t start = 0;
    for (size_t i = 0; i <= size; i++) {
        if (i < size && line[i] != ' ')
            continue;
        if (i > start && found++ < n)
            field[found - 1] = (xlm_field){line + start, i - start};
        start = i + 1;
    }
    return found;
}

static bool read_count(const xlm_field *field, int64_t *count)
{
    char digits[24];
    if (field->size >= sizeof digits)
        return false;
    memcpy(digits, field->text, field->size);
    digits[field->size] = '\0';
    return g_ascii_string_to_signed(digits, 10, INT64_MIN, INT64_MAX, count, NULL);
}

int xlm_fields_next(xlm_fields *f, int n, const char *form, xlm_field *field, int64_t *count, GError **error)
{
    if (f->left == 0)
        return 0;
    const char *line = f->at, *stop = memchr(line, '\n', f->left);
    size_t size = stop != NULL ? (size_t)(stop - line) : f->left;
    f->at += size + (stop != NULL);
    f->left -= size + (stop != NULL);
    f->line++;
    size = xlm_lines_end(line, size);
    if (size > XLM_FIELDS_LONGEST)
        xlm_error_set(error, EX_DATAERR, "%s:%" G_GINT64_FORMAT ": a line of %zu bytes; is this a text file?", f->name, f->line,
                      size);
    else if (memchr(line, '\0', size) != NULL)
        xlm_error_set(error, EX_DATAERR, "%s:%" G_GINT64_FORMAT ": a byte 0; is this a text file?", f->name, f->line);
    else if (split_line(line, size, n, field) != n || !read_count(&field[n - 1], count))
        xlm_error_set(error, EX_DATAERR, "%s:%" G_GINT64_FORMAT ": a line must have the form `%s`, with count a whole "
                      "number", f->name, f->line, form);
    else
        return 1;
    return -1;
}

char *xlm_fields_load(const char *path, size_t *size, GError **error)
{
    g_autoptr(GError) cause = NULL;
    char *text = NULL;
    if (!xlm_files_load(path, &text, size, &cause))
        xlm_error_set(error, EX_NOINPUT, "%s: cannot be read: %s", path, cause->message);
    else if (xlm_files_is_hdf5(path)) {
        xlm_error_set(error, EX_DATAERR, "%s: is an HDF5 file, where text is read; give a file of text", path);
        g_clear_pointer(&text, g_free);
    }
    return text;
}

bool xlm_fields_write(const char *path, GString *text, GError **error)
{
    xlm_new_file file;
    bool good = xlm_new_file_create(&file, path, error);
    if (good) {
        fwrite(text->str, 1, text->len, file.stream);
        good = xlm_new_file_commit(&file, error);
    }
    g_string_free(text, TRUE);
    return good;
}

char **xlm_fields_split(const char *line, bool keep_empty)
{
    const bool tabs = strchr(line, '\t') != NULL;
    char **all = g_strsplit(line, tabs ? "\t" : " ", -1);
    guint n = 0;
    for (guint i = 0; all[i] != NULL; i++)
        if (*g_strstrip(all[i]) != '\0' || (tabs && keep_empty))
            all[n++] = all[i];
        else
            g_free(all[i]);
    all[n] = NULL;
    return all;
}

void xlm_fields_append_csv(GString *csv, const char *field)
{
    if (strpbrk(field, ",\"\r\n") == NULL) {
        g_string_append(csv, field);
        return;
    }
    g_string_append_c(csv, '"');
    for (; *field != '\0'; field++) {
        if (*field == '"')
            g_string_append_c(csv, '"');
        g_string_append_c(csv, *field);
    }
    g_string_append_c(csv, '"');
}

static bool is_separator(gunichar c) { return xlm_is_white_space(c) || u_charType((UChar32)c) == U_CONTROL_CHAR; }

bool xlm_fields_is_word(const char *word)
{
    while (*word != '\0' && !is_separator(g_utf8_get_char(word)))
        word = g_utf8_next_char(word);
    return *word == '\0';
}

void xlm_fields_append_word(GString *text, const char *word, size_t size)
{
    for (size_t at = 0, bytes; at < size; at += bytes) {
        const gunichar c = g_utf8_get_char_validated(word + at, (gssize)(size - at));
        const bool character = c < 0x110000; /* not -1 or -2, for bytes that are none */
        bytes = character ? (size_t)g_unichar_to_utf8(c, NULL) : 1;
        for (size_t i = at; character && is_separator(c) && i < at + bytes; i++)
            g_string_append_printf(text, "<0x%02X>", (unsigned char)word[i]);
        if (!character || !is_separator(c))
            g_string_append_len(text, word + at, (gssize)bytes);
    }
}
