/* xlm-mpi: lines of text in one normal form. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One pass over the bytes checks UTF-8, removes junk, folds white space and copies the rest. It also looks for characters that
 * may need more (composition, lower case of letters other than A-Z). Lines without such characters, which are most lines in most
 * languages, are finished then. */
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include "text/icu.h"
#include "text/normalise.h"

/* How a character is treated. */
enum {
    SPACE = 1,   /* becomes a space: white space, controls, ... */
    REMOVE = 2,
    COMPOSE = 4, /* Form C may change it or the character before it */
    LOWER = 8    /* lower case changes it */
};

/* The flags of characters, by blocks of 256. ICU is asked for those of a block when the first of its characters occurs: for all
 * characters that takes longer than many a program. Blocks with equal flags are stored once, because most are equal. */
enum { BLOCK = 256, CHARACTERS = 0x110000, BLOCKS = CHARACTERS / BLOCK };
static const uint8_t *block_flags[BLOCKS];

struct xlm_normaliser {
    const xlm_normaliser_form *form; /* NULL; or with its state it replaces all members below except `out` and `origins` */
    void *state;
    bool lower;
    const UNormalizer2 *form_c;
    uint8_t wanted; /* flags that make a line need ICU */
    char ascii[128]; /* what ASCII becomes; 0: a space */
    GString *out;
    GArray *text, *other; /* UChar, scratch: the present line */
    GArray *origins;      /* xlm_origin, of each byte of out */
};

static uint8_t flags_of(UChar32 c)
{
    const int8_t category = u_charType(c);
    if (u_isUWhiteSpace(c) || category == U_CONTROL_CHAR || category == U_PRIVATE_USE_CHAR || U_IS_UNICODE_NONCHAR(c) ||
        c == 0xFFFD)
        return SPACE;
    if (category == U_FORMAT_CHAR ||
        (category == U_UNASSIGNED && u_hasBinaryProperty(c, UCHAR_DEFAULT_IGNORABLE_CODE_POINT)))
        return c == 0x200C || c == 0x200D || u_hasBinaryProperty(c, UCHAR_PREPENDED_CONCATENATION_MARK) ? 0 : REMOVE;
    if (category == U_UNASSIGNED)
        return 0;
    uint8_t flags = 0;
    if (u_getCombiningClass(c) != 0 || u_getIntPropertyValue(c, UCHAR_NFC_QUICK_CHECK) != UNORM_YES)
        flags |= COMPOSE;
    if (u_hasBinaryProperty(c, UCHAR_CHANGES_WHEN_LOWERCASED))
        flags |= LOWER;
    return flags;
}

bool xlm_normalise_removes(uint32_t c) { return (flags_of((UChar32)c) & REMOVE) != 0; }
bool xlm_normalise_blanks(uint32_t c) { return (flags_of((UChar32)c) & SPACE) != 0; }

/* Threads may ask for the same block at the same time. */
static const uint8_t *make_block(uint32_t block)
{
    static GMutex lock;
    static GPtrArray *made;
    uint8_t flags[BLOCK];
    for (uint32_t i = 0; i < BLOCK; i++)
        flags[i] = flags_of((UChar32)(block * BLOCK + i));
    g_mutex_lock(&lock);
    if (made == NULL)
        made = g_ptr_array_new();
    guint same = 0;
    while (same < made->len && memcmp(made->pdata[same], flags, BLOCK) != 0)
        same++;
    if (same == made->len)
        g_ptr_array_add(made, g_memdup2(flags, BLOCK));
    const uint8_t *stored = made->pdata[same];
    g_atomic_pointer_set(&block_flags[block], stored);
    g_mutex_unlock(&lock);
    return stored;
}

static inline uint8_t look_up(uint32_t c)
{
    const uint8_t *flags = g_atomic_pointer_get(&block_flags[c / BLOCK]);
    return (G_LIKELY(flags != NULL) ? flags : make_block(c / BLOCK))[c % BLOCK];
}

/* ---- UTF-8 ---- */

/* Returns the number of bytes of the sequence at the beginning of at[left], 0 if it is not UTF-8. [out] its character. */
static inline size_t read_character(const unsigned char *at, size_t left, uint32_t *character)
{
    const uint32_t c = at[0];
    if (c < 0x80) {
        *character = c;
        return 1;
    }
    const size_t n = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    if (c < 0xC2 || c > 0xF4 || left < n || (at[1] & 0xC0) != 0x80)
        return 0;
    uint32_t value = (c & (0x7Fu >> n)) << 6 | (at[1] & 0x3Fu);
    for (size_t i = 2; i < n; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (at[i] & 0x3Fu);
    }
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < smallest[n] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 0;
    *character = value;
    return n;
}

size_t xlm_utf8_check(const char *text, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t at = 0;
    while (at < size) {
        uint64_t eight;
        if (size - at >= 8) {
            memcpy(&eight, bytes + at, 8);
            if ((eight & UINT64_C(0x8080808080808080)) == 0) {
                at += 8;
                continue;
            }
        }
        uint32_t character;
        const size_t n = read_character(bytes + at, size - at, &character);
        if (n == 0)
            return at;
        at += n;
    }
    return size;
}

bool xlm_utf8_require(const char *what, const char *text, size_t size, GError **error)
{
    return (xlm_utf8_check(text, size) == size && memchr(text, '\0', size) == NULL) ||
           xlm_error_set(error, EX_DATAERR, "%s `%s` is not UTF-8 text; convert the files it comes from", what, text);
}

/* ---- the object ---- */

xlm_normaliser *xlm_normaliser_new(bool lower, GError **error)
{
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2 *form_c = unorm2_getNFCInstance(&status);
    if (U_FAILURE(status)) {
        xlm_error_set(error, EX_SOFTWARE, "ICU cannot normalise text (%s); is its data installed?",
                      u_errorName(status));
        return NULL;
    }
    xlm_normaliser *n = g_new0(xlm_normaliser, 1);
    n->lower = lower;
    n->form_c = form_c;
    n->wanted = lower ? COMPOSE | LOWER : COMPOSE;
    for (int c = 0x21; c < 0x7F; c++)
        n->ascii[c] = (char)(lower ? g_ascii_tolower((char)c) : c);
    n->out = g_string_new(NULL);
    n->text = g_array_new(FALSE, FALSE, sizeof(UChar));
    n->other = g_array_new(FALSE, FALSE, sizeof(UChar));
    n->origins = g_array_new(FALSE, FALSE, sizeof(xlm_origin));
    return n;
}

xlm_normaliser *xlm_normaliser_new_with(const xlm_normaliser_form *form, void *state)
{
    xlm_normaliser *n = g_new0(xlm_normaliser, 1);
    n->form = form;
    n->state = state;
    n->out = g_string_new(NULL);
    n->origins = g_array_new(FALSE, FALSE, sizeof(xlm_origin));
    return n;
}

void xlm_normaliser_free(xlm_normaliser *n)
{
    if (n == NULL)
        return;
    g_string_free(n->out, TRUE);
    if (n->form != NULL && n->form->free != NULL) {
        n->form->free(n->state);
    } else if (n->form == NULL) {
        g_array_free(n->text, TRUE);
        g_array_free(n->other, TRUE);
    }
    g_array_free(n->origins, TRUE);
    g_free(n);
}

bool xlm_normaliser_keeps_space(const xlm_normaliser *n) { return n->form != NULL && n->form->keeps_space; }

bool xlm_normaliser_set_language(xlm_normaliser *n, const char *language, GError **error)
{
    return n->form == NULL || n->form->set_language == NULL || n->form->set_language(n->state, language, error);
}

/* ---- lines that need ICU ---- */

static UChar *units(GArray *text) { return (UChar *)(void *)text->data; }

/* Make room for n units and a final 0. Form C and lower case both make at most 3 times as many units. */
static void make_room(GArray *text, size_t n) { g_array_set_size(text, (guint)(n + 1)); }

/* Form C of n->text[size], back in n->text. Returns its size. */
static int32_t compose(xlm_normaliser *n, int32_t size)
{
    UErrorCode status = U_ZERO_ERROR;
    make_room(n->other, 3 * (size_t)size);
    size = unorm2_normalize(n->form_c, units(n->text), size, units(n->other), (int32_t)n->other->len, &status);
    xlm_icu_demand(status);
    GArray *text = n->text;
    n->text = n->other;
    n->other = text;
    return size;
}

static int32_t lower_case(xlm_normaliser *n, int32_t size)
{
    UErrorCode status = U_ZERO_ERROR;
    make_room(n->other, 3 * (size_t)size);
    size = u_strToLower(units(n->other), (int32_t)n->other->len, units(n->text), size, "", &status);
    xlm_icu_demand(status);
    GArray *text = n->text;
    n->text = n->other;
    n->other = text;
    return size;
}

/* Convert text[bytes] with ICU into n->text. Returns its size in units. */
static int32_t convert(xlm_normaliser *n, const char *text, size_t bytes)
{
    UErrorCode status = U_ZERO_ERROR;
    int32_t size;
    make_room(n->text, bytes);
    u_strFromUTF8(units(n->text), (int32_t)n->text->len, &size, text, (int32_t)bytes, &status);
    xlm_icu_demand(status);
    size = compose(n, size);
    return n->lower ? compose(n, lower_case(n, size)) : size;
}

/* Append the origins of what bytes [start, end) of n->out become, which Form C does not combine with others. from: the origins of
 * n->out. */
static void convert_origins(xlm_normaliser *n, const xlm_origin *from, size_t start, size_t end, GArray *origins)
{
    uint32_t c = 0;
    if (read_character((const unsigned char *)n->out->str + start, end - start, &c) == end - start &&
        !(look_up(c) & n->wanted)) {
        g_array_append_vals(origins, from + start, (guint)(end - start));
        return;
    }
    const xlm_origin whole = {from[start].start, from[end - 1].end};
    const int32_t size = convert(n, n->out->str + start, end - start);
    for (int32_t at = 0; at < size;) {
        UChar32 made;
        U16_NEXT(units(n->text), at, size, made);
        for (int32_t k = U8_LENGTH(made); k > 0; k--)
            g_array_append_val(origins, whole);
    }
}

/* Update n->origins, those of n->out, for what `finish` will make of it. Lower case depends on the characters around only for the
 * final sigma, which has as many bytes as the other sigma. */
static void finish_origins(xlm_normaliser *n)
{
    GArray *origins = g_array_new(FALSE, FALSE, sizeof(xlm_origin));
    const xlm_origin *from = (const xlm_origin *)(const void *)n->origins->data;
    size_t start = 0;
    for (size_t at = 0; at < n->out->len;) {
        at += (size_t)g_utf8_skip[(guchar)n->out->str[at]];
        const char *next = n->out->str + at;
        if (at >= n->out->len || unorm2_hasBoundaryBefore(n->form_c, (UChar32)g_utf8_get_char(next))) {
            convert_origins(n, from, start, at, origins);
            start = at;
        }
    }
    g_array_unref(n->origins);
    n->origins = origins;
}

/* Convert n->out with ICU. */
static void finish(xlm_normaliser *n)
{
    UErrorCode status = U_ZERO_ERROR;
    const int32_t size = convert(n, n->out->str, n->out->len);
    g_string_set_size(n->out, 3 * (size_t)size + 1);
    int32_t bytes;
    u_strToUTF8(n->out->str, (int32_t)n->out->len, &bytes, units(n->text), size, &status);
    xlm_icu_demand(status);
    g_string_truncate(n->out, (gsize)bytes);
}

/* ---- origins ---- */

void xlm_origins_add(GArray *origins, size_t bytes, size_t start, size_t end)
{
    const xlm_origin origin = {(uint32_t)start, (uint32_t)end};
    for (; origins != NULL && bytes > 0; bytes--)
        g_array_append_val(origins, origin);
}

void xlm_origins_widen(GArray *origins, size_t start, size_t end)
{
    xlm_origin *all = origins != NULL ? (xlm_origin *)(void *)origins->data : NULL;
    guint i = origins != NULL ? origins->len : 0;
    while (i > 0 && all[i - 1].start == all[i - 1].end)
        i--;
    if (i == 0 || all[i - 1].end < start)
        return;
    for (const xlm_origin last = all[i - 1]; i > 0 && all[i - 1].start == last.start && all[i - 1].end == last.end; i--)
        all[i - 1].end = MAX(last.end, (uint32_t)end);
}

xlm_origin xlm_origins_join(const xlm_origin *origins, size_t n)
{
    xlm_origin whole = origins[0];
    for (size_t i = 1; i < n; i++) {
        const xlm_origin next = origins[i];
        if (next.start == next.end)
            continue;
        const bool first = whole.start == whole.end;
        whole = (xlm_origin){first ? next.start : MIN(whole.start, next.start), first ? next.end : MAX(whole.end, next.end)};
    }
    return whole;
}

/* ---- lines of another form ---- */

static bool refuse_byte(const char *text, size_t at, GError **error)
{
    return xlm_error_set(error, EX_DATAERR, "byte %zu: not UTF-8 (0x%02x); convert the file, for example with iconv", at + 1,
                         (unsigned char)text[at]);
}

static bool run_other(xlm_normaliser *n, const char *text, size_t size, bool origins, GError **error)
{
    const size_t valid = xlm_utf8_check(text, size);
    if (valid < size)
        return refuse_byte(text, valid, error);
    g_string_truncate(n->out, 0);
    n->form->append(n->state, text, size, n->out, origins ? n->origins : NULL);
    return true;
}

/* ---- plain text, eight bytes at a time ---- */

enum { EIGHT = 8 };

static inline uint64_t each_byte(uint8_t byte) { return UINT64_C(0x0101010101010101) * byte; }

/* Are eight bytes visible ASCII or single spaces? */
static inline bool is_plain(uint64_t eight)
{
    const uint64_t high = each_byte(0x80), other = eight ^ each_byte(' ');
    const uint64_t spaces = ~(((other & ~high) + ~high) | other | ~high); /* the high bit of each byte that is a space */
    return (eight & high) == 0 && ((eight + each_byte(0x80 - ' ')) & high) == high && /* none below the space */
           ((eight + each_byte(0x80 - 0x7F)) & high) == 0 && (spaces & spaces << 8) == 0;
}

static inline uint64_t plain_lower(uint64_t eight)
{
    const uint64_t from_a = eight + each_byte(0x80 - 'A'), beyond_z = eight + each_byte(0x80 - ('Z' + 1));
    return eight | (from_a & ~beyond_z & each_byte(0x80)) >> 2; /* 'a' is 'A' with this bit */
}

/* Copy bytes from text[*at] on as long as they are plain. [in, out] space: as in `run`. Returns the end of the output. */
static inline char *copy_plain(const xlm_normaliser *n, const char *text, size_t size, size_t *at, char *out, bool *space)
{
    uint64_t eight;
    for (; size - *at >= EIGHT; *at += EIGHT) {
        const bool first = out == n->out->str, begins = text[*at] == ' ';
        memcpy(&eight, text + *at, EIGHT);
        if (!is_plain(eight) || (begins && (*space || first)))
            break;
        if (n->lower)
            eight = plain_lower(eight);
        if (*space && !first)
            *out++ = ' ';
        memcpy(out, &eight, EIGHT);
        out += EIGHT;
        *space = out[-1] == ' '; /* it is due before the next character, if there is one */
        out -= *space;
    }
    return out;
}

/* ---- all lines ---- */

/* Normalise a line into n->out. origins: also set n->origins. */
static bool run(xlm_normaliser *n, const char *text, size_t size, bool origins, GError **error)
{
    g_array_set_size(n->origins, 0);
    if (size > XLM_LINE_MAX)
        return xlm_error_set(error, EX_DATAERR, "a line of %zu bytes; at most %d are possible: put one sentence on "
                             "a line", size, XLM_LINE_MAX);
    if (n->form != NULL)
        return run_other(n, text, size, origins, error);
    g_string_set_size(n->out, size + EIGHT);
    const unsigned char *bytes = (const unsigned char *)text;
    char *out = n->out->str;
    uint8_t met = 0;
    bool space = false; /* one is due before the next character */
    size_t try_plain = origins ? SIZE_MAX : 0; /* no eight bytes before it are plain */
    for (size_t at = 0, length; at < size; at += length) {
        uint32_t c;
        if (at >= try_plain && bytes[at] < 0x80) {
            out = copy_plain(n, text, size, &at, out, &space);
            try_plain = at + EIGHT;
            if (at == size)
                break;
        }
        length = read_character(bytes + at, size - at, &c);
        if (length == 0)
            return refuse_byte(text, at, error);
        const uint8_t flags = c < 0x80 ? (n->ascii[c] == 0 ? SPACE : 0) : look_up(c);
        if (flags & (SPACE | REMOVE)) {
            space = space || flags & SPACE;
            continue;
        }
        const bool first = out == n->out->str;
        if (space && !first)
            *out++ = ' ';
        if (origins && space && !first)
            xlm_origins_add(n->origins, 1, at, at);
        if (origins)
            xlm_origins_add(n->origins, length, at, at + length);
        space = false;
        if (c < 0x80)
            *out = n->ascii[c];
        else if (size - at >= 4)
            memcpy(out, bytes + at, 4); /* one move; only `length` bytes of it are kept */
        else
            memcpy(out, bytes + at, length);
        out += length;
        met |= flags;
    }
    g_string_truncate(n->out, (gsize)(out - n->out->str));
    if (met & n->wanted) {
        if (origins)
            finish_origins(n);
        finish(n);
    }
    return true;
}

bool xlm_normaliser_run(xlm_normaliser *n, const char *text, size_t size, const char **normal, size_t *normal_size,
                        GError **error)
{
    if (!run(n, text, size, false, error))
        return false;
    *normal = n->out->str;
    *normal_size = n->out->len;
    return true;
}

bool xlm_normaliser_run_origins(xlm_normaliser *n, const char *text, size_t size, const char **normal, size_t *normal_size,
                                const xlm_origin **origins, GError **error)
{
    if (!run(n, text, size, true, error))
        return false;
    *normal = n->out->str;
    *normal_size = n->out->len;
    *origins = (const xlm_origin *)(const void *)n->origins->data;
    return true;
}
