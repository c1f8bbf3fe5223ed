/* xlm-mpi: words as Moses finds them, for XLM's tokenizer. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/moses.h"

#include <string.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include "text/words.h"

/* A character, and which bytes [start, end) of the line it is of. */
typedef struct letter {
    UChar32 c;
    uint32_t start, end;
} letter;

typedef struct moses {
    bool lower;
    const GPtrArray *abbreviations;
    char *name;              /* of the language, as it was set */
    char language[16];       /* its first part in lower case: "pt" of "pt-BR" */
    GHashTable *listed;      /* its abbreviations -> GINT_TO_POINTER(in front of numbers alone) */
    bool korean;
    xlm_splitter *splitter;  /* NULL: steps 5 to 7 */
    const UNormalizer2 *form_d;
    GArray *text, *other;    /* letter: the line at hand, and what a rule makes of it */
    uint64_t ascii[2], rest; /* characters that it may have: bits of those of ASCII, and of the others by a hash */
    GString *bytes;
} moses;

/* A character of a word that stands for a full stop of several in a row: a control, which step 3 leaves none of. */
enum { ONE_OF_FULL_STOPS = 1 };

/* ---- characters ---- */

/* Viramas and nuktas, which sacremoses has among the letters, and which have not the property. */
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

static bool is_alphabetic(const moses *m, UChar32 c)
{
    if (c < 0x80)
        return g_ascii_isalpha((char)c) || c == ONE_OF_FULL_STOPS;
    if ((c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) || c > 0xFFFF)
        return false;
    if (c >= 0xAC00 && c <= 0xD7A3)
        return m->korean;
    return u_hasBinaryProperty(c, UCHAR_ALPHABETIC) || is_indic_mark(c);
}

static bool is_digit(UChar32 c) { return c < 0x80 ? g_ascii_isdigit((char)c) : u_charType(c) == U_DECIMAL_DIGIT_NUMBER; }

static bool is_number(UChar32 c) { return c < 0x80 ? g_ascii_isdigit((char)c) : (U_GET_GC_MASK(c) & U_GC_N_MASK) != 0; }

static bool stays_in_word(const moses *m, UChar32 c)
{
    return c == '.' || c == '\'' || c == '`' || c == ',' || c == '-' || is_alphabetic(m, c) || (is_digit(c) && c <= 0xFFFF);
}

/* ---- the line ---- */

static letter *letters(const moses *m) { return (letter *)(void *)m->text->data; }

static void note(moses *m, UChar32 c)
{
    if (c < 0x80)
        m->ascii[c >> 6] |= UINT64_C(1) << (c & 63);
    else
        m->rest |= UINT64_C(1) << ((uint32_t)c * UINT32_C(0x9E3779B1) >> 26);
}

static bool may_have(const moses *m, UChar32 c)
{
    return c < 0x80 ? (m->ascii[c >> 6] >> (c & 63) & 1) != 0 : (m->rest >> ((uint32_t)c * UINT32_C(0x9E3779B1) >> 26) & 1) != 0;
}

static void read_line(moses *m, const char *line, size_t size)
{
    g_array_set_size(m->text, 0);
    m->ascii[0] = m->ascii[1] = m->rest = 0;
    for (int32_t at = 0; at < (int32_t)size;) {
        letter l = {.start = (uint32_t)at};
        U8_NEXT_UNSAFE(line, at, l.c);
        l.end = (uint32_t)at;
        g_array_append_val(m->text, l);
        note(m, l.c);
    }
}

/* Append a character to what becomes of the line, in the place of those from `first` up to `last`. */
static void put(moses *m, UChar32 c, const letter *first, const letter *last)
{
    const letter l = {c, first->start, MAX(first->start, last->end)};
    g_array_append_val(m->other, l);
    note(m, c);
}

static void put_space(moses *m, const letter *before)
{
    const letter l = {' ', before->start, before->start};
    g_array_append_val(m->other, l);
    note(m, ' ');
}

static void copy(moses *m, guint from, guint to) { g_array_append_vals(m->other, letters(m) + from, to - from); }

static void take_other(moses *m)
{
    GArray *text = m->text;
    m->text = m->other;
    m->other = text;
    g_array_set_size(m->other, 0);
}

/* ---- rules: a text where it stands between characters of some kinds, and what becomes of it ---- */

typedef enum {
    ANY, /* and none */
    DIGIT,
    NUMBER,
    NOT_NUMBER,
    ALPHABETIC,
    NOT_ALPHABETIC,
    NEITHER, /* alphabetic nor a number */
    SMALL_S,
    CLOSING
} kind;

typedef struct rule {
    kind before; /* such a character goes before, and is of no other place where the rule applies */
    const char *text, *by;
    kind after;
} rule;

static const char SPACES[] = " +"; /* as text: several spaces become one */
#define ONE_SPACE {ANY, SPACES, NULL, ANY}

static bool is_kind(const moses *m, kind k, UChar32 c)
{
    switch (k) {
    case ANY:
        return true;
    case DIGIT:
        return is_digit(c);
    case NUMBER:
        return is_number(c);
    case NOT_NUMBER:
        return !is_number(c);
    case ALPHABETIC:
        return is_alphabetic(m, c);
    case NOT_ALPHABETIC:
        return !is_alphabetic(m, c);
    case NEITHER:
        return !is_alphabetic(m, c) && !is_number(c);
    case SMALL_S:
        return c == 's';
    default:
        return c != 0 && c < 0x80 && strchr(".!:?;,", c) != NULL;
    }
}

enum { LONGEST = 8 }; /* characters of a rule's text */

static guint decode(const char *text, UChar32 characters[LONGEST])
{
    guint n = 0;
    for (int32_t at = 0; text[at] != '\0' && n < LONGEST; n++)
        U8_NEXT_UNSAFE(text, at, characters[n]);
    return n;
}

/* Does the rule apply to the n characters at text[at]? taken: characters in front of it that are not free. */
static bool applies(const moses *m, const rule *r, const UChar32 *find, guint n, guint at, guint taken)
{
    const letter *text = letters(m);
    for (guint i = 0; i < n; i++)
        if (text[at + i].c != find[i])
            return false;
    return (r->before == ANY ? at >= taken : at > taken && is_kind(m, r->before, text[at - 1].c)) &&
           (r->after == ANY || (at + n < m->text->len && is_kind(m, r->after, text[at + n].c)));
}

static void apply(moses *m, const rule *r)
{
    UChar32 find[LONGEST], by[LONGEST];
    const guint n = decode(r->text, find), made = decode(r->by, by), all = m->text->len;
    for (guint i = 0; i < n; i++)
        if (!may_have(m, find[i]))
            return;
    guint copied = 0, taken = 0;
    for (guint at = 0; at + n <= all; at++) {
        if (!applies(m, r, find, n, at, taken))
            continue;
        copy(m, copied, at);
        for (guint i = 0; i < made; i++)
            put(m, by[i], &letters(m)[at], &letters(m)[at + n - 1]);
        copied = at + n;
        taken = copied + (r->after != ANY);
        at = copied - 1;
    }
    if (copied > 0) {
        copy(m, copied, all);
        take_other(m);
    }
}

static void make_one_space(moses *m)
{
    letter *text = letters(m);
    guint n = 0;
    for (guint i = 0; i < m->text->len; i++)
        if (n == 0 || text[i].c != ' ' || text[n - 1].c != ' ')
            text[n++] = text[i];
    g_array_set_size(m->text, n);
}

static void apply_all(moses *m, const rule *rules, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rules[i].text == SPACES)
            make_one_space(m);
        else
            apply(m, &rules[i]);
}

#define APPLY(RULES) apply_all(m, RULES, G_N_ELEMENTS(RULES))

/* White space at the ends is left out. */
static void strip(moses *m)
{
    guint first = 0, n = m->text->len;
    while (n > 0 && u_isUWhiteSpace(letters(m)[n - 1].c))
        n--;
    while (first < n && u_isUWhiteSpace(letters(m)[first].c))
        first++;
    g_array_set_size(m->text, n);
    g_array_remove_range(m->text, 0, first);
}

/* ---- steps 1 to 4 ---- */

/* Step 1. White space behind full stops of CJK becomes one space. */
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
        const letter *l = &letters(m)[i];
        const char *by = NULL;
        for (size_t k = 0; k < G_N_ELEMENTS(marks) && by == NULL && l->c >= 0x2019 - 4; k++)
            by = marks[k].c == l->c ? marks[k].by : NULL;
        if (l->c >= 0xFF10 && l->c <= 0xFF19)
            put(m, l->c - 0xFF10 + '0', l, l);
        else if (by == NULL)
            g_array_append_val(m->other, *l);
        for (; by != NULL && *by != '\0'; by++)
            put(m, *by, l, l);
        while ((l->c == 0x3002 || l->c == 0xFF0E) && i + 1 < n && u_isUWhiteSpace(letters(m)[i + 1].c))
            i++;
    }
    take_other(m);
}

/* English: `",` becomes `,"`, and the same with full stops. */
static void put_marks_inside(moses *m)
{
    letter *text = letters(m);
    if (!may_have(m, '"'))
        return;
    for (guint i = 0; i + 1 < m->text->len; i++) {
        const letter quote = text[i];
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
    letter *text = letters(m);
    const guint n = m->text->len;
    if (!may_have(m, '"'))
        return;
    for (guint i = 0; i < n; i++) {
        guint end = i;
        while (end < n && text[end].c == '.')
            end++;
        if (end == i)
            continue;
        if (end + 1 < n && text[end].c == '"' && text[end + 1].c != '<') {
            const letter quote = text[end];
            memmove(&text[i + 1], &text[i], (end - i) * sizeof *text);
            text[i] = quote;
            /* White space behind it, and the character behind that, are of no other such place. */
            for (end++; end < n && u_isUWhiteSpace(text[end].c);)
                end++;
            end += end < n && text[end].c != '<';
        }
        i = end - 1;
    }
}

static bool speaks(const moses *m, const char *languages)
{
    const size_t n = strlen(m->language);
    for (const char *at = languages; *at != '\0'; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == n && strncmp(at, m->language, n) == 0)
            return true;
    return false;
}

/* Step 2. */
static void normalise_punctuation(moses *m)
{
    static const rule rules[] = {
        {ANY, "\r", "", ANY}, {ANY, "(", " (", ANY}, {ANY, ")", ") ", ANY}, ONE_SPACE, {ANY, ") ", ")", CLOSING},
        {ANY, "( ", "(", ANY}, {ANY, " )", ")", ANY}, {DIGIT, " %", "%", ANY}, {ANY, " :", ":", ANY}, {ANY, " ;", ";", ANY},
        {ANY, "`", "'", ANY}, {ANY, "''", " \" ", ANY}, {ANY, "\u201e", "\"", ANY}, {ANY, "\u201c", "\"", ANY},
        {ANY, "\u201d", "\"", ANY}, {ANY, "\u2013", "-", ANY}, {ANY, "\u2014", " - ", ANY}, ONE_SPACE,
        {ANY, "\u00b4", "'", ANY}, {ANY, "\u2018", "'", ANY}, {ANY, "\u201a", "'", ANY}, {ANY, "\u2019", "'", ANY},
        {ANY, "''", "\"", ANY}, {ANY, "\u2026", "...", ANY}, {ANY, "\u00a0\u00ab\u00a0", "\"", ANY},
        {ANY, "\u00ab\u00a0", "\"", ANY}, {ANY, "\u00ab", "\"", ANY}, {ANY, "\u00a0\u00bb\u00a0", "\"", ANY},
        {ANY, "\u00a0\u00bb", "\"", ANY}, {ANY, "\u00bb", "\"", ANY}, {ANY, "\u00a0%", "%", ANY},
        {ANY, "n\u00ba\u00a0", "n\u00ba ", ANY}, {ANY, "\u00a0:", ":", ANY}, {ANY, "\u00a0\u00ba" "C", " \u00ba" "C", ANY},
        {ANY, "\u00a0cm", " cm", ANY}, {ANY, "\u00a0?", "?", ANY}, {ANY, "\u00a0!", "!", ANY}, {ANY, "\u00a0;", ";", ANY},
        {ANY, ",\u00a0", ", ", ANY}, ONE_SPACE};
    static const rule comma_outside[] = {{ANY, ",\"", "\",", ANY}};
    static const rule decimal_comma[] = {{DIGIT, "\u00a0", ",", DIGIT}}, decimal_point[] = {{DIGIT, "\u00a0", ".", DIGIT}};
    APPLY(rules);
    if (speaks(m, "en"))
        put_marks_inside(m);
    if (speaks(m, "de es fr")) {
        APPLY(comma_outside);
        put_full_stops_outside(m);
    }
    if (speaks(m, "de es cz cs fr"))
        APPLY(decimal_comma);
    else
        APPLY(decimal_point);
    strip(m);
}

/* Step 3. */
static void leave_out_hidden(moses *m)
{
    letter *text = letters(m);
    guint n = 0;
    for (guint i = 0; i < m->text->len; i++)
        if ((U_GET_GC_MASK(text[i].c) & U_GC_C_MASK) == 0)
            text[n++] = text[i];
    g_array_set_size(m->text, n);
}

/* Step 4. */
static void simplify_romanian(moses *m)
{
    static const UChar32 pairs[][2] = {{0x15E, 'S'}, {0x15F, 's'}, {0x162, 'T'}, {0x163, 't'}, {0x218, 'S'}, {0x219, 's'},
                                       {0x21A, 'T'}, {0x21B, 't'}, {0x102, 'A'}, {0x103, 'a'}, {0xC2, 'A'},  {0xE2, 'a'},
                                       {0xCE, 'I'},  {0xEE, 'i'}};
    letter *text = letters(m);
    for (guint i = 0; i < m->text->len; i++)
        for (size_t k = 0; k < G_N_ELEMENTS(pairs); k++)
            if (text[i].c == pairs[k][0])
                text[i].c = pairs[k][1];
}

/* ---- steps 5 to 7 ---- */

/* Step 5; and white space becomes single spaces, none at the ends. */
static void part_symbols(moses *m)
{
    letter *text = letters(m);
    for (guint i = 0; i < m->text->len; i++)
        if (u_isUWhiteSpace(text[i].c))
            text[i].c = ' ';
    make_one_space(m);
    strip(m);
    text = letters(m);
    for (guint i = 0; i < m->text->len; i++) {
        const letter *l = &text[i];
        const bool apart = l->c != ' ' && !stays_in_word(m, l->c);
        const letter end = {' ', l->end, l->end};
        if (apart)
            put_space(m, l);
        g_array_append_val(m->other, *l);
        if (apart)
            g_array_append_val(m->other, end);
    }
    note(m, ' ');
    take_other(m);
}

static void part_full_stops(moses *m)
{
    const letter *text = letters(m);
    const guint n = m->text->len;
    if (!may_have(m, '.'))
        return;
    for (guint i = 0, end; i < n; i = end) {
        for (end = i; end < n && text[end].c == '.';)
            end++;
        if (end < i + 2) {
            end = i + 1;
            g_array_append_val(m->other, text[i]);
            continue;
        }
        put_space(m, &text[i]);
        for (guint k = i; k < end; k++)
            put(m, ONE_OF_FULL_STOPS, &text[k], &text[k]);
        if (end < n)
            put_space(m, &text[end]);
    }
    take_other(m);
}

static void part_commas(moses *m)
{
    static const rule rules[] = {{NOT_NUMBER, ",", " , ", ANY}, {ANY, ",", " , ", NOT_NUMBER}};
    APPLY(rules);
    const guint n = m->text->len;
    if (n < 2 || letters(m)[n - 1].c != ',' || !is_number(letters(m)[n - 2].c))
        return;
    const letter comma = letters(m)[n - 1], space = {' ', comma.start, comma.start};
    letters(m)[n - 1] = space;
    g_array_append_val(m->text, comma);
}

static void part_apostrophes(moses *m)
{
    static const rule english[] = {{NOT_ALPHABETIC, "'", " ' ", NOT_ALPHABETIC}, {NEITHER, "'", " ' ", ALPHABETIC},
                                   {ALPHABETIC, "'", " ' ", NOT_ALPHABETIC}, {ALPHABETIC, "'", " '", ALPHABETIC},
                                   {NUMBER, "'", " '", SMALL_S}};
    static const rule french[] = {{NOT_ALPHABETIC, "'", " ' ", NOT_ALPHABETIC}, {NOT_ALPHABETIC, "'", " ' ", ALPHABETIC},
                                  {ALPHABETIC, "'", " ' ", NOT_ALPHABETIC}, {ALPHABETIC, "'", "' ", ALPHABETIC}};
    static const rule others[] = {{ANY, "'", " ' ", ANY}};
    if (speaks(m, "en"))
        APPLY(english);
    else if (speaks(m, "fr it"))
        APPLY(french);
    else
        APPLY(others);
}

/* Is text[start, end), a word without its full stop, one that keeps it, where `next` begins the word behind it (0: none)? */
static bool keeps_full_stop(moses *m, guint start, guint end, UChar32 next)
{
    const letter *text = letters(m);
    bool stop = false, alphabetic = false;
    g_string_truncate(m->bytes, 0);
    for (guint i = start; i < end; i++) {
        stop = stop || text[i].c == '.';
        alphabetic = alphabetic || is_alphabetic(m, text[i].c);
        g_string_append_unichar(m->bytes, (gunichar)text[i].c);
    }
    void *numeric;
    const bool listed = g_hash_table_lookup_extended(m->listed, m->bytes->str, NULL, &numeric);
    return (stop && alphabetic) || (next != 0 && u_hasBinaryProperty(next, UCHAR_LOWERCASE)) ||
           (listed && (!GPOINTER_TO_INT(numeric) || (next >= '0' && next <= '9')));
}

/* What is left of step 6: `.'` at the end of a line. */
static void part_last_quote(moses *m)
{
    const guint n = m->text->len;
    if (n < 2 || letters(m)[n - 1].c != '\'' || letters(m)[n - 2].c != '.')
        return;
    const letter quote = letters(m)[n - 1], stop = letters(m)[n - 2];
    copy(m, 0, n - 2);
    put_space(m, &stop);
    g_array_append_val(m->other, stop);
    put_space(m, &quote);
    g_array_append_val(m->other, quote);
    take_other(m);
}

/* Step 7. */
static void cut_full_stops(moses *m)
{
    make_one_space(m);
    strip(m);
    const guint n = m->text->len;
    for (guint start = 0, end; start < n; start = end + 1) {
        for (end = start; end < n && letters(m)[end].c != ' ';)
            end++;
        const letter *text = letters(m);
        const bool cut = end > start + 1 && text[end - 1].c == '.' &&
                         !keeps_full_stop(m, start, end - 1, end + 1 < n ? text[end + 1].c : 0);
        copy(m, start, cut ? end - 1 : end);
        if (cut) {
            put_space(m, &text[end - 1]);
            copy(m, end - 1, end);
        }
        if (end < n)
            put_space(m, &text[end + 1]);
    }
    take_other(m);
}

/* ---- words by ICU ---- */

static void split(moses *m)
{
    letter *text = letters(m);
    for (guint i = 0; i < m->text->len; i++)
        if (u_isUWhiteSpace(text[i].c))
            text[i].c = ' ';
    make_one_space(m);
    strip(m);
    g_string_truncate(m->bytes, 0);
    for (guint i = 0; i < m->text->len; i++)
        g_string_append_unichar(m->bytes, (gunichar)letters(m)[i].c);
    size_t n;
    guint i = 0;
    const xlm_word *words = xlm_splitter_split(m->splitter, m->bytes->str, m->bytes->len, &n);
    for (size_t k = 0, at = 0; k < n; k++) {
        for (; at < words[k].start; i++)
            at += (size_t)U8_LENGTH(letters(m)[i].c);
        if (k > 0)
            put_space(m, &letters(m)[i]);
        for (const size_t end = at + words[k].size; at < end; i++) {
            at += (size_t)U8_LENGTH(letters(m)[i].c);
            g_array_append_val(m->other, letters(m)[i]);
        }
    }
    take_other(m);
}

/* ---- step 8 ---- */

static bool is_ignored_by_case(UChar32 c) { return u_hasBinaryProperty(c, UCHAR_CASE_IGNORABLE); }

/* Unicode's Final_Sigma: a cased letter before it, none behind it, passing over what case ignores. */
static bool is_final(const moses *m, guint at)
{
    const letter *text = letters(m);
    guint before = at, after = at + 1;
    while (before > 0 && is_ignored_by_case(text[before - 1].c))
        before--;
    while (after < m->text->len && is_ignored_by_case(text[after].c))
        after++;
    return before > 0 && u_hasBinaryProperty(text[before - 1].c, UCHAR_CASED) &&
           !(after < m->text->len && u_hasBinaryProperty(text[after].c, UCHAR_CASED));
}

/* Marks go, so the order of Form D and the dot that lower case puts on a Turkish i do not matter. */
static void fold(moses *m)
{
    static const UChar32 SIGMA = 0x3A3, FINAL_SIGMA = 0x3C2;
    const letter *text = letters(m);
    for (guint i = 0; i < m->text->len; i++) {
        const UChar32 small = text[i].c == SIGMA && is_final(m, i) ? FINAL_SIGMA : u_tolower(text[i].c);
        UChar parts[32];
        UErrorCode status = U_ZERO_ERROR;
        const int32_t n = small < 0x80 ? -1 : unorm2_getDecomposition(m->form_d, small, parts, G_N_ELEMENTS(parts), &status);
        if (n < 0 && (small < 0x80 || u_charType(small) != U_NON_SPACING_MARK))
            put(m, small, &text[i], &text[i]);
        for (int32_t at = 0; at < n;) {
            UChar32 c;
            U16_NEXT_UNSAFE(parts, at, c);
            if (u_charType(c) != U_NON_SPACING_MARK)
                put(m, u_tolower(c), &text[i], &text[i]);
        }
    }
    take_other(m);
    make_one_space(m); /* a word of marks alone is none */
    strip(m);
}

/* ---- the normaliser ---- */

static void append_words(void *state, const char *line, size_t size, GString *out, GArray *origins)
{
    moses *m = state;
    read_line(m, line, size);
    replace_punctuation(m);
    normalise_punctuation(m);
    leave_out_hidden(m);
    if (m->splitter != NULL) {
        split(m);
    } else {
        if (speaks(m, "ro"))
            simplify_romanian(m);
        part_symbols(m);
        part_full_stops(m);
        part_commas(m);
        part_apostrophes(m);
        cut_full_stops(m);
        part_last_quote(m);
    }
    if (m->lower)
        fold(m);
    make_one_space(m);
    strip(m);
    for (guint i = 0; i < m->text->len; i++) {
        const letter *l = &letters(m)[i];
        const UChar32 c = l->c == ONE_OF_FULL_STOPS ? '.' : l->c;
        g_string_append_unichar(out, (gunichar)c);
        const xlm_origin origin = {l->start, l->end};
        for (int k = U8_LENGTH(c); origins != NULL && k > 0; k--)
            g_array_append_val(origins, origin);
    }
}

/* Words that are often written with a full stop in English; those of one capital letter are, too. */
static const char ENGLISH[] =
    "Adj Adm Adv Asst Bart Bldg Brig Bros Capt Cmdr Col Comdr Con Corp Cpl DR Dr Drs Ens Gen Gov Hon Hr Hosp Insp Lt MM MR MRS "
    "MS Maj Messrs Mlle Mme Mr Mrs Ms Msgr Op Ord Pfc Ph Prof Pvt Rep Reps Res Rev Rt Sen Sens Sfc Sgt Sr St Supt Surg v vs i.e "
    "rev e.g Rs Nos Nr Jan Feb Mar Apr Jun Jul Aug Sep Oct Nov Dec A B C D E F G H I J K L M N O P Q R S T U V W X Y Z";
static const char ENGLISH_NUMERIC[] = "No Art pp";

static void list_words(moses *m, const char *words, bool numeric)
{
    char **all = g_strsplit(words, " ", -1);
    for (char **word = all; *word != NULL; word++)
        g_hash_table_insert(m->listed, g_strdup(*word), GINT_TO_POINTER(numeric));
    g_strfreev(all);
}

/* False: there is no list of the language. */
static bool list_given(moses *m, const char *language)
{
    static const char NUMERIC[] = "#NUMERIC_ONLY#";
    const size_t n = strlen(language);
    bool any = false;
    for (guint i = 0; m->abbreviations != NULL && i < m->abbreviations->len; i++) {
        const char *line = m->abbreviations->pdata[i];
        if (strncmp(line, language, n) != 0 || line[n] != ' ')
            continue;
        any = true;
        const char *mark = strstr(line, NUMERIC);
        char *word = g_strndup(line + n + 1, mark != NULL ? (size_t)(mark - line) - n - 1 : strlen(line));
        g_strstrip(word);
        g_hash_table_insert(m->listed, word, GINT_TO_POINTER(mark != NULL));
    }
    return any;
}

static bool set_language(void *state, const char *language, GError **error)
{
    moses *m = state;
    if (strcmp(m->name, language) == 0)
        return true;
    const bool none = *language == '\0' || strcmp(language, "und") == 0;
    char *first = g_ascii_strdown(none ? "en" : language, none ? -1 : (gssize)strcspn(language, "-_"));
    g_strlcpy(m->language, first, sizeof m->language);
    g_free(first);
    m->korean = speaks(m, "ko");
    g_hash_table_remove_all(m->listed);
    if (!list_given(m, m->language) && !list_given(m, "en")) {
        list_words(m, ENGLISH, false);
        list_words(m, ENGLISH_NUMERIC, true);
    }
    xlm_splitter_free(m->splitter);
    m->splitter = NULL;
    g_free(m->name);
    m->name = g_strdup(language);
    if (speaks(m, "zh ja th"))
        return (m->splitter = xlm_splitter_new(XLM_WORDS_ICU, m->language, error)) != NULL;
    return true;
}

static void free_state(void *state)
{
    moses *m = state;
    g_free(m->name);
    g_hash_table_unref(m->listed);
    xlm_splitter_free(m->splitter);
    g_array_free(m->text, TRUE);
    g_array_free(m->other, TRUE);
    g_string_free(m->bytes, TRUE);
    g_free(m);
}

xlm_normaliser *xlm_moses_normaliser(bool lower, const GPtrArray *abbreviations)
{
    static const xlm_normaliser_form form = {.append_located = append_words, .set_language = set_language, .free = free_state};
    UErrorCode status = U_ZERO_ERROR;
    moses *m = g_new0(moses, 1);
    m->lower = lower;
    m->abbreviations = abbreviations;
    m->name = g_strdup("?");
    m->listed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    m->form_d = unorm2_getNFDInstance(&status);
    if (U_FAILURE(status))
        g_error("ICU cannot normalise text (%s); is its data installed?", u_errorName(status));
    m->text = g_array_new(FALSE, FALSE, sizeof(letter));
    m->other = g_array_new(FALSE, FALSE, sizeof(letter));
    m->bytes = g_string_new(NULL);
    set_language(m, "", NULL); /* which needs no rules of ICU */
    return xlm_normaliser_new_with(&form, m);
}
