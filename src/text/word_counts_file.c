/* xlm-mpi: vocabulary files. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "text/fields.h"
#include "text/lines.h"
#include "text/word_counts.h"

/* Add a word. [in, out] total: the sum of all counts, which must not exceed INT64_MAX. */
static bool add_line(xlm_word_counts *c, const xlm_fields *fields, const xlm_field *word, int64_t count, int64_t *total,
                     GError **error)
{
    if (count < 0)
        return xlm_error_set(error, EX_DATAERR, "%s:%" G_GINT64_FORMAT ": a count below 0", fields->name, fields->line);
    if (xlm_word_counts_index(c, word->text, word->size) != UINT32_MAX)
        return xlm_error_set(error, EX_DATAERR, "%s:%" G_GINT64_FORMAT ": `%.*s` occurs a second time; remove one of the lines",
                             fields->name, fields->line, (int)word->size, word->text);
    if (count > INT64_MAX - *total)
        return xlm_error_set(error, EX_DATAERR, "%s:%" G_GINT64_FORMAT ": the counts are too large to be added up", fields->name,
                             fields->line);
    *total += count;
    xlm_word_counts_add(c, word->text, word->size, count);
    return true;
}

xlm_word_counts *xlm_word_counts_parse(const char *name, const char *text, size_t size, GError **error)
{
    xlm_word_counts *c = xlm_word_counts_new();
    xlm_fields fields = xlm_fields_begin(name, text, size);
    xlm_field field[2];
    int64_t count, total = 0;
    int state;
    while ((state = xlm_fields_next(&fields, 2, "word count", field, &count, error)) > 0)
        if (!add_line(c, &fields, &field[0], count, &total, error))
            break;
    if (state == 0 && xlm_word_counts_size(c) > 0)
        return c;
    if (state == 0)
        xlm_error_set(error, EX_DATAERR, "%s: no words in it; give a file with lines `word count`", name);
    xlm_word_counts_free(c);
    return NULL;
}

xlm_word_counts *xlm_word_counts_read(const char *path, GError **error)
{
    size_t size;
    g_autofree char *text = xlm_fields_load(path, &size, error);
    if (text == NULL)
        return NULL;
    const size_t mark = xlm_lines_mark(text, size);
    return xlm_word_counts_parse(path, text + mark, size - mark, error);
}

/* A word of a published tokenizer may have a blank or a line end ("\n", "[row 17]"), which no word of such a file has; it gets a
 * name that no other word has. */
static void append_word(const xlm_word_counts *c, const char *word, size_t size, GString *text)
{
    if (memchr(word, ' ', size) == NULL && memchr(word, '\n', size) == NULL) {
        g_string_append_len(text, word, (gssize)size);
        return;
    }
    const gsize begin = text->len;
    xlm_fields_append_word(text, word, size);
    while (xlm_word_counts_index(c, text->str + begin, text->len - begin) != UINT32_MAX)
        g_string_append_c(text, '_');
}

GString *xlm_word_counts_print(const xlm_word_counts *c)
{
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < xlm_word_counts_size(c); i++) {
        size_t size;
        const char *word = xlm_word_counts_word(c, i, &size);
        append_word(c, word, size, text);
        g_string_append_printf(text, " %" G_GINT64_FORMAT "\n", xlm_word_counts_count(c, i));
    }
    return text;
}

bool xlm_word_counts_write(const xlm_word_counts *c, const char *path, GError **error)
{
    return xlm_fields_write(path, xlm_word_counts_print(c), error);
}
