/* xlm-mpi: sentences of CoNLL-U files. SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/conllu.h"

#include <string.h>

#include "text/archive.h"

struct row {
    size_t start;
    int64_t line;
};

xlm_conllu *xlm_conllu_new(void)
{
    xlm_conllu *s = g_new0(xlm_conllu, 1);
    s->words = g_array_new(FALSE, FALSE, sizeof(xlm_conllu_word));
    s->comments = g_ptr_array_new();
    s->text = g_string_new(NULL);
    s->rows = g_array_new(FALSE, FALSE, sizeof(struct row));
    return s;
}

void xlm_conllu_free(xlm_conllu *s)
{
    if (s == NULL)
        return;
    g_array_free(s->words, TRUE);
    g_ptr_array_free(s->comments, TRUE);
    g_string_free(s->text, TRUE);
    g_array_free(s->rows, TRUE);
    g_free(s);
}

bool xlm_conllu_is_named(const char *path)
{
    g_autofree char *plain = xlm_archive_plain_name(path);
    return g_str_has_suffix(plain, ".conllu");
}

/* ---- lines ---- */

/* Is the line between sentences: does it have only white space? */
static bool is_blank(const char *text, size_t size)
{
    while (size > 0 && g_ascii_isspace(text[size - 1]))
        size--;
    return size == 0;
}

int64_t xlm_conllu_skip(xlm_lines *lines, int64_t n, GError **error)
{
    const char *text;
    size_t size;
    bool inside = false;
    int64_t passed = 0;
    while (passed < n) {
        const int got = xlm_lines_next(lines, &text, &size, error);
        if (got < 0)
            return -1;
        const bool blank = got == 0 || is_blank(text, size);
        if (inside && blank) {
            inside = false;
            passed++;
        }
        if (got == 0)
            break;
        inside = inside || (!blank && *text != '#');
    }
    return passed;
}

/* Gather the lines of the next sentence. Comments without words before a blank line belong to the sentence after it. */
static int gather_lines(xlm_lines *lines, xlm_conllu *s, GError **error)
{
    const char *text;
    size_t size;
    int got;
    bool inside = false;
    g_string_truncate(s->text, 0);
    g_array_set_size(s->rows, 0);
    while ((got = xlm_lines_next(lines, &text, &size, error)) == 1) {
        const bool blank = is_blank(text, size);
        if (blank && inside)
            return 1;
        if (blank)
            continue;
        if (!xlm_lines_check_text(lines, text, size, error))
            return -1;
        if (s->text->len + size > XLM_LINES_LONGEST) {
            xlm_error_at(error, xlm_lines_path(lines), xlm_lines_number(lines), "sentence of more than %d MiB; a blank line "
                         "belongs after each sentence", XLM_LINES_LONGEST >> 20);
            return -1;
        }
        const struct row row = {s->text->len, xlm_lines_number(lines)};
        g_array_append_val(s->rows, row);
        g_string_append_len(s->text, text, (gssize)size);
        g_string_append_c(s->text, '\0');
        inside = inside || *text != '#';
    }
    return got < 0 ? -1 : inside;
}

/* ---- words ---- */

static bool split_columns(const xlm_lines *lines, char *line, xlm_conllu_word *word, GError **error)
{
    int n = 0;
    for (char *at = line; at != NULL; n++) {
        char *tab = strchr(at, '\t');
        if (tab != NULL)
            *tab = '\0';
        if (n < XLM_CONLLU_COLUMNS)
            word->column[n] = at;
        if (*at == '\0' && n < XLM_CONLLU_COLUMNS)
            return xlm_error_at(error, xlm_lines_path(lines), word->line, "an empty column; CoNLL-U writes `_` for nothing");
        at = tab == NULL ? NULL : tab + 1;
    }
    return n == XLM_CONLLU_COLUMNS ||
           xlm_error_at(error, xlm_lines_path(lines), word->line, "%d columns between tabs; a line of CoNLL-U has %d", n,
                        XLM_CONLLU_COLUMNS);
}

/* 1: a word, 0: skipped, -1: *error. */
static int check_id(const xlm_lines *lines, xlm_conllu *s, const xlm_conllu_word *word, GError **error)
{
    guint64 id;
    const char *text = word->column[XLM_CONLLU_ID];
    const size_t digits = strspn(text, "0123456789");
    const char *second = digits > 0 && (text[digits] == '-' || text[digits] == '.') ? text + digits + 1 : "";
    if (*second != '\0' && second[strspn(second, "0123456789")] == '\0') {
        *(text[digits] == '-' ? &s->multiword : &s->empty) += 1;
        return 0;
    }
    if (g_ascii_string_to_unsigned(text, 10, 1, INT32_MAX, &id, NULL) && id == s->words->len + 1)
        return 1;
    xlm_error_at(error, xlm_lines_path(lines), word->line, "ID `%s` where word %u belongs", text, s->words->len + 1);
    return -1;
}

static bool read_words(const xlm_lines *lines, xlm_conllu *s, GError **error)
{
    g_array_set_size(s->words, 0);
    g_ptr_array_set_size(s->comments, 0);
    s->multiword = s->empty = 0;
    for (guint i = 0; i < s->rows->len; i++) {
        const struct row *row = &g_array_index(s->rows, struct row, i);
        char *line = s->text->str + row->start;
        xlm_conllu_word word = {.line = row->line};
        if (*line == '#') {
            g_ptr_array_add(s->comments, line);
            continue;
        }
        if (!split_columns(lines, line, &word, error))
            return false;
        const int is_word = check_id(lines, s, &word, error);
        if (is_word < 0)
            return false;
        if (is_word == 1)
            g_array_append_val(s->words, word);
    }
    const struct row *first = &g_array_index(s->rows, struct row, 0);
    return s->words->len > 0 || xlm_error_at(error, xlm_lines_path(lines), first->line, "a sentence without words");
}

/* ---- trees ---- */

static bool read_heads(const xlm_lines *lines, xlm_conllu *s, xlm_conllu_trees trees, GError **error)
{
    guint given = 0;
    for (guint i = 0; i < s->words->len; i++) {
        xlm_conllu_word *word = xlm_conllu_word_at(s, i);
        const char *text = word->column[XLM_CONLLU_HEAD];
        guint64 head;
        if (strcmp(text, "_") == 0)
            continue;
        given++;
        if (!g_ascii_string_to_unsigned(text, 10, 0, s->words->len, &head, NULL))
            return xlm_error_at(error, xlm_lines_path(lines), word->line, "HEAD `%s` is not a word of the sentence, which has 1 "
                                "to %u, and 0 for the root", text, s->words->len);
        word->head = (int32_t)head - 1;
    }
    s->has_tree = given > 0;
    if (given == s->words->len || (given == 0 && trees != XLM_CONLLU_TREES_NEEDED))
        return true;
    for (guint i = 0; i < s->words->len; i++)
        if (strcmp(xlm_conllu_word_at(s, i)->column[XLM_CONLLU_HEAD], "_") == 0)
            return xlm_error_at(error, xlm_lines_path(lines), xlm_conllu_word_at(s, i)->line, "HEAD is missing; %s",
                                given > 0 ? "other words of the sentence have one" : "syntax needs trees: parse the text first");
    return true;
}

static bool check_root(const xlm_lines *lines, const xlm_conllu *s, GError **error)
{
    int64_t root = -1;
    for (guint i = 0; i < s->words->len; i++) {
        const xlm_conllu_word *word = xlm_conllu_word_at(s, i);
        if (word->head < 0 && root >= 0)
            return xlm_error_at(error, xlm_lines_path(lines), word->line, "two roots, words %" G_GINT64_FORMAT " and %u; a tree "
                                "has one HEAD that is 0", root + 1, i + 1);
        if (word->head < 0)
            root = i;
    }
    return root >= 0 ||
           xlm_error_at(error, xlm_lines_path(lines), xlm_conllu_word_at(s, 0)->line,
                        "no root: no word of the sentence has the HEAD 0");
}

/* Follow heads from every word; reached[i]: the word from which i was reached first, plus 1. */
static bool check_circles(const xlm_lines *lines, const xlm_conllu *s, GError **error)
{
    g_autofree guint *reached = g_new0(guint, s->words->len);
    for (guint i = 0; i < s->words->len; i++) {
        int64_t at = i;
        while (at >= 0 && reached[at] == 0) {
            reached[at] = i + 1;
            at = xlm_conllu_word_at(s, (size_t)at)->head;
        }
        if (at >= 0 && reached[at] == i + 1)
            return xlm_error_at(error, xlm_lines_path(lines), xlm_conllu_word_at(s, (size_t)at)->line, "the heads above word %"
                                G_GINT64_FORMAT " lead in a circle back to it", at + 1);
    }
    return true;
}

int xlm_conllu_next(xlm_lines *lines, xlm_conllu *s, xlm_conllu_trees trees, GError **error)
{
    const int got = gather_lines(lines, s, error);
    if (got != 1)
        return got;
    s->has_tree = false;
    const bool good = read_words(lines, s, error) &&
                      (trees == XLM_CONLLU_TREES_PASSED_OVER || read_heads(lines, s, trees, error)) &&
                      (!s->has_tree || (check_root(lines, s, error) && check_circles(lines, s, error)));
    return good ? 1 : -1;
}
