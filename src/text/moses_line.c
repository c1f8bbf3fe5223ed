/* xlm-mpi: the line that the rules of Moses change, as an array of characters. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "text/moses_line.h"

/* ---- characters ---- */

/* Viramas, nuktas and some others, which sacremoses counts as letters although they do not have the property Alphabetic. */
static bool is_indic_mark(UChar32 c)
{
    static const uint16_t marks[] = {
        0x93C,  0x94D,  0x9BC,  0x9CD,  0xA3C,  0xA4D,  0xABC,  0xACD,  0xAFD,  0xAFE,  0xAFF,  0xB3C, 0xB4D, 0xBCD, 0xC4D, 0xCBC,
        0xCCD,  0xD3B,  0xD3C,  0xD4D,  0xDCA,  0xEBA,  0x1039, 0x135F, 0x1714, 0x1BAB, 0x1C37, 0x25CC, 0xA8C4, 0xA953, 0xAAF6};
    size_t low = 0, high = G_N_ELEMENTS(marks);
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (marks[middle] < c)
            low = middle + 1;
        else
            high = middle;
    }
    return low < G_N_ELEMENTS(marks) && marks[low] == c;
}

bool moses_is_alphabetic(const moses *m, UChar32 c)
{
    if (c < 0x80)
        return g_ascii_isalpha((char)c) || c == ONE_OF_FULL_STOPS;
    if ((c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) || c > 0xFFFF)
        return false;
    if (c >= 0xAC00 && c <= 0xD7A3)
        return m->korean;
    return u_hasBinaryProperty(c, UCHAR_ALPHABETIC) || is_indic_mark(c);
}

bool moses_is_digit(UChar32 c) { return c < 0x80 ? g_ascii_isdigit((char)c) : u_charType(c) == U_DECIMAL_DIGIT_NUMBER; }

bool moses_is_number(UChar32 c) { return c < 0x80 ? g_ascii_isdigit((char)c) : (U_GET_GC_MASK(c) & U_GC_N_MASK) != 0; }

bool moses_speaks(const moses *m, const char *languages)
{
    const size_t n = strlen(m->language);
    for (const char *at = languages; *at != '\0'; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == n && strncmp(at, m->language, n) == 0)
            return true;
    return false;
}

/* ---- the line ---- */

void moses_note(moses *m, UChar32 c)
{
    if (c < 0x80)
        m->ascii[c >> 6] |= UINT64_C(1) << (c & 63);
    else
        m->rest |= UINT64_C(1) << ((uint32_t)c * UINT32_C(0x9E3779B1) >> 26);
}

bool moses_may_have(const moses *m, UChar32 c)
{
    return c < 0x80 ? (m->ascii[c >> 6] >> (c & 63) & 1) != 0 : (m->rest >> ((uint32_t)c * UINT32_C(0x9E3779B1) >> 26) & 1) != 0;
}

void moses_read(moses *m, const char *line, size_t size)
{
    g_array_set_size(m->text, 0);
    m->ascii[0] = m->ascii[1] = m->rest = 0;
    for (int32_t at = 0; at < (int32_t)size;) {
        moses_letter l = {.start = (uint32_t)at};
        U8_NEXT_UNSAFE(line, at, l.c);
        l.end = (uint32_t)at;
        g_array_append_val(m->text, l);
        moses_note(m, l.c);
    }
}

void moses_put(moses *m, UChar32 c, const moses_letter *first, const moses_letter *last)
{
    const moses_letter l = {c, first->start, MAX(first->start, last->end)};
    g_array_append_val(m->other, l);
    moses_note(m, c);
}

void moses_widen(moses *m, const moses_letter *left_out)
{
    moses_letter *other = (moses_letter *)(void *)m->other->data;
    guint i = m->other->len;
    while (i > 0 && other[i - 1].c == ' ')
        i--;
    if (i > 0 && other[i - 1].end >= left_out->start)
        other[i - 1].end = MAX(other[i - 1].end, left_out->end);
}

void moses_put_space(moses *m, const moses_letter *before)
{
    const moses_letter l = {' ', before->start, before->start};
    g_array_append_val(m->other, l);
    moses_note(m, ' ');
}

void moses_copy(moses *m, guint from, guint to) { g_array_append_vals(m->other, moses_letters(m) + from, to - from); }

void moses_take_other(moses *m)
{
    GArray *text = m->text;
    m->text = m->other;
    m->other = text;
    g_array_set_size(m->other, 0);
}

void moses_make_one_space(moses *m)
{
    moses_letter *text = moses_letters(m);
    guint n = 0;
    for (guint i = 0; i < m->text->len; i++)
        if (n == 0 || text[i].c != ' ' || text[n - 1].c != ' ')
            text[n++] = text[i];
    g_array_set_size(m->text, n);
}

void moses_strip(moses *m)
{
    guint first = 0, n = m->text->len;
    while (n > 0 && u_isUWhiteSpace(moses_letters(m)[n - 1].c))
        n--;
    while (first < n && u_isUWhiteSpace(moses_letters(m)[first].c))
        first++;
    g_array_set_size(m->text, n);
    g_array_remove_range(m->text, 0, first);
}

/* ---- rules ---- */

static bool is_kind(const moses *m, moses_kind k, UChar32 c)
{
    switch (k) {
    case ANY:
        return true;
    case DIGIT:
        return moses_is_digit(c);
    case NUMBER:
        return moses_is_number(c);
    case NOT_NUMBER:
        return !moses_is_number(c);
    case ALPHABETIC:
        return moses_is_alphabetic(m, c);
    case NOT_ALPHABETIC:
        return !moses_is_alphabetic(m, c);
    case NEITHER:
        return !moses_is_alphabetic(m, c) && !moses_is_number(c);
    case SMALL_S:
        return c == 's';
    default:
        return c != 0 && c < 0x80 && strchr(".!:?;,", c) != NULL;
    }
}

enum { LONGEST = 8 }; /* maximum number of characters of a rule's text */

static guint decode(const char *text, UChar32 characters[LONGEST])
{
    guint n = 0;
    for (int32_t at = 0; text[at] != '\0' && n < LONGEST; n++)
        U8_NEXT_UNSAFE(text, at, characters[n]);
    return n;
}

/* Does the rule match the n characters at text[at]? taken: the end of the characters that belong to earlier matches. */
static bool applies(const moses *m, const moses_rule *r, const UChar32 *find, guint n, guint at, guint taken)
{
    const moses_letter *text = moses_letters(m);
    for (guint i = 0; i < n; i++)
        if (text[at + i].c != find[i])
            return false;
    return (r->before == ANY ? at >= taken : at > taken && is_kind(m, r->before, text[at - 1].c)) &&
           (r->after == ANY || (at + n < m->text->len && is_kind(m, r->after, text[at + n].c)));
}

static void apply_one(moses *m, const moses_rule *r)
{
    UChar32 find[LONGEST], by[LONGEST];
    const guint n = decode(r->text, find), made = decode(r->by, by), all = m->text->len;
    for (guint i = 0; i < n; i++)
        if (!moses_may_have(m, find[i]))
            return;
    guint copied = 0, taken = 0;
    for (guint at = 0; at + n <= all; at++) {
        if (!applies(m, r, find, n, at, taken))
            continue;
        moses_copy(m, copied, at);
        for (guint i = 0; i < made; i++)
            moses_put(m, by[i], &moses_letters(m)[at], &moses_letters(m)[at + n - 1]);
        copied = at + n;
        taken = copied + (r->after != ANY);
        at = copied - 1;
    }
    if (copied > 0) {
        moses_copy(m, copied, all);
        moses_take_other(m);
    }
}

void moses_apply(moses *m, const moses_rule *rules, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rules[i].text == NULL)
            moses_make_one_space(m);
        else
            apply_one(m, &rules[i]);
}
