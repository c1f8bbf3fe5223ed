/* xlm-mpi: the words that BLEU compares. SPDX-License-Identifier: GPL-3.0-or-later */
#include "translation_scores/bleu_words.h"

#include <string.h>
#include <unicode/uchar.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include "text/icu.h"
#include "text/words.h"

const char *const xlm_bleu_word_names[] = {"13a", "intl", "zh", "char", "none", "blanks", NULL};

static uint32_t at(const GArray *text, guint i) { return g_array_index(text, uint32_t, i); }

static void append(GArray *text, uint32_t c) { g_array_append_val(text, c); }

/* ---- from bytes to characters ---- */

static void read_lower(const char *text, int32_t bytes, GArray *characters)
{
    int32_t size;
    g_autofree UChar *lower = xlm_icu_lower_case(text, bytes, &size);
    for (int32_t i = 0; i < size;) {
        UChar32 c;
        U16_NEXT(lower, i, size, c);
        append(characters, (uint32_t)c);
    }
}

void xlm_bleu_read(const char *text, xlm_bleu_case letters, GArray *characters)
{
    const int32_t bytes = (int32_t)strlen(text);
    g_array_set_size(characters, 0);
    if (letters == XLM_BLEU_LOWER) {
        read_lower(text, bytes, characters);
        return;
    }
    for (int32_t i = 0; i < bytes;) {
        UChar32 c;
        U8_NEXT_OR_FFFD((const uint8_t *)text, i, bytes, c);
        append(characters, (uint32_t)(letters == XLM_BLEU_LOWER_ASCII && c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c));
    }
}

/* ---- classes of characters ---- */

static bool is_digit(uint32_t c) { return c >= '0' && c <= '9'; }
static bool is_no_digit(uint32_t c) { return !is_digit(c); }
static bool is_point(uint32_t c) { return c == '.' || c == ','; }
static bool is_hyphen(uint32_t c) { return c == '-'; }
/* Always a word of its own in 13a. */
static bool is_western_mark(uint32_t c) { return c < 0x80 && g_ascii_ispunct((char)c) && strchr("'-.,", (char)c) == NULL; }

static bool is_punctuation(uint32_t c) { return (U_GET_GC_MASK((UChar32)c) & U_GC_P_MASK) != 0; }
static bool is_symbol(uint32_t c) { return (U_GET_GC_MASK((UChar32)c) & U_GC_S_MASK) != 0; }
static bool is_no_number(uint32_t c) { return (U_GET_GC_MASK((UChar32)c) & U_GC_N_MASK) == 0; }

/* As sacreBLEU has it. Its table means the ideographs of planes 1 and 2 too, but writes them with four digits and one more
 * character: so U+2001 ... U+2A6D (punctuation, arrows, mathematics, boxes) count as Chinese, and U+20000 and above do not. */
static bool is_chinese(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {0x2001, 0x2A6D}, {0x2E80, 0x2EFF}, {0x2F00, 0x2FDF}, {0x2FF0, 0x303F}, {0x3100, 0x312F}, {0x31A0, 0x31BF},
        {0x31C0, 0x31EF}, {0x3200, 0x33FF}, {0x3400, 0x4DB5}, {0x4E00, 0x9FBB}, {0xF900, 0xFA2D}, {0xFA30, 0xFA6A},
        {0xFA70, 0xFAD9}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F}, {0xFF00, 0xFFEF}};
    for (size_t i = 0; i < G_N_ELEMENTS(ranges); i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    return false;
}

static bool is_any(uint32_t c G_GNUC_UNUSED) { return true; }

/* ---- cutting ---- */

typedef bool is_of(uint32_t character);

static void replace_by(GArray *text, const GArray *other)
{
    g_array_set_size(text, 0);
    g_array_append_vals(text, other->data, other->len);
}

/* Put spaces around each character of a class. */
static void part_each(GArray *text, GArray *spare, is_of *class)
{
    g_array_set_size(spare, 0);
    for (guint i = 0; i < text->len; i++) {
        const bool apart = class(at(text, i));
        if (apart)
            append(spare, ' ');
        append(spare, at(text, i));
        if (apart)
            append(spare, ' ');
    }
    replace_by(text, spare);
}

/* Where a character of one class is followed by one of another, put spaces around the first or the second. Pairs do not overlap:
 * the next one begins after both. */
static void part_pairs(GArray *text, GArray *spare, is_of *first, is_of *second, bool around_second)
{
    g_array_set_size(spare, 0);
    for (guint i = 0; i < text->len; i++) {
        if (i + 1 == text->len || !first(at(text, i)) || !second(at(text, i + 1))) {
            append(spare, at(text, i));
            continue;
        }
        if (!around_second)
            append(spare, ' ');
        append(spare, at(text, i++));
        append(spare, ' ');
        append(spare, at(text, i));
        if (around_second)
            append(spare, ' ');
    }
    replace_by(text, spare);
}

/* Replace `word` by `other`, which is not longer; both are ASCII. */
static void replace(GArray *text, const char *word, const char *other)
{
    const guint size = (guint)strlen(word);
    guint to = 0;
    for (guint i = 0; i < text->len;) {
        guint same = 0;
        while (same < size && i + same < text->len && at(text, i + same) == (uint32_t)word[same])
            same++;
        if (same < size) {
            g_array_index(text, uint32_t, to++) = at(text, i++);
            continue;
        }
        for (const char *c = other; *c != '\0'; c++)
            g_array_index(text, uint32_t, to++) = (uint32_t)*c;
        i += size;
    }
    g_array_set_size(text, to);
}

static void trim(GArray *text, bool also_begin)
{
    guint begin = 0, end = text->len;
    while (end > 0 && xlm_is_white_space(at(text, end - 1)))
        end--;
    g_array_set_size(text, end);
    while (also_begin && begin < end && xlm_is_white_space(at(text, begin)))
        begin++;
    g_array_remove_range(text, 0, begin);
}

static void cut_western(GArray *text, GArray *spare)
{
    part_each(text, spare, is_western_mark);
    part_pairs(text, spare, is_no_digit, is_point, true);
    part_pairs(text, spare, is_point, is_no_digit, false);
    part_pairs(text, spare, is_digit, is_hyphen, true);
}

static void cut_13a(GArray *text, GArray *spare)
{
    static const char *const replaced[][2] = {{"<skipped>", ""}, {"-\n", ""}, {"\n", " "}, {"&quot;", "\""}, {"&amp;", "&"},
                                              {"&lt;", "<"}, {"&gt;", ">"}};
    const uint32_t space = ' ';
    for (size_t i = 0; i < G_N_ELEMENTS(replaced); i++)
        replace(text, replaced[i][0], replaced[i][1]);
    g_array_prepend_val(text, space);
    append(text, space);
    cut_western(text, spare);
}

void xlm_bleu_cut(xlm_bleu_words words, GArray *text, GArray *spare)
{
    if (words != XLM_BLEU_BLANKS)
        trim(text, words == XLM_BLEU_ZH);
    switch (words) {
    case XLM_BLEU_13A: cut_13a(text, spare); break;
    case XLM_BLEU_INTL:
        part_pairs(text, spare, is_no_number, is_punctuation, true);
        part_pairs(text, spare, is_punctuation, is_no_number, false);
        part_each(text, spare, is_symbol);
        break;
    case XLM_BLEU_ZH:
        part_each(text, spare, is_chinese);
        cut_western(text, spare);
        break;
    case XLM_BLEU_CHAR: part_each(text, spare, is_any); break;
    case XLM_BLEU_NONE:
    case XLM_BLEU_BLANKS: break;
    }
}

bool xlm_bleu_is_blank(xlm_bleu_words words, uint32_t c)
{
    return words == XLM_BLEU_BLANKS ? c == ' ' || (c >= '\t' && c <= '\r') : xlm_is_white_space(c);
}
