/* xlm-mpi: the links of two sentences, for a person to look at. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/link_matrix.h"

#include <string.h>

#include "base/terminal.h"

enum { MAX_LABEL = 24, MAX_HEIGHT = 16, RULER = 5 }; /* columns, letters, words */

static const char cut[] = "…";

/* A word as it is printed: without control characters, which a terminal would obey. A mark at the beginning, as subwords may
 * have, is put on a circle. */
static char *make_label(const char *word)
{
    GString *label = g_string_new("");
    for (const char *at = word; *at != '\0'; at = g_utf8_next_char(at)) {
        const gunichar c = g_utf8_get_char(at);
        if (at == word && g_unichar_ismark(c))
            g_string_append_unichar(label, 0x25cc);
        g_string_append_unichar(label, g_unichar_iscntrl(c) ? 0xfffd : c);
    }
    return g_string_free(label, FALSE);
}

static char **make_labels(const char *const *words, int64_t n)
{
    char **labels = g_new0(char *, n + 1);
    for (int64_t i = 0; i < n; i++)
        labels[i] = make_label(words[i]);
    return labels;
}

/* Bytes of the letter at `at` with the marks on it. */
static size_t letter_size(const char *at)
{
    const char *end = g_utf8_next_char(at);
    while (*end != '\0' && (g_unichar_ismark(g_utf8_get_char(end)) || g_unichar_iszerowidth(g_utf8_get_char(end))))
        end = g_utf8_next_char(end);
    return (size_t)(end - at);
}

static void append_blanks(GString *out, int n) { g_string_append_printf(out, "%*s", MAX(n, 0), ""); }

/* Append text, cut or filled with blanks to so many columns. */
static void append_padded(GString *out, const char *text, int columns)
{
    const bool whole = xlm_terminal_columns(text, strlen(text)) <= columns;
    int used = 0, room = whole ? columns : columns - 1;
    while (*text != '\0') {
        const size_t size = letter_size(text);
        const int takes = xlm_terminal_columns(text, size);
        if (used + takes > room)
            break;
        g_string_append_len(out, text, (gssize)size);
        used += takes;
        text += size;
    }
    if (!whole) {
        g_string_append(out, cut);
        used++;
    }
    append_blanks(out, columns - used);
}

/* ---- matrix ---- */

static int count_letters(const char *label)
{
    int n = 0;
    for (; *label != '\0'; label += letter_size(label))
        n++;
    return n;
}

/* Append letter `number` of a label, from 0, in two columns; the last one of a long label is a mark that it was cut. */
static void append_letter(GString *out, const char *label, int letters, int number)
{
    if (letters > MAX_HEIGHT && number == MAX_HEIGHT - 1) {
        append_padded(out, cut, 2);
        return;
    }
    for (int i = 0; i < number; i++)
        label += letter_size(label);
    const size_t size = letter_size(label);
    g_string_append_len(out, label, (gssize)size);
    append_blanks(out, 2 - xlm_terminal_columns(label, size));
}

/* End a line, without the blanks at its end. */
static void end_line(GString *out)
{
    while (out->len > 0 && out->str[out->len - 1] == ' ')
        g_string_truncate(out, out->len - 1);
    g_string_append_c(out, '\n');
}

/* The target words, with a ruler below. */
static void append_header(GString *out, char *const *labels, int64_t n, int margin)
{
    int *letters = g_new(int, n + 1), height = 0;
    for (int64_t j = 0; j < n; j++) {
        letters[j] = count_letters(labels[j]);
        height = MAX(height, MIN(letters[j], MAX_HEIGHT));
    }
    for (int line = height; line > 0; line--) {
        append_blanks(out, margin);
        for (int64_t j = 0; j < n; j++) {
            const int shown = MIN(letters[j], MAX_HEIGHT);
            if (line <= shown)
                append_letter(out, labels[j], letters[j], shown - line);
            else
                append_blanks(out, 2);
        }
        end_line(out);
    }
    append_blanks(out, margin);
    for (int64_t j = 0; j < n; j += RULER)
        g_string_append_printf(out, "%-*" G_GINT64_FORMAT, 2 * RULER, j);
    end_line(out);
    g_free(letters);
}

static void append_row(GString *out, const xlm_link_picture *p, int64_t source, int64_t *at)
{
    for (int64_t j = 0; j < p->targets; j++) {
        const bool linked = *at < p->n && p->links[*at].source == source && p->links[*at].target == j;
        g_string_append(out, !linked ? "·" : p->scores != NULL && p->scores[*at] < 0.5f ? "□" : "■");
        g_string_append_c(out, ' ');
        *at += linked;
    }
    end_line(out);
}

bool xlm_link_matrix_append(GString *out, const xlm_link_picture *picture, int width)
{
    const xlm_link_picture *p = picture;
    g_auto(GStrv) source = make_labels(p->source, p->sources);
    int label = 0, digits = 1;
    for (int64_t i = 0; i < p->sources; i++)
        label = MAX(label, MIN(xlm_terminal_columns(source[i], strlen(source[i])), MAX_LABEL));
    for (int64_t i = p->sources; i > 10; i = (i + 9) / 10)
        digits++;
    const int margin = digits + 1 + label + 2;
    const bool fits = margin + 2 * p->targets - 1 <= width;
    if (fits) {
        g_auto(GStrv) target = make_labels(p->target, p->targets);
        append_header(out, target, p->targets, margin);
        for (int64_t i = 0, at = 0; i < p->sources; i++) {
            g_string_append_printf(out, "%*" G_GINT64_FORMAT " ", digits, i);
            append_padded(out, source[i], label);
            g_string_append(out, "  ");
            append_row(out, p, i, &at);
        }
    }
    return fits;
}

/* ---- list ---- */

static void append_word(GString *out, char *const *labels, int64_t i)
{
    g_string_append_printf(out, "%" G_GINT64_FORMAT " %s", i, labels[i]);
}

void xlm_link_list_append(GString *out, const xlm_link_picture *picture)
{
    const xlm_link_picture *p = picture;
    g_auto(GStrv) source = make_labels(p->source, p->sources), target = make_labels(p->target, p->targets);
    bool *linked = g_new0(bool, p->targets + 1), any = false;
    for (int64_t i = 0, at = 0; i < p->sources; i++) {
        append_word(out, source, i);
        for (bool first = true; at < p->n && p->links[at].source == i; at++, first = false) {
            linked[p->links[at].target] = true;
            g_string_append(out, first ? " - " : ", ");
            append_word(out, target, p->links[at].target);
            if (p->scores != NULL)
                g_string_append_printf(out, " (%.2f)", (double)p->scores[at]);
        }
        g_string_append_c(out, '\n');
    }
    for (int64_t j = 0; j < p->targets; j++) {
        if (linked[j])
            continue;
        g_string_append(out, any ? ", " : "without a link: ");
        append_word(out, target, j);
        any = true;
    }
    if (any)
        g_string_append_c(out, '\n');
    g_free(linked);
}
