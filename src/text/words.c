/* xlm-mpi: normalised lines split into words. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ICU finds boundaries in all scripts, at some cost. For many characters, the rules of UAX #29 are simple: letters and digits are
 * joined, a single mark between two letters or two digits joins them, and every other character is a word by itself. Lines that
 * have only such characters are split here; tests compare the result with ICU's.
 *
 * A run of Chinese, Japanese and Korean characters is divided by ICU, with its dictionary. ICU has a boundary on both sides of a
 * run unless a character joins it there (a combining mark, or _ after katakana; such lines are left to ICU), and what it makes of
 * a run does not depend on the text around it. So equal runs are divided equally, and the result is remembered.
 *
 * ICU 72 counts @ among the letters, so that an address is one word; the versions before and after it follow UAX #29, where @ is a
 * word by itself. Vocabularies are made with the words of ICU 72, so @ is a letter here with every version of ICU. */
#include <string.h>
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/uloc.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>
#include <unicode/utext.h>

#include "text/icu.h"
#include "text/strings.h"
#include "text/words.h"

/* Sorts of characters. The sort of a mark says what it joins in the splitter's language, according to ICU. */
enum {
    COMPLEX = 0, /* leave the line to ICU */
    BLANK = 1,
    ALONE = 2,
    LETTER = 4,
    DIGIT = 8,
    LINK = 16, /* is joined with itself, letters and digits on both sides, like _ */
    MARK = 32, /* MARK | LETTER joins two letters, MARK | DIGIT two digits */
    RUN = 64,  /* Chinese, Japanese or Korean: what is between it and others of its sort is left to ICU */
};

/* Characters that have sorts; all others are COMPLEX. The second range ends with the syllables of Hangul, the third before the
 * halfwidth forms of katakana. */
static const struct {
    UChar first, end;
} ranges[] = {{0, 0x3100}, {0x3400, 0x4DC0}, {0x4E00, 0xA000}, {0xAC00, 0xD7A4}, {0xFF00, 0xFF61}};
enum { LIMIT = 0xFF61, EAST_ASIA = 0x2E80 };

/* Runs of at most so many bytes are remembered, fewer than 256, as sizes of words are kept in a byte. */
enum { LONGEST_RUN = 240 };
/* When runs take so much memory, no more of them are remembered. Those of the beginning of a text also occur later on. */
static const size_t RUN_MEMORY = (size_t)1 << 26;

struct xlm_splitter {
    xlm_word_mode mode;
    UBreakIterator *breaks;
    uint8_t sort[LIMIT];
    GArray *words; /* xlm_word */
    GArray *text;  /* UChar, scratch: what ICU splits */

    xlm_strings *runs;    /* those that are remembered */
    GArray *first;        /* uint32_t, by number of the run: where its sizes begin */
    GByteArray *sizes;    /* bytes of the words of runs */
};

const char *xlm_word_mode_name(xlm_word_mode mode) { return mode == XLM_WORDS_ICU ? "icu" : "space"; }

bool xlm_word_mode_find(const char *name, xlm_word_mode *mode)
{
    for (xlm_word_mode m = XLM_WORDS_ICU; m <= XLM_WORDS_SPACE; m++)
        if (strcmp(name, xlm_word_mode_name(m)) == 0) {
            *mode = m;
            return true;
        }
    return false;
}

/* ---- making ---- */

/* An iterator over the boundaries of words (UBRK_WORD) or sentences (UBRK_SENTENCE) by the rules of a language, which is named as
 * in xlm_splitter_new. EX_SOFTWARE when ICU has no rules. ubrk_close. */
static UBreakIterator *open_breaks(UBreakIteratorType type, const char *language, GError **error)
{
    UErrorCode status = U_ZERO_ERROR;
    char locale[ULOC_FULLNAME_CAPACITY];
    int32_t read = 0;
    if (language == NULL)
        language = "";
    uloc_forLanguageTag(language, locale, sizeof locale, &read, &status);
    if (U_FAILURE(status) || status == U_STRING_NOT_TERMINATED_WARNING || (size_t)read != strlen(language))
        g_strlcpy(locale, language, sizeof locale);
    status = U_ZERO_ERROR;
    UBreakIterator *breaks = ubrk_open(type, locale, NULL, 0, &status);
    if (U_SUCCESS(status))
        return breaks;
    xlm_error_set(error, EX_SOFTWARE, "ICU has no %s breaks for language `%s` (%s); is its data installed?",
                  type == UBRK_WORD ? "word" : "sentence", language, u_errorName(status));
    return NULL;
}

/* Is the text before, c, after one word to ICU? */
static bool is_joined(UBreakIterator *breaks, UChar before, UChar c, UChar after)
{
    UErrorCode status = U_ZERO_ERROR;
    const UChar text[] = {before, c, after};
    ubrk_setText(breaks, text, 3, &status);
    return U_SUCCESS(status) && ubrk_first(breaks) == 0 && ubrk_next(breaks) == 3;
}

/* Is it a character that can be in a run? */
static bool is_in_run(UChar c)
{
    static const UChar PROLONGED_SOUND = 0x30FC;
    UErrorCode status = U_ZERO_ERROR;
    const int32_t sort = u_getIntPropertyValue(c, UCHAR_WORD_BREAK);
    const UScriptCode script = uscript_getScript(c, &status);
    return (script == USCRIPT_HAN || script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA || c == PROLONGED_SOUND ||
            u_getIntPropertyValue(c, UCHAR_HANGUL_SYLLABLE_TYPE) >= U_HST_LV_SYLLABLE) &&
           (sort == U_WB_OTHER || sort == U_WB_KATAKANA || sort == U_WB_ALETTER);
}

static uint8_t sort_of(UBreakIterator *breaks, UChar c)
{
    if (c == ' ')
        return BLANK;
    if (c == '@')
        return LETTER;
    if (c >= EAST_ASIA && is_in_run(c))
        return RUN;
    if (u_isUWhiteSpace(c) || u_getIntPropertyValue(c, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT)
        return COMPLEX;
    switch (u_getIntPropertyValue(c, UCHAR_WORD_BREAK)) {
    case U_WB_ALETTER: return LETTER;
    case U_WB_NUMERIC: return DIGIT;
    case U_WB_EXTENDNUMLET: return LINK;
    case U_WB_MIDLETTER:
    case U_WB_MIDNUM:
    case U_WB_MIDNUMLET:
    case U_WB_SINGLE_QUOTE:
        return MARK | (is_joined(breaks, 'a', c, 'a') ? LETTER : 0) | (is_joined(breaks, '1', c, '1') ? DIGIT : 0);
    case U_WB_DOUBLE_QUOTE: /* joins only Hebrew letters, which are COMPLEX */
    case U_WB_OTHER: return is_joined(breaks, 'a', c, 'a') ? LETTER : ALONE;
    default: return COMPLEX;
    }
}

xlm_splitter *xlm_splitter_new(xlm_word_mode mode, const char *language, GError **error)
{
    UBreakIterator *breaks = NULL;
    if (mode == XLM_WORDS_ICU && (breaks = open_breaks(UBRK_WORD, language, error)) == NULL)
        return NULL;
    xlm_splitter *s = g_new0(xlm_splitter, 1);
    s->mode = mode;
    s->breaks = breaks;
    for (size_t i = 0; i < G_N_ELEMENTS(ranges) && breaks != NULL; i++)
        for (UChar c = ranges[i].first; c < ranges[i].end; c++)
            s->sort[c] = sort_of(breaks, c);
    s->words = g_array_new(FALSE, FALSE, sizeof(xlm_word));
    s->text = g_array_new(FALSE, FALSE, sizeof(UChar));
    s->runs = xlm_strings_new();
    s->first = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    s->sizes = g_byte_array_new();
    return s;
}

void xlm_splitter_free(xlm_splitter *s)
{
    if (s == NULL)
        return;
    if (s->breaks != NULL)
        ubrk_close(s->breaks);
    g_array_free(s->words, TRUE);
    g_array_free(s->text, TRUE);
    xlm_strings_free(s->runs);
    g_array_free(s->first, TRUE);
    g_byte_array_free(s->sizes, TRUE);
    g_free(s);
}

/* ---- splitting ---- */

static void add_word(xlm_splitter *s, size_t start, size_t end)
{
    const xlm_word word = {(uint32_t)start, (uint32_t)(end - start)};
    if (end > start)
        g_array_append_val(s->words, word);
}

/* Add the words of line[start, end) that are separated by spaces. */
static void split_at_spaces(xlm_splitter *s, const char *line, size_t start, size_t end)
{
    for (size_t i = start; i < end; i++)
        if (line[i] == ' ') {
            add_word(s, start, i);
            start = i + 1;
        }
    add_word(s, start, end);
}

/* Add the words of line[start, end) as ICU finds them in it. */
static void split_by_icu(xlm_splitter *s, const char *line, size_t start, size_t end)
{
    UErrorCode status = U_ZERO_ERROR;
    int32_t n;
    g_array_set_size(s->text, (guint)(end - start) + 1);
    UChar *text = (UChar *)(void *)s->text->data;
    u_strFromUTF8(text, (int32_t)(end - start) + 1, &n, line + start, (int32_t)(end - start), &status);
    for (int32_t i = 0; i < n; i++)
        if (text[i] == '@')
            text[i] = 'a'; /* what ICU does with a letter, it does with @ */
    ubrk_setText(s->breaks, text, n, &status);
    xlm_icu_demand(status);

    size_t at = start; /* in line */
    int32_t unit = ubrk_first(s->breaks), next;
    while ((next = ubrk_next(s->breaks)) != UBRK_DONE) {
        for (; unit < next; unit++) /* a surrogate pair has four bytes in UTF-8, two for each half */
            at += text[unit] < 0x80 ? 1 : text[unit] < 0x800 || U16_IS_SURROGATE(text[unit]) ? 2 : 3;
        split_at_spaces(s, line, start, at);
        start = at;
    }
}

/* Add the words of a run, line[start, end). */
static void split_run(xlm_splitter *s, const char *line, size_t start, size_t end)
{
    uint32_t run = XLM_NO_STRING;
    if (end - start <= LONGEST_RUN && xlm_strings_memory(s->runs) + s->sizes->len < RUN_MEMORY)
        run = xlm_strings_add(s->runs, line + start, end - start);
    else if (end - start <= LONGEST_RUN)
        run = xlm_strings_find(s->runs, line + start, end - start);
    if (run < s->first->len) {
        const uint8_t *size = s->sizes->data + g_array_index(s->first, uint32_t, run);
        for (; start < end; start += *size++)
            add_word(s, start, start + *size);
        return;
    }
    const guint before = s->words->len, first = s->sizes->len;
    split_by_icu(s, line, start, end);
    if (run == XLM_NO_STRING)
        return;
    g_array_append_val(s->first, first);
    for (guint i = before; i < s->words->len; i++) {
        const uint8_t size = (uint8_t)g_array_index(s->words, xlm_word, i).size;
        g_byte_array_append(s->sizes, &size, 1);
    }
}

/* The sort of the character at line[at]. [out] length: its bytes, if it is not COMPLEX. */
static inline uint8_t read_sort(const xlm_splitter *s, const unsigned char *line, size_t at, size_t size,
                                size_t *length)
{
    const uint32_t c = line[at];
    if (c < 0x80) {
        *length = 1;
        return s->sort[c];
    }
    *length = c < 0xE0 ? 2 : 3;
    if (c >= 0xF0 || size - at < *length)
        return COMPLEX;
    const uint32_t character = c < 0xE0 ? (c & 0x1F) << 6 | (line[at + 1] & 0x3F)
                                        : (c & 0x0F) << 12 | (line[at + 1] & 0x3Fu) << 6 | (line[at + 2] & 0x3F);
    return character < LIMIT ? s->sort[character] : COMPLEX;
}

/* Is a character of this sort a part of the word before it? */
static inline bool is_inside(uint8_t sort) { return (sort & (LETTER | DIGIT | LINK)) != 0 && (sort & MARK) == 0; }

/* The end of the run that begins at line[at]. [out] joined: may the next character join it? */
static size_t find_end_of_run(const xlm_splitter *s, const unsigned char *line, size_t at, size_t size, bool *joined)
{
    uint8_t sort = RUN;
    for (size_t length = 0; sort == RUN && (at += length) < size;)
        sort = read_sort(s, line, at, size, &length);
    *joined = sort == LINK;
    return at;
}

/* Split a line by sorts. False if it has a COMPLEX character, or one that may join a run; then the words that were added are
 * wrong. */
static bool split_by_sorts(xlm_splitter *s, const unsigned char *line, size_t size)
{
    size_t start = 0;     /* of the present word */
    uint8_t before = 0;   /* sort of the last character of the present word; 0: there is no word */
    size_t length, after_length;
    for (size_t at = 0; at < size; at += length) {
        const uint8_t sort = read_sort(s, line, at, size, &length);
        if (is_inside(sort)) {
            if (before == 0)
                start = at;
            before = sort;
            for (; at + length < size && line[at + length] < 0x80 && is_inside(s->sort[line[at + length]]); at++)
                before = s->sort[line[at + length]];
            continue;
        }
        if (sort == COMPLEX)
            return false;
        if (sort == RUN) {
            bool joined;
            const size_t end = find_end_of_run(s, line, at, size, &joined);
            if (joined || before == LINK)
                return false;
            if (before != 0)
                add_word(s, start, at);
            before = 0;
            split_run(s, (const char *)line, at, end);
            length = end - at;
            continue;
        }
        /* A mark with the same sort on both sides is skipped together with what is after it. */
        if (sort & MARK && before & sort & (LETTER | DIGIT) && at + length < size) {
            const uint8_t after = read_sort(s, line, at + length, size, &after_length);
            if (after == before) {
                length += after_length;
                continue;
            }
        }
        if (before != 0)
            add_word(s, start, at);
        before = 0;
        if (sort != BLANK)
            add_word(s, at, at + length);
    }
    if (before != 0)
        add_word(s, start, size);
    return true;
}

const xlm_word *xlm_splitter_split(xlm_splitter *s, const char *line, size_t size, size_t *n)
{
    g_array_set_size(s->words, 0);
    if (s->mode == XLM_WORDS_SPACE) {
        split_at_spaces(s, line, 0, size);
    } else if (!split_by_sorts(s, (const unsigned char *)line, size)) {
        g_array_set_size(s->words, 0);
        split_by_icu(s, line, 0, size);
    }
    *n = s->words->len;
    return (const xlm_word *)(const void *)s->words->data;
}

bool xlm_is_white_space(uint32_t c) { return u_isUWhiteSpace((UChar32)c) || (c >= 0x1C && c <= 0x1F); }

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

size_t xlm_word_between_blanks(const char *line, size_t size, size_t *at, const char **word)
{
    while (*at < size && is_blank(line[*at]))
        ++*at;
    const size_t begin = *at;
    while (*at < size && !is_blank(line[*at]))
        ++*at;
    *word = line + begin;
    return *at - begin;
}

/* ---- sentences ---- */

struct xlm_sentence_splitter {
    UBreakIterator *breaks;
    GArray *sentences; /* xlm_word */
};

xlm_sentence_splitter *xlm_sentence_splitter_new(const char *language, GError **error)
{
    UBreakIterator *breaks = open_breaks(UBRK_SENTENCE, language, error);
    if (breaks == NULL)
        return NULL;
    xlm_sentence_splitter *s = g_new(xlm_sentence_splitter, 1);
    *s = (xlm_sentence_splitter){breaks, g_array_new(FALSE, FALSE, sizeof(xlm_word))};
    return s;
}

void xlm_sentence_splitter_free(xlm_sentence_splitter *s)
{
    if (s == NULL)
        return;
    ubrk_close(s->breaks);
    g_array_unref(s->sentences);
    g_free(s);
}

const xlm_word *xlm_sentence_splitter_split(xlm_sentence_splitter *s, const char *text, size_t size, size_t *n, GError **error)
{
    UErrorCode status = U_ZERO_ERROR;
    UText bytes = UTEXT_INITIALIZER;
    g_array_set_size(s->sentences, 0);
    *n = 0;
    utext_openUTF8(&bytes, text, (int64_t)size, &status);
    ubrk_setUText(s->breaks, &bytes, &status);
    if (U_SUCCESS(status)) {
        int32_t start = ubrk_first(s->breaks);
        for (int32_t end; (end = ubrk_next(s->breaks)) != UBRK_DONE; start = end) {
            const xlm_word sentence = {(uint32_t)start, (uint32_t)(end - start)};
            g_array_append_val(s->sentences, sentence);
        }
    }
    utext_close(&bytes);
    if (U_FAILURE(status)) {
        xlm_error_set(error, EX_SOFTWARE, "ICU cannot find the sentences of a text: %s", u_errorName(status));
        return NULL;
    }
    *n = s->sentences->len;
    return (const xlm_word *)(void *)s->sentences->data;
}
