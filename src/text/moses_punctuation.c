/* xlm-mpi: punctuation as Moses normalises it. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>
#include <unicode/uchar.h>

#include "text/moses_line.h"

/* Step 1. White space after full stops of CJK becomes a single space. */
static void replace_punctuation(moses *m)
{
    static const struct {
        UChar32 c;
        const char *by;
    } marks[] = {
        {0xFF0C, ","}, {0x3002, ". "}, {0x3001, ","}, {0x201D, "\""}, {0x201C, "\""}, {0x2236, ":"}, {0xFF1A, ":"}, {0xFF1F, "?"},
        {0x300A, "\""}, {0x300B, "\""}, {0xFF09, ")"}, {0xFF01, "!"}, {0xFF08, "("}, {0xFF1B, ";"}, {0x300D, "\""},
        {0x300C, "\""}, {0xFF0E, ". "}, {0xFF5E, "~"}, {0x2019, "'"}, {0x2026, "..."}, {0x2501, "-"}, {0x3008, "<"},
        {0x3009, ">"}, {0x3010, "["}, {0x3011, "]"}, {0xFF05, "%"}};
    if (m->rest == 0)
        return;
    const guint n = m->text->len;
    for (guint i = 0; i < n; i++) {
        const moses_letter *l = &moses_letters(m)[i];
        const char *by = NULL;
        for (size_t k = 0; k < G_N_ELEMENTS(marks) && by == NULL && l->c >= 0x2019 - 4; k++)
            by = marks[k].c == l->c ? marks[k].by : NULL;
        if (l->c >= 0xFF10 && l->c <= 0xFF19)
            moses_put(m, l->c - 0xFF10 + '0', l, l);
        else if (by == NULL)
            g_array_append_val(m->other, *l);
        for (; by != NULL && *by != '\0'; by++)
            moses_put(m, *by, l, l);
        while ((l->c == 0x3002 || l->c == 0xFF0E) && i + 1 < n && u_isUWhiteSpace(moses_letters(m)[i + 1].c))
            i++;
    }
    moses_take_other(m);
}

/* English: `",` becomes `,"`, and the same with full stops. */
static void put_marks_inside(moses *m)
{
    moses_letter *text = moses_letters(m);
    if (!moses_may_have(m, '"'))
        return;
    for (guint i = 0; i + 1 < m->text->len; i++) {
        const moses_letter quote = text[i];
        guint end = i + 1;
        while (quote.c == '"' && end < m->text->len && (text[end].c == ',' || text[end].c == '.'))
            end++;
        if (end == i + 1)
            continue;
        memmove(&text[i], &text[i + 1], (end - i - 1) * sizeof *text);
        text[end - 1] = quote;
        i = end - 1;
    }
}

/* German, Spanish, French: `."` becomes `".` where something follows that is not `<`. */
static void put_full_stops_outside(moses *m)
{
    moses_letter *text = moses_letters(m);
    const guint n = m->text->len;
    if (!moses_may_have(m, '"'))
        return;
    for (guint i = 0; i < n; i++) {
        guint end = i;
        while (end < n && text[end].c == '.')
            end++;
        if (end == i)
            continue;
        if (end + 1 < n && text[end].c == '"' && text[end + 1].c != '<') {
            const moses_letter quote = text[end];
            memmove(&text[i + 1], &text[i], (end - i) * sizeof *text);
            text[i] = quote;
            /* White space after it, and the character after that, belong to this match and to no other. */
            for (end++; end < n && u_isUWhiteSpace(text[end].c);)
                end++;
            end += end < n && text[end].c != '<';
        }
        i = end - 1;
    }
}

/* Step 2. */
static void normalise(moses *m)
{
    static const moses_rule rules[] = {
        {ANY, "\r", "", ANY}, {ANY, "(", " (", ANY}, {ANY, ")", ") ", ANY}, MOSES_ONE_SPACE, {ANY, ") ", ")", CLOSING},
        {ANY, "( ", "(", ANY}, {ANY, " )", ")", ANY}, {DIGIT, " %", "%", ANY}, {ANY, " :", ":", ANY}, {ANY, " ;", ";", ANY},
        {ANY, "`", "'", ANY}, {ANY, "''", " \" ", ANY}, {ANY, "\u201e", "\"", ANY}, {ANY, "\u201c", "\"", ANY},
        {ANY, "\u201d", "\"", ANY}, {ANY, "\u2013", "-", ANY}, {ANY, "\u2014", " - ", ANY}, MOSES_ONE_SPACE,
        {ANY, "\u00b4", "'", ANY}, {ANY, "\u2018", "'", ANY}, {ANY, "\u201a", "'", ANY}, {ANY, "\u2019", "'", ANY},
        {ANY, "''", "\"", ANY}, {ANY, "\u2026", "...", ANY}, {ANY, "\u00a0\u00ab\u00a0", "\"", ANY},
        {ANY, "\u00ab\u00a0", "\"", ANY}, {ANY, "\u00ab", "\"", ANY}, {ANY, "\u00a0\u00bb\u00a0", "\"", ANY},
        {ANY, "\u00a0\u00bb", "\"", ANY}, {ANY, "\u00bb", "\"", ANY}, {ANY, "\u00a0%", "%", ANY},
        {ANY, "n\u00ba\u00a0", "n\u00ba ", ANY}, {ANY, "\u00a0:", ":", ANY}, {ANY, "\u00a0\u00ba" "C", " \u00ba" "C", ANY},
        {ANY, "\u00a0cm", " cm", ANY}, {ANY, "\u00a0?", "?", ANY}, {ANY, "\u00a0!", "!", ANY}, {ANY, "\u00a0;", ";", ANY},
        {ANY, ",\u00a0", ", ", ANY}, MOSES_ONE_SPACE};
    static const moses_rule comma_outside[] = {{ANY, ",\"", "\",", ANY}};
    static const moses_rule decimal_comma[] = {{DIGIT, "\u00a0", ",", DIGIT}}, decimal_point[] = {{DIGIT, "\u00a0", ".", DIGIT}};
    MOSES_APPLY(m, rules);
    if (moses_speaks(m, "en"))
        put_marks_inside(m);
    if (moses_speaks(m, "de es fr")) {
        MOSES_APPLY(m, comma_outside);
        put_full_stops_outside(m);
    }
    if (moses_speaks(m, "de es cz cs fr"))
        MOSES_APPLY(m, decimal_comma);
    else
        MOSES_APPLY(m, decimal_point);
    moses_strip(m);
}

/* Step 3. */
static void leave_out_hidden(moses *m)
{
    moses_letter *text = moses_letters(m);
    guint n = 0;
    for (guint i = 0; i < m->text->len; i++)
        if ((U_GET_GC_MASK(text[i].c) & U_GC_C_MASK) == 0)
            text[n++] = text[i];
    g_array_set_size(m->text, n);
}

void moses_normalise_punctuation(moses *m)
{
    replace_punctuation(m);
    normalise(m);
    leave_out_hidden(m);
}

/* Step 4. */
void moses_simplify_romanian(moses *m)
{
    static const UChar32 pairs[][2] = {{0x15E, 'S'}, {0x15F, 's'}, {0x162, 'T'}, {0x163, 't'}, {0x218, 'S'}, {0x219, 's'},
                                       {0x21A, 'T'}, {0x21B, 't'}, {0x102, 'A'}, {0x103, 'a'}, {0xC2, 'A'},  {0xE2, 'a'},
                                       {0xCE, 'I'},  {0xEE, 'i'}};
    moses_letter *text = moses_letters(m);
    for (guint i = 0; i < m->text->len; i++)
        for (size_t k = 0; k < G_N_ELEMENTS(pairs); k++)
            if (text[i].c == pairs[k][0])
                text[i].c = pairs[k][1];
}
