/* xlm-mpi: words and characters as regular expressions. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * These are rules 4 to 16 of UAX #29 as ICU tailors them, over sets of characters that are written out, so that the engine that
 * runs the expression needs to know no properties of characters. Letters, digits and connectors are joined; certain characters
 * between two letters or two digits join them; marks and format characters are joined to what they follow. */
#include "text/patterns.h"

#include <string.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utf16.h>

#include "text/words.h"

/* Sets of characters. A character may be in several. */
enum {
    LETTERS, HEBREW, DIGITS, CONNECTORS, BETWEEN_LETTERS, BETWEEN_DIGITS, MARKS, REGIONAL, PICTURES, HANGUL, HIRAGANA, KATAKANA,
    SOUTH_EAST_ASIAN, SETS
};

typedef struct character_set {
    GString *ranges; /* the text between [ and ] */
    UChar32 first, last; /* the range that is still growing; first is -1 if there is none */
} character_set;

static void put_character(GString *out, UChar32 c)
{
    if (c < 0x80 && strchr("[]\\^-", (int)c) != NULL)
        g_string_append_c(out, '\\');
    g_string_append_unichar(out, (gunichar)c);
}

static void end_range(character_set *set)
{
    if (set->first < 0)
        return;
    put_character(set->ranges, set->first);
    if (set->last > set->first + 1)
        g_string_append_c(set->ranges, '-');
    if (set->last > set->first)
        put_character(set->ranges, set->last);
    set->first = -1;
}

static void add(character_set *set, UChar32 c)
{
    if (set->first < 0 || c > set->last + 1) {
        end_range(set);
        set->first = c;
    }
    set->last = c;
}

char *xlm_pattern_characters(bool (*holds)(uint32_t character))
{
    character_set set = {g_string_new("["), -1, -1};
    for (UChar32 c = 1; c <= UCHAR_MAX_VALUE; c++)
        if (!U_IS_SURROGATE(c) && holds((uint32_t)c))
            add(&set, c);
    end_range(&set);
    g_string_append_c(set.ranges, ']');
    return g_string_free(set.ranges, FALSE);
}

/* Is the text side, c, side one word? */
static bool joins(xlm_splitter *splitter, char side, UChar32 c)
{
    g_autoptr(GString) text = g_string_new(NULL);
    size_t n;
    g_string_append_c(text, side);
    g_string_append_unichar(text, (gunichar)c);
    g_string_append_c(text, side);
    xlm_splitter_split(splitter, text->str, text->len, &n);
    return n == 1;
}

static void sort_into(character_set *sets, xlm_splitter *splitter, UChar32 c)
{
    const int32_t property = u_getIntPropertyValue(c, UCHAR_WORD_BREAK);
    UErrorCode status = U_ZERO_ERROR;
    const UScriptCode script = uscript_getScript(c, &status);
    if (u_hasBinaryProperty(c, UCHAR_EXTENDED_PICTOGRAPHIC))
        add(&sets[PICTURES], c);
    if (property == U_WB_EXTEND || property == U_WB_FORMAT || property == U_WB_ZWJ)
        add(&sets[MARKS], c);
    else if (script == USCRIPT_HAN)
        return;
    else if (script == USCRIPT_HIRAGANA)
        add(&sets[HIRAGANA], c);
    else if (property == U_WB_KATAKANA)
        add(&sets[KATAKANA], c);
    else if (u_getIntPropertyValue(c, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT)
        add(&sets[SOUTH_EAST_ASIAN], c);
    else if (property == U_WB_HEBREW_LETTER)
        add(&sets[HEBREW], c);
    else if (property == U_WB_NUMERIC)
        add(&sets[DIGITS], c);
    else if (property == U_WB_EXTENDNUMLET)
        add(&sets[CONNECTORS], c);
    else if (property == U_WB_REGIONAL_INDICATOR)
        add(&sets[REGIONAL], c);
    else if (property == U_WB_ALETTER && script == USCRIPT_HANGUL && !joins(splitter, 'a', c))
        add(&sets[HANGUL], c);
    else if (property == U_WB_ALETTER || (property == U_WB_OTHER && c < 0x80 && joins(splitter, 'a', c)))
        add(&sets[LETTERS], c); /* @ is a letter (words.c) */
    else if (property != U_WB_OTHER && property != U_WB_WSEGSPACE) {
        if (joins(splitter, 'a', c))
            add(&sets[BETWEEN_LETTERS], c);
        if (joins(splitter, '1', c))
            add(&sets[BETWEEN_DIGITS], c);
    }
}

/* Replace each {name} in `form` by the characters of a set. g_free. */
static char *fill_in(const char *form, const character_set *sets)
{
    static const struct {
        const char *name;
        int set;
    } names[] = {{"L", LETTERS}, {"H", HEBREW}, {"N", DIGITS}, {"_", CONNECTORS}, {"l", BETWEEN_LETTERS}, {"n", BETWEEN_DIGITS},
                 {"M", MARKS}, {"R", REGIONAL}, {"P", PICTURES}, {"K", HANGUL}, {"h", HIRAGANA}, {"k", KATAKANA},
                 {"T", SOUTH_EAST_ASIAN}};
    GString *out = g_string_new(NULL);
    for (const char *at = form; *at != '\0'; at++) {
        size_t i = 0;
        while (i < G_N_ELEMENTS(names) && !(at[0] == '{' && at[1] == names[i].name[0] && at[2] == '}'))
            i++;
        if (i == G_N_ELEMENTS(names)) {
            g_string_append_c(out, *at);
            continue;
        }
        g_string_append(out, sets[names[i].set].ranges->str);
        at += 2;
    }
    return g_string_free(out, FALSE);
}

/* Words of letters and digits (rules 5 to 13b); two regional indicators (15, 16); ideographs one by one, kana and the scripts of
 * South East Asia in runs; every other character by itself, and pictures that U+200D joins (3c). */
static const char FORM[] = "[{L}{H}{N}{_}][{L}{H}{N}{_}{M}]*"
                           "(?:(?:(?<=[{L}{H}{M}])[{l}][{M}]*(?=[{L}{H}])|(?<=[{N}{M}])[{n}][{M}]*(?=[{N}])|"
                           "(?<=[{H}])\"(?=[{H}])|(?<=[{H}])')[{L}{H}{N}{_}{M}]*)*"
                           "|[{R}][{M}]*(?:[{R}][{M}]*)?|[{K}][{K}{M}]*|[{h}][{h}{M}]*|[{k}][{k}{M}]*|[{T}][{T}{M}]*"
                           "|[^\\s](?:[{M}]*\xE2\x80\x8D[{P}])*[{M}]*";

char *xlm_pattern_words(const char *language, GError **error)
{
    xlm_splitter *splitter = xlm_splitter_new(XLM_WORDS_ICU, language, error);
    if (splitter == NULL)
        return NULL;
    character_set sets[SETS];
    for (int i = 0; i < SETS; i++)
        sets[i] = (character_set){g_string_new(NULL), -1, -1};
    for (UChar32 c = 1; c <= UCHAR_MAX_VALUE; c++)
        if (!U_IS_SURROGATE(c))
            sort_into(sets, splitter, c);
    for (int i = 0; i < SETS; i++)
        end_range(&sets[i]);
    char *pattern = fill_in(FORM, sets);
    for (int i = 0; i < SETS; i++)
        g_string_free(sets[i].ranges, TRUE);
    xlm_splitter_free(splitter);
    return pattern;
}

/* The expression without the contents of its sets. g_free. */
static char *shape_of(const char *pattern)
{
    GString *out = g_string_new(NULL);
    bool inside = false;
    for (const char *at = pattern; *at != '\0'; at++) {
        if (!inside || *at == ']')
            g_string_append_c(out, *at);
        inside = inside ? *at != ']' : *at == '[';
        at += *at == '\\' && at[1] != '\0';
    }
    return g_string_free(out, FALSE);
}

bool xlm_pattern_is_words(const char *pattern)
{
    g_autofree char *own = shape_of(FORM), *shape = shape_of(pattern);
    return strcmp(own, shape) == 0;
}

bool xlm_pattern_is_characters(const char *pattern)
{
    g_autofree char *shape = shape_of(pattern);
    return strcmp(shape, "[]") == 0;
}
