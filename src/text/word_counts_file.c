/* xlm-mpi: vocabulary files in the form of fastBPE. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/fields.h"
#include "text/word_counts.h"

xlm_word_counts *xlm_word_counts_parse(const char *name, const char *text, size_t size, GError **error)
{
    xlm_word_counts *c = xlm_word_counts_new();
    xlm_fields fields = xlm_fields_begin(name, text, size);
    xlm_field field[2];
    int64_t count;
    int state;
    while ((state = xlm_fields_next(&fields, 2, "word count", field, &count, error)) > 0) {
        if (count < 0) {
            xlm_error_set(error, EX_DATAERR, "%s:%" G_GINT64_FORMAT ": a count below 0", name, fields.line);
            break;
        }
        const uint32_t before = xlm_word_counts_size(c);
        xlm_word_counts_add(c, field[0].text, field[0].size, count);
        if (xlm_word_counts_size(c) == before) {
            xlm_error_set(error, EX_DATAERR, "%s:%" G_GINT64_FORMAT ": `%.*s` stands a second time; remove one of the "
                          "lines", name, fields.line, (int)field[0].size, field[0].text);
            break;
        }
    }
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
    char *text = xlm_fields_load(path, &size, error);
    if (text == NULL)
        return NULL;
    xlm_word_counts *c = xlm_word_counts_parse(path, text, size, error);
    g_free(text);
    return c;
}

GString *xlm_word_counts_print(const xlm_word_counts *c)
{
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < xlm_word_counts_size(c); i++) {
        size_t size;
        const char *word = xlm_word_counts_word(c, i, &size);
        g_string_append_len(text, word, (gssize)size);
        g_string_append_printf(text, " %" G_GINT64_FORMAT "\n", xlm_word_counts_count(c, i));
    }
    return text;
}

bool xlm_word_counts_write(const xlm_word_counts *c, const char *path, GError **error)
{
    return xlm_fields_write(path, xlm_word_counts_print(c), error);
}
