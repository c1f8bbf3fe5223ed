/* xlm-mpi: the rules of text of ALBERT's tokenizer around SentencePiece. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/sentencepiece_albert.h"

#include <string.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

static const char SPACE[] = "\xe2\x96\x81"; /* U+2581, in front of a word */

/* ---- lines ---- */

typedef struct writer {
    const xlm_albert_text *rules;
    const char *text;
    int32_t size;
    GString *out;
    GArray *origins; /* NULL: nobody asks */
    bool visible;    /* a character was written that can be seen */
} writer;

static void put(writer *w, UChar32 c, xlm_origin origin)
{
    w->visible = w->visible || !(u_isUWhiteSpace(c) || (U_GET_GC_MASK(c) & U_GC_C_MASK) != 0);
    g_string_append_unichar(w->out, (gunichar)c);
    for (int k = U8_LENGTH(c); w->origins != NULL && k > 0; k--)
        g_array_append_val(w->origins, origin);
}

/* Unicode's Final_Sigma, of the character at text[at] of `length` bytes. */
static bool is_final(const writer *w, int32_t at, int32_t length)
{
    int32_t before = at, after = at + length;
    UChar32 c = 0;
    while (before > 0) {
        U8_PREV_UNSAFE(w->text, before, c);
        if (!u_hasBinaryProperty(c, UCHAR_CASE_IGNORABLE))
            break;
    }
    if (!u_hasBinaryProperty(c, UCHAR_CASED))
        return false;
    for (c = 0; after < w->size;) {
        U8_NEXT_UNSAFE(w->text, after, c);
        if (!u_hasBinaryProperty(c, UCHAR_CASE_IGNORABLE))
            break;
    }
    return !u_hasBinaryProperty(c, UCHAR_CASED);
}

static void put_lower(writer *w, UChar32 c, xlm_origin origin)
{
    static const UChar32 SIGMA = 0x3A3, FINAL_SIGMA = 0x3C2, TURKISH_I = 0x130, DOT = 0x307;
    if (!w->rules->lower)
        put(w, c, origin);
    else if (c == SIGMA && !w->rules->fast && is_final(w, (int32_t)origin.start, (int32_t)(origin.end - origin.start)))
        put(w, FINAL_SIGMA, origin);
    else
        put(w, u_tolower(c), origin);
    if (w->rules->lower && c == TURKISH_I)
        put(w, DOT, origin);
}

/* Does the character stay where accents go? */
static bool is_base(const writer *w, UChar32 c)
{
    return w->rules->fast ? (U_GET_GC_MASK(c) & U_GC_M_MASK) == 0 : u_getCombiningClass(c) == 0;
}

static void put_character(writer *w, const UNormalizer2 *form_kd, UChar32 c, xlm_origin origin)
{
    UChar parts[64];
    UErrorCode status = U_ZERO_ERROR;
    const int32_t n = w->rules->keep_accents || c < 0x80
                          ? -1
                          : unorm2_getDecomposition(form_kd, c, parts, G_N_ELEMENTS(parts), &status);
    if (n < 0 && (w->rules->keep_accents || is_base(w, c)))
        put_lower(w, c, origin);
    for (int32_t at = 0; at < n;) {
        U16_NEXT_UNSAFE(parts, at, c);
        if (is_base(w, c))
            put_lower(w, c, origin);
    }
}

static void append_line(void *state, const char *text, size_t size, GString *out, GArray *origins)
{
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2 *form_kd = unorm2_getNFKDInstance(&status);
    const size_t before = out->len;
    if (U_FAILURE(status))
        g_error("ICU cannot normalise text (%s); is its data installed?", u_errorName(status));
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
        size--;
    writer w = {state, text, (int32_t)size, out, origins, false};
    bool space = false; /* one is due before the next character */
    for (int32_t at = 0; at < w.size;) {
        xlm_origin origin = {.start = (uint32_t)at};
        UChar32 c;
        U8_NEXT_UNSAFE(text, at, c);
        if (w.rules->remove_space && u_isUWhiteSpace(c)) {
            space = out->len > before;
            continue;
        }
        if ((c == '`' || c == '\'') && at < w.size && text[at] == (char)c) {
            c = '"';
            at++;
        }
        origin.end = (uint32_t)at;
        if (space)
            put(&w, ' ', (xlm_origin){origin.start, origin.start});
        space = false;
        put_character(&w, form_kd, c, origin);
    }
    if (w.visible)
        return;
    g_string_truncate(out, before);
    if (origins != NULL)
        g_array_set_size(origins, 0);
}

xlm_normaliser *xlm_albert_normaliser(const xlm_albert_text *rules)
{
    static const xlm_normaliser_form form = {.append_located = append_line};
    return xlm_normaliser_new_with(&form, (void *)(uintptr_t)rules);
}

/* ---- pieces ---- */

/* Does a digit, and then a comma, end the piece? What Python calls one: superscripts, too. */
bool xlm_albert_cuts_again(const char *piece, size_t size)
{
    if (size < 2 || piece[size - 1] != ',')
        return false;
    int32_t at = (int32_t)size - 1;
    UChar32 c;
    U8_PREV_UNSAFE(piece, at, c);
    const int32_t type = u_getIntPropertyValue(c, UCHAR_NUMERIC_TYPE);
    return type == U_NT_DECIMAL || type == U_NT_DIGIT;
}

/* A piece without its comma, cut again; what stood within a word gets no mark of a word's beginning. */
static void cut_again(const char *piece, size_t size, xlm_albert_cut *cut, const void *model, GString *out)
{
    GString *text = g_string_new(NULL), *pieces = g_string_new(NULL);
    const size_t mark = strlen(SPACE);
    const bool begins = size >= mark && memcmp(piece, SPACE, mark) == 0;
    for (size_t at = 0; at < size;) {
        const bool skip = size - at >= mark && memcmp(piece + at, SPACE, mark) == 0;
        if (!skip)
            g_string_append_c(text, piece[at]);
        at += skip ? mark : 1;
    }
    cut(model, text->str, text->len, pieces);
    const char *rest = pieces->str;
    if (!begins && g_str_has_prefix(rest, SPACE)) {
        rest += mark;
        rest += *rest == ' '; /* the mark was all of the first piece */
    }
    g_string_append(out, rest);
    g_string_append(out, *rest != '\0' ? " ," : ",");
    g_string_free(text, TRUE);
    g_string_free(pieces, TRUE);
}

void xlm_albert_cut_commas(const char *pieces, size_t size, xlm_albert_cut *cut, const void *model, GString *out)
{
    for (size_t at = 0, end; at < size; at = end + 1) {
        const char *space = memchr(pieces + at, ' ', size - at);
        end = space != NULL ? (size_t)(space - pieces) : size;
        if (at > 0)
            g_string_append_c(out, ' ');
        if (xlm_albert_cuts_again(pieces + at, end - at))
            cut_again(pieces + at, end - at - 1, cut, model, out);
        else
            g_string_append_len(out, pieces + at, (gssize)(end - at));
    }
}
