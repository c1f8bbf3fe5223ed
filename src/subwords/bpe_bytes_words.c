/* xlm-mpi: lines into the words of byte-level BPE. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Added tokens (subwords/added_tokens.h) are found first, and are words of their own. What is between them is brought into Form
 * C if the tokenizer does so, and is cut by the first of these patterns that matches: 's 't 're 've 'm 'll 'd; an optional space
 * and then letters (category L), or numbers (N), or characters that are neither these nor white space; white space, without its
 * last character if something follows. A word becomes its bytes, each written as a visible character: visible characters of ASCII
 * and Latin-1 are kept, the other bytes become U+0100 and following, in their order. A space is U+0120, so most words begin with
 * it. */
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>
#include <unicode/utf8.h>

#include "subwords/bpe_bytes.h"
#include "text/icu.h"

/* ---- bytes as letters ---- */

int32_t xlm_byte_letter(unsigned char byte)
{
    static const int hidden[][2] = {{0, 32}, {127, 160}, {173, 173}};
    int32_t c = 256;
    for (size_t i = 0; i < G_N_ELEMENTS(hidden); i++) {
        if (byte < hidden[i][0])
            return byte;
        if (byte <= hidden[i][1])
            return c + byte - hidden[i][0];
        c += hidden[i][1] - hidden[i][0] + 1;
    }
    return byte;
}

int xlm_byte_of_letter(int32_t letter)
{
    for (int byte = 0; byte < 256; byte++)
        if (xlm_byte_letter((unsigned char)byte) == letter)
            return byte;
    return -1;
}

/* ---- kinds of characters ---- */

typedef enum { NOTHING, WHITE, LETTER, NUMBER, OTHER } kind;

/* [out] end: the byte after the character at `at`. */
static kind kind_at(const char *text, int32_t size, int32_t at, int32_t *end)
{
    UChar32 c;
    *end = at;
    if (at >= size)
        return NOTHING;
    U8_NEXT_UNSAFE(text, *end, c);
    const uint32_t category = U_GET_GC_MASK(c);
    return u_isUWhiteSpace(c) ? WHITE : category & U_GC_L_MASK ? LETTER : category & U_GC_N_MASK ? NUMBER : OTHER;
}

/* The end of the run of characters of the same kind as the one at `at`. [out] last: where its last character begins. */
static int32_t skip(const char *text, int32_t size, int32_t at, int32_t *last)
{
    int32_t end;
    const kind first = kind_at(text, size, at, &end);
    *last = at;
    for (int32_t next; kind_at(text, size, end, &next) == first; end = next)
        *last = end;
    return end;
}

static int32_t word_end(const char *text, int32_t size, int32_t at)
{
    static const char *const endings[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
        const int32_t n = (int32_t)strlen(endings[i]);
        if (size - at >= n && memcmp(text + at, endings[i], (size_t)n) == 0)
            return at + n;
    }
    int32_t end, last;
    const kind first = kind_at(text, size, at, &end);
    if (first != WHITE)
        return skip(text, size, at, &last);
    if (text[at] == ' ') {
        const kind next = kind_at(text, size, at + 1, &end);
        if (next != WHITE && next != NOTHING)
            return skip(text, size, at + 1, &last);
    }
    end = skip(text, size, at, &last);
    return end < size && last > at ? last : end;
}

/* ---- words ---- */

/* A part of a line. origins: of each byte, the bytes of the line that its character comes from; NULL: they are not needed. */
typedef struct part {
    const char *text;
    size_t size;
    const xlm_origin *origins;
} part;

/* What is made of a line. */
typedef struct writer {
    const xlm_byte_merges *model;
    GString *out;
    GArray *origins; /* xlm_origin of each byte of out; NULL: they are not needed */
} writer;

static part part_of(part whole, size_t begin, size_t end)
{
    return (part){whole.text + begin, end - begin, whole.origins != NULL ? whole.origins + begin : NULL};
}

/* Begin a word whose first byte comes from this part. */
static void separate(writer *w, part p)
{
    if (w->out->len == 0)
        return;
    g_string_append_c(w->out, ' ');
    if (w->origins != NULL)
        xlm_origins_add(w->origins, 1, p.origins[0].start, p.origins[0].start);
}

/* Append a text with its origin, which is empty for white space. */
static void put(writer *w, const char *text, size_t size, const xlm_origin *origin, bool white)
{
    g_string_append_len(w->out, text, (gssize)size);
    if (w->origins != NULL)
        xlm_origins_add(w->origins, size, white ? origin->end : origin->start, origin->end);
}

static void put_token(writer *w, const xlm_added_token *token, part p)
{
    separate(w, p);
    for (size_t i = 0; i < p.size; i++) {
        const bool space = token->text[i] == ' ';
        put(w, space ? XLM_ADDED_SPACE : token->text + i, space ? strlen(XLM_ADDED_SPACE) : 1,
            p.origins != NULL ? p.origins + i : NULL, space);
    }
}

/* A character, byte by byte. */
static void put_character(writer *w, part p, bool white)
{
    for (size_t i = 0; i < p.size; i++) {
        char letter[U8_MAX_LENGTH];
        int32_t n = 0;
        U8_APPEND_UNSAFE(letter, n, xlm_byte_letter((unsigned char)p.text[i]));
        put(w, letter, (size_t)n, p.origins != NULL ? p.origins + i : NULL, white);
    }
}

/* The space before a part that is not in the line. */
static void put_first_space(writer *w, part p)
{
    g_string_append(w->out, XLM_BYTE_SPACE);
    if (w->origins != NULL)
        xlm_origins_add(w->origins, strlen(XLM_BYTE_SPACE), p.origins[0].start, p.origins[0].start);
}

static void put_words(writer *w, part p)
{
    const int32_t before = w->model->space_first && p.text[0] != ' ', all = (int32_t)p.size + before;
    g_autoptr(GString) spaced = g_string_new(before ? " " : NULL);
    if (before)
        g_string_append_len(spaced, p.text, (gssize)p.size);
    const char *text = before ? spaced->str : p.text;
    for (int32_t at = 0, end, next; at < all; at = end) {
        end = word_end(text, all, at);
        separate(w, part_of(p, (size_t)MAX(at - before, 0), p.size));
        for (; at < end; at = next) {
            const bool white = kind_at(text, all, at, &next) == WHITE;
            if (at < before)
                put_first_space(w, p);
            else
                put_character(w, part_of(p, (size_t)(at - before), (size_t)(next - before)), white);
        }
    }
}

/* ---- Form C ---- */

static const UNormalizer2 *form_c(void)
{
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2 *form = unorm2_getNFCInstance(&status);
    xlm_icu_demand(status);
    return form;
}

/* The end of the shortest text from `at` on that Form C does not combine with what follows. */
static size_t group_end(const UNormalizer2 *form, part p, size_t at)
{
    enum { COMBINING = 0x300 }; /* no character before it combines with one before it */
    UChar32 c;
    U8_FWD_1_UNSAFE(p.text, at);
    for (size_t next = at; next < p.size; at = next) {
        U8_NEXT_UNSAFE(p.text, next, c);
        if (c < COMBINING || unorm2_hasBoundaryBefore(form, c))
            return at;
    }
    return at;
}

static bool is_ascii(char c) { return (unsigned char)c < 0x80; }

/* Append a part as it is. */
static void append_part(part p, GString *out, GArray *origins)
{
    g_string_append_len(out, p.text, (gssize)p.size);
    if (origins != NULL)
        g_array_append_vals(origins, p.origins, (guint)p.size);
}

/* Append the Form C of a group, all of whose characters come from the whole group, unless it is in Form C already. from, to:
 * scratch. */
static void compose_group(const UNormalizer2 *form, part p, GArray *from, GArray *to, GString *out, GArray *origins)
{
    UErrorCode status = U_ZERO_ERROR;
    int32_t units, bytes;
    g_array_set_size(from, (guint)p.size + 1);
    u_strFromUTF8((UChar *)(void *)from->data, (int32_t)from->len, &units, p.text, (int32_t)p.size, &status);
    const bool same = unorm2_isNormalized(form, (UChar *)(void *)from->data, units, &status);
    xlm_icu_demand(status);
    if (same) {
        append_part(p, out, origins);
        return;
    }
    g_array_set_size(to, 3 * (guint)units + 1);
    units = unorm2_normalize(form, (UChar *)(void *)from->data, units, (UChar *)(void *)to->data, (int32_t)to->len, &status);
    xlm_icu_demand(status);
    const gsize before = out->len;
    g_string_set_size(out, before + 3 * (gsize)units + 1);
    u_strToUTF8(out->str + before, 3 * units + 1, &bytes, (UChar *)(void *)to->data, units, &status);
    xlm_icu_demand(status);
    g_string_truncate(out, before + (gsize)bytes);
    if (origins != NULL)
        xlm_origins_add(origins, (size_t)bytes, p.origins[0].start, p.origins[p.size - 1].end);
}

/* Bring a part into Form C, in `out` and `origins`. */
static part compose(part p, GString *out, GArray *origins)
{
    const UNormalizer2 *form = form_c();
    g_autoptr(GArray) from = g_array_new(FALSE, FALSE, sizeof(UChar)), to = g_array_new(FALSE, FALSE, sizeof(UChar));
    GArray *wanted = p.origins != NULL ? origins : NULL;
    for (size_t at = 0, end; at < p.size; at = end) {
        end = at;
        while (end < p.size && is_ascii(p.text[end]) && (end + 1 == p.size || is_ascii(p.text[end + 1])))
            end++;
        if (end > at) {
            append_part(part_of(p, at, end), out, wanted);
        } else {
            end = group_end(form, p, at);
            compose_group(form, part_of(p, at, end), from, to, out, wanted);
        }
    }
    return (part){out->str, out->len, wanted != NULL ? (const xlm_origin *)(const void *)wanted->data : NULL};
}

/* ---- lines ---- */

/* Put the added tokens of a part, and call `rest` for what is between them. */
static void divide(writer *w, bool normalized, part p, void (*rest)(writer *w, part p))
{
    for (size_t at = 0, begin; at < p.size;) {
        begin = at;
        const xlm_added_token *token = xlm_added_tokens_find(w->model->added, normalized, p.text, p.size, &begin);
        if (begin > at)
            rest(w, part_of(p, at, begin));
        at = begin + (token != NULL ? strlen(token->text) : 0);
        if (token != NULL)
            put_token(w, token, part_of(p, begin, at));
    }
}

static void put_normal(writer *w, part p)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(GArray) origins = g_array_new(FALSE, FALSE, sizeof(xlm_origin));
    divide(w, true, w->model->form_c ? compose(p, out, origins) : p, put_words);
}

/* Append the origin of each byte: its character. */
static void append_characters(const char *text, size_t size, GArray *origins)
{
    for (size_t at = 0, end; at < size; at = end) {
        end = at;
        U8_FWD_1_UNSAFE(text, end);
        xlm_origins_add(origins, end - at, at, end);
    }
}

static void append_words(void *state, const char *text, size_t size, GString *out, GArray *origins)
{
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
        size--;
    int32_t begin;
    if (size == 0 || (kind_at(text, (int32_t)size, 0, &begin) == WHITE && skip(text, (int32_t)size, 0, &begin) == (int32_t)size))
        return;
    g_autoptr(GArray) characters = g_array_new(FALSE, FALSE, sizeof(xlm_origin));
    if (origins != NULL)
        append_characters(text, size, characters);
    writer w = {state, out, origins};
    const xlm_origin *of_bytes = origins != NULL ? (const xlm_origin *)(const void *)characters->data : NULL;
    divide(&w, false, (part){text, size, of_bytes}, put_normal);
}

xlm_normaliser *xlm_byte_words_normaliser(const void *model)
{
    static const xlm_normaliser_form form = {.keeps_space = true, .append = append_words};
    return xlm_normaliser_new_with(&form, (void *)(uintptr_t)model);
}
