/* xlm-mpi: the text rules of ALBERT's tokenizer, before and after SentencePiece. SPDX-License-Identifier: GPL-3.0-or-later */
#include "sentencepiece/albert.h"

#include <string.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

static const char SPACE[] = "\xe2\x96\x81"; /* U+2581, before a word */

/* ---- lines ---- */

typedef struct writer {
    const xlm_albert_text *rules;
    const char *text;
    int32_t size;
    GString *out;
    GArray *origins; /* NULL: not needed */
    bool visible;    /* a visible character was written */
} writer;

static void put(writer *w, UChar32 c, xlm_origin origin)
{
    const bool white = u_isUWhiteSpace(c);
    w->visible = w->visible || !(white || (U_GET_GC_MASK(c) & U_GC_C_MASK) != 0);
    g_string_append_unichar(w->out, (gunichar)c);
    xlm_origins_add(w->origins, U8_LENGTH(c), white ? origin.end : origin.start, origin.end);
}

/* Is Unicode's condition Final_Sigma true for the character of `length` bytes at text[at]? */
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

/* Is the character kept when accents are removed? */
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
    else if (n < 0)
        xlm_origins_widen(w->origins, origin.start, origin.end);
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
    bool space = false; /* write a space before the next character */
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
    static const xlm_normaliser_form form = {.append = append_line};
    return xlm_normaliser_new_with(&form, (void *)(uintptr_t)rules);
}

/* ---- pieces ---- */

/* Does the piece end in a digit and a comma? Digits are Python's, which include superscripts. */
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

/* Append to `all` the pieces that a piece, bytes [start, end) of normal, becomes. */
static void append_piece(xlm_cut *all, const char *piece, size_t size, const char *normal, const xlm_origin *origins, uint32_t n)
{
    if (all->pieces->len > 0)
        g_string_append_c(all->pieces, ' ');
    g_string_append_len(all->pieces, piece, (gssize)size);
    if (all->normal == NULL)
        return;
    g_string_append_len(all->normal, normal, n);
    g_array_append_vals(all->origins, origins, n);
    const uint32_t end = (uint32_t)all->normal->len;
    g_array_append_val(all->ends, end);
}

/* A piece without its comma. */
typedef struct rest {
    GString *text;
    GArray *origins; /* xlm_origin of each byte; NULL: not needed */
    bool begins;     /* a word */
} rest;

static rest rest_of(const char *piece, size_t size, const xlm_origin *origins)
{
    const size_t mark = strlen(SPACE);
    rest r = {.text = g_string_new(NULL), .begins = size >= mark && memcmp(piece, SPACE, mark) == 0,
              .origins = origins != NULL ? g_array_new(FALSE, FALSE, sizeof(xlm_origin)) : NULL};
    for (size_t at = 0, step; at < size; at += step) {
        const bool skip = size - at >= mark && memcmp(piece + at, SPACE, mark) == 0;
        step = skip ? mark : 1;
        if (!skip)
            g_string_append_c(r.text, piece[at]);
        if (!skip && origins != NULL)
            g_array_append_val(r.origins, origins[at]);
    }
    return r;
}

/* Convert bytes of the rest to bytes of its line. */
static void move_origins(const rest *r, GArray *origins)
{
    const xlm_origin *from = (const xlm_origin *)(const void *)r->origins->data;
    for (guint i = 0; i < origins->len; i++) {
        xlm_origin *o = &g_array_index(origins, xlm_origin, i);
        if (o->start < o->end)
            *o = xlm_origins_join(from + o->start, o->end - o->start);
        else if (o->start < r->origins->len)
            o->start = o->end = from[o->start].start;
        else
            o->start = o->end = from[r->origins->len - 1].end;
    }
}

/* Append a piece without its comma, cut again. A piece inside a word gets no mark of the beginning of a word. */
static bool cut_again(const char *piece, size_t size, const xlm_origin *origins, xlm_albert_cut *cut_text, const void *model,
                      xlm_cut *all)
{
    rest r = rest_of(piece, size, origins);
    xlm_cut *cut = xlm_cut_new(origins != NULL);
    const bool good = cut_text(model, r.text->str, r.text->len, cut);
    if (good && origins != NULL)
        move_origins(&r, cut->origins);
    uint32_t start = 0;
    for (size_t at = 0, end, i = 0; good && at < cut->pieces->len; at = end + 1, i++) {
        const char *space = memchr(cut->pieces->str + at, ' ', cut->pieces->len - at);
        end = space != NULL ? (size_t)(space - cut->pieces->str) : cut->pieces->len;
        const uint32_t stop = origins != NULL ? g_array_index(cut->ends, uint32_t, i) : 0;
        const uint32_t skip = i == 0 && !r.begins && g_str_has_prefix(cut->pieces->str, SPACE) ? (uint32_t)strlen(SPACE) : 0;
        if (end - at > skip)
            append_piece(all, cut->pieces->str + at + skip, end - at - skip,
                         origins != NULL ? cut->normal->str + start + skip : NULL,
                         origins != NULL ? &g_array_index(cut->origins, xlm_origin, start + skip) : NULL, stop - start - skip);
        start = stop;
    }
    g_string_free(r.text, TRUE);
    if (r.origins != NULL)
        g_array_unref(r.origins);
    xlm_cut_free(cut);
    return good;
}

bool xlm_albert_cut_commas(xlm_cut *cut, xlm_albert_cut *cut_text, const void *model)
{
    const bool located = cut->normal != NULL;
    xlm_cut *all = xlm_cut_new(located);
    bool good = true;
    uint32_t start = 0;
    for (size_t at = 0, end, i = 0; good && at < cut->pieces->len; at = end + 1, i++) {
        const char *piece = cut->pieces->str + at, *space = memchr(piece, ' ', cut->pieces->len - at);
        end = space != NULL ? (size_t)(space - cut->pieces->str) : cut->pieces->len;
        const size_t size = end - at;
        const uint32_t stop = located ? g_array_index(cut->ends, uint32_t, i) : 0;
        const char *normal = located ? cut->normal->str + start : NULL;
        const xlm_origin *origins = located ? &g_array_index(cut->origins, xlm_origin, start) : NULL;
        if (xlm_albert_cuts_again(piece, size)) {
            good = cut_again(piece, size - 1, origins, cut_text, model, all);
            append_piece(all, ",", 1, ",", located ? origins + size - 1 : NULL, 1);
        } else {
            append_piece(all, piece, size, normal, origins, stop - start);
        }
        start = stop;
    }
    const xlm_cut before = *cut;
    *cut = *all;
    *all = before;
    xlm_cut_free(all);
    return good;
}
