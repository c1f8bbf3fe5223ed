/* xlm-mpi: words as Moses finds them in a line. SPDX-License-Identifier: GPL-3.0-or-later */
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "text/moses_line.h"

static bool stays_in_word(const moses *m, UChar32 c)
{
    return c == '.' || c == '\'' || c == '`' || c == ',' || c == '-' || moses_is_alphabetic(m, c) ||
           (moses_is_digit(c) && c <= 0xFFFF);
}

/* Let white space become single spaces, with none at the ends. */
static void make_single_spaces(moses *m)
{
    moses_letter *text = moses_letters(m);
    for (guint i = 0; i < m->text->len; i++)
        if (u_isUWhiteSpace(text[i].c))
            text[i].c = ' ';
    moses_make_one_space(m);
    moses_strip(m);
}

/* Step 5. */
static void part_symbols(moses *m)
{
    make_single_spaces(m);
    const moses_letter *text = moses_letters(m);
    for (guint i = 0; i < m->text->len; i++) {
        const moses_letter *l = &text[i];
        const bool apart = l->c != ' ' && !stays_in_word(m, l->c);
        const moses_letter end = {' ', l->end, l->end};
        if (apart)
            moses_put_space(m, l);
        g_array_append_val(m->other, *l);
        if (apart)
            g_array_append_val(m->other, end);
    }
    moses_note(m, ' ');
    moses_take_other(m);
}

static void part_full_stops(moses *m)
{
    const moses_letter *text = moses_letters(m);
    const guint n = m->text->len;
    if (!moses_may_have(m, '.'))
        return;
    for (guint i = 0, end; i < n; i = end) {
        for (end = i; end < n && text[end].c == '.';)
            end++;
        if (end < i + 2) {
            end = i + 1;
            g_array_append_val(m->other, text[i]);
            continue;
        }
        moses_put_space(m, &text[i]);
        for (guint k = i; k < end; k++)
            moses_put(m, ONE_OF_FULL_STOPS, &text[k], &text[k]);
        if (end < n)
            moses_put_space(m, &text[end]);
    }
    moses_take_other(m);
}

static void part_commas(moses *m)
{
    static const moses_rule rules[] = {{NOT_NUMBER, ",", " , ", ANY}, {ANY, ",", " , ", NOT_NUMBER}};
    MOSES_APPLY(m, rules);
    const guint n = m->text->len;
    if (n < 2 || moses_letters(m)[n - 1].c != ',' || !moses_is_number(moses_letters(m)[n - 2].c))
        return;
    const moses_letter comma = moses_letters(m)[n - 1], space = {' ', comma.start, comma.start};
    moses_letters(m)[n - 1] = space;
    g_array_append_val(m->text, comma);
}

static void part_apostrophes(moses *m)
{
    static const moses_rule english[] = {{NOT_ALPHABETIC, "'", " ' ", NOT_ALPHABETIC}, {NEITHER, "'", " ' ", ALPHABETIC},
                                   {ALPHABETIC, "'", " ' ", NOT_ALPHABETIC}, {ALPHABETIC, "'", " '", ALPHABETIC},
                                   {NUMBER, "'", " '", SMALL_S}};
    static const moses_rule french[] = {{NOT_ALPHABETIC, "'", " ' ", NOT_ALPHABETIC}, {NOT_ALPHABETIC, "'", " ' ", ALPHABETIC},
                                  {ALPHABETIC, "'", " ' ", NOT_ALPHABETIC}, {ALPHABETIC, "'", "' ", ALPHABETIC}};
    static const moses_rule others[] = {{ANY, "'", " ' ", ANY}};
    if (moses_speaks(m, "en"))
        MOSES_APPLY(m, english);
    else if (moses_speaks(m, "fr it"))
        MOSES_APPLY(m, french);
    else
        MOSES_APPLY(m, others);
}

/* Does a word keep its full stop? text[start, end): the word without it; next: the first character of the next word, 0 for
 * none. */
static bool keeps_full_stop(moses *m, guint start, guint end, UChar32 next)
{
    const moses_letter *text = moses_letters(m);
    bool stop = false, alphabetic = false;
    g_string_truncate(m->bytes, 0);
    for (guint i = start; i < end; i++) {
        stop = stop || text[i].c == '.';
        alphabetic = alphabetic || moses_is_alphabetic(m, text[i].c);
        g_string_append_unichar(m->bytes, (gunichar)text[i].c);
    }
    void *numeric;
    const bool listed = g_hash_table_lookup_extended(m->listed, m->bytes->str, NULL, &numeric);
    return (stop && alphabetic) || (next != 0 && u_hasBinaryProperty(next, UCHAR_LOWERCASE)) ||
           (listed && (!GPOINTER_TO_INT(numeric) || (next >= '0' && next <= '9')));
}

/* The rest of step 6: `.'` at the end of a line. */
static void part_last_quote(moses *m)
{
    const guint n = m->text->len;
    if (n < 2 || moses_letters(m)[n - 1].c != '\'' || moses_letters(m)[n - 2].c != '.')
        return;
    const moses_letter quote = moses_letters(m)[n - 1], stop = moses_letters(m)[n - 2];
    moses_copy(m, 0, n - 2);
    moses_put_space(m, &stop);
    g_array_append_val(m->other, stop);
    moses_put_space(m, &quote);
    g_array_append_val(m->other, quote);
    moses_take_other(m);
}

/* Step 7. */
static void cut_full_stops(moses *m)
{
    moses_make_one_space(m);
    moses_strip(m);
    const guint n = m->text->len;
    for (guint start = 0, end; start < n; start = end + 1) {
        for (end = start; end < n && moses_letters(m)[end].c != ' ';)
            end++;
        const moses_letter *text = moses_letters(m);
        const bool cut = end > start + 1 && text[end - 1].c == '.' &&
                         !keeps_full_stop(m, start, end - 1, end + 1 < n ? text[end + 1].c : 0);
        moses_copy(m, start, cut ? end - 1 : end);
        if (cut) {
            moses_put_space(m, &text[end - 1]);
            moses_copy(m, end - 1, end);
        }
        if (end < n)
            moses_put_space(m, &text[end + 1]);
    }
    moses_take_other(m);
}

/* ---- words by ICU ---- */

static void split(moses *m)
{
    make_single_spaces(m);
    g_string_truncate(m->bytes, 0);
    for (guint i = 0; i < m->text->len; i++)
        g_string_append_unichar(m->bytes, (gunichar)moses_letters(m)[i].c);
    size_t n;
    guint i = 0;
    const xlm_word *words = xlm_splitter_split(m->splitter, m->bytes->str, m->bytes->len, &n);
    for (size_t k = 0, at = 0; k < n; k++) {
        for (; at < words[k].start; i++)
            at += (size_t)U8_LENGTH(moses_letters(m)[i].c);
        if (k > 0)
            moses_put_space(m, &moses_letters(m)[i]);
        for (const size_t end = at + words[k].size; at < end; i++) {
            at += (size_t)U8_LENGTH(moses_letters(m)[i].c);
            g_array_append_val(m->other, moses_letters(m)[i]);
        }
    }
    moses_take_other(m);
}

void moses_part_words(moses *m)
{
    if (m->splitter != NULL) {
        split(m);
        return;
    }
    part_symbols(m);
    part_full_stops(m);
    part_commas(m);
    part_apostrophes(m);
    cut_full_stops(m);
    part_last_quote(m);
}
