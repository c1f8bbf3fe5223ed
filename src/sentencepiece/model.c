/* xlm-mpi: model files of SentencePiece. SPDX-License-Identifier: GPL-3.0-or-later */
#include "sentencepiece/model.h"

#include <math.h>
#include <string.h>

#include "text/normalise.h"

/* ---- messages ---- */

typedef struct message {
    const unsigned char *start; /* of the file */
    size_t at, end;
} message;

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

typedef struct field {
    uint64_t number;
    int form;
    uint64_t value; /* of VARINT and FIXED32 */
    message bytes;
} field;

static bool refuse(size_t at, const char *what, GError **error)
{
    return xlm_error_set(error, EX_DATAERR, "byte %zu: %s; this is not a model of SentencePiece, or not all of it", at + 1, what);
}

static bool read_varint(message *m, uint64_t *value, GError **error)
{
    const size_t begin = m->at;
    *value = 0;
    for (unsigned shift = 0; shift < 64 && m->at < m->end; shift += 7) {
        const unsigned char byte = m->start[m->at++];
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return true;
    }
    return refuse(begin, "a number has no end", error);
}

/* 1: a field; 0: the message has ended; -1: an error. */
static int next_field(message *m, field *f, GError **error)
{
    uint64_t tag, size;
    if (m->at == m->end)
        return 0;
    const size_t begin = m->at;
    if (!read_varint(m, &tag, error))
        return -1;
    *f = (field){.number = tag >> 3, .form = (int)(tag & 7)};
    if (f->form == VARINT)
        return read_varint(m, &f->value, error) ? 1 : -1;
    if (f->form == BYTES) {
        if (!read_varint(m, &size, error))
            return -1;
    } else if (f->form == FIXED32 || f->form == FIXED64) {
        size = f->form == FIXED32 ? 4 : 8;
    } else {
        refuse(begin, "a field of an unknown form", error);
        return -1;
    }
    if (size > m->end - m->at) {
        refuse(begin, "a field is longer than what holds it", error);
        return -1;
    }
    f->bytes = (message){m->start, m->at, m->at + (size_t)size};
    for (size_t i = 0; f->form == FIXED32 && i < 4; i++)
        f->value |= (uint64_t)m->start[m->at + i] << 8 * i;
    m->at += (size_t)size;
    return 1;
}

/* ---- character maps ---- */

static uint32_t unit_at(const unsigned char *units, size_t i)
{
    return units[4 * i] | (uint32_t)units[4 * i + 1] << 8 | (uint32_t)units[4 * i + 2] << 16 | (uint32_t)units[4 * i + 3] << 24;
}

static uint32_t offset_of(uint32_t unit) { return unit >> 10 << ((unit & (1u << 9)) >> 6); }

/* A unit is reached from another one, or from the first, by an exclusive or with its offset and then with a byte; a bit of a unit
 * says whether it holds a value. So the reachable places are those of blocks of 256. */
static bool check_map(const message *m, GError **error)
{
    const size_t size = m->end - m->at, at = m->at;
    if (size == 0)
        return true;
    const unsigned char *bytes = m->start + at, *units = bytes + 4;
    const uint32_t trie = size > 4 ? unit_at(bytes, 0) : 0;
    if (size <= 4 || trie >= size - 4 || trie == 0 || trie % 4 != 0)
        return refuse(at, "the size of the character map is wrong", error);
    const size_t n = trie / 4, texts = size - 4 - trie;
    if (bytes[size - 1] != '\0')
        return refuse(at + size - 1, "the texts of the character map have no end", error);
    for (size_t i = 0; i < n; i++) {
        const uint32_t unit = unit_at(units, i);
        if (i > 0 && unit >> 31) /* a value; the first unit is never read as one */
            continue;
        const size_t child = i ^ offset_of(unit);
        if ((child | 0xFF) >= n)
            return refuse(at + 4 + 4 * i, "the trie of the character map leads out of it", error);
        if ((unit >> 8 & 1) && (unit_at(units, child) & 0x7FFFFFFF) >= texts)
            return refuse(at + 4 + 4 * child, "the trie of the character map points beyond its texts", error);
    }
    return true;
}

static bool check_normaliser(message m, GError **error)
{
    field f;
    int got;
    while ((got = next_field(&m, &f, error)) == 1) {
        if (f.number == 2 && f.form == BYTES && !check_map(&f.bytes, error))
            return false;
        if (f.number == 5 && f.form == VARINT && f.value == 0)
            return xlm_error_set(error, EX_DATAERR, "its pieces hold spaces (escape_whitespaces is off), which is not supported");
    }
    return got == 0;
}

/* ---- all of it ---- */

static bool check_trainer(message m, int64_t *type, GError **error)
{
    field f;
    int got;
    while ((got = next_field(&m, &f, error)) == 1) {
        if (f.number == 3 && f.form == VARINT)
            *type = (int64_t)f.value;
        if (f.number == 24 && f.form == VARINT && f.value != 0)
            return xlm_error_set(error, EX_DATAERR, "its pieces have white space after words (treat_whitespace_as_suffix), "
                                 "which is not supported");
    }
    return got == 0;
}

static bool read_piece(message m, GArray *pieces, GError **error)
{
    const size_t begin = m.at;
    xlm_model_piece piece = {.kind = XLM_PIECE_NORMAL};
    message text = {m.start, m.at, m.at};
    field f;
    int got;
    while ((got = next_field(&m, &f, error)) == 1) {
        if (f.number == 1 && f.form == BYTES)
            text = f.bytes;
        if (f.number == 2 && f.form == FIXED32) {
            const uint32_t bits = (uint32_t)f.value;
            memcpy(&piece.score, &bits, sizeof bits);
        }
        if (f.number == 3 && f.form == VARINT)
            piece.kind = f.value <= XLM_PIECE_BYTE ? (int)f.value : 0;
    }
    if (got < 0)
        return false;
    const char *bytes = (const char *)text.start + text.at;
    const size_t size = text.end - text.at;
    if (size == 0 || memchr(bytes, '\0', size) != NULL || xlm_utf8_check(bytes, size) < size || memchr(bytes, ' ', size) != NULL)
        return refuse(begin, "a piece is empty, has a space or a byte 0, or is not UTF-8", error);
    if (!isfinite(piece.score))
        return refuse(begin, "the score of a piece is not a number", error);
    if (piece.kind < XLM_PIECE_NORMAL)
        return refuse(begin, "a piece of an unknown kind", error);
    piece.text = g_strndup(bytes, size);
    g_array_append_val(pieces, piece);
    return true;
}

static void clear_piece(void *piece) { g_free(((xlm_model_piece *)piece)->text); }

GArray *xlm_sentencepiece_new_pieces(void)
{
    GArray *pieces = g_array_new(FALSE, FALSE, sizeof(xlm_model_piece));
    g_array_set_clear_func(pieces, clear_piece);
    return pieces;
}

static bool check_pieces(const GArray *pieces, GError **error)
{
    guint unknown = 0;
    for (guint i = 0; i < pieces->len; i++)
        unknown += g_array_index(pieces, xlm_model_piece, i).kind == XLM_PIECE_UNKNOWN;
    return unknown == 1 ||
           xlm_error_set(error, EX_DATAERR, "has %u unknown pieces, and %u pieces in all; a model of SentencePiece has one that "
                         "is unknown", unknown, pieces->len);
}

static bool read_field(const field *f, GArray *pieces, int64_t *type, GError **error)
{
    if (f->form != BYTES)
        return true;
    return f->number == 1                     ? read_piece(f->bytes, pieces, error)
           : f->number == 2                   ? check_trainer(f->bytes, type, error)
           : f->number == 3 || f->number == 5 ? check_normaliser(f->bytes, error)
                                              : true;
}

GArray *xlm_sentencepiece_pieces(const char *bytes, size_t size, GError **error)
{
    message m = {(const unsigned char *)bytes, 0, size};
    GArray *pieces = xlm_sentencepiece_new_pieces();
    int64_t type = 1;
    field f;
    int got;
    bool good = true;
    while (good && (got = next_field(&m, &f, error)) != 0)
        good = got == 1 && read_field(&f, pieces, &type, error);
    if (good && type != 1 && type != 2)
        good = xlm_error_set(error, EX_DATAERR, "a model of type %" G_GINT64_FORMAT " (1: unigram, 2: byte pairs), which is not "
                             "supported", type);
    if (good && check_pieces(pieces, error))
        return pieces;
    g_array_unref(pieces);
    return NULL;
}

size_t xlm_sentencepiece_map_match(const char *map, size_t map_size, const char *text, size_t size, const char **output)
{
    const unsigned char *units = (const unsigned char *)map + 4;
    const char *texts = map_size > 0 ? map + 4 + unit_at((const unsigned char *)map, 0) : NULL;
    size_t longest = 0, place = map_size > 0 ? offset_of(unit_at(units, 0)) : 0;
    for (size_t i = 0; i < size && map_size > 0; i++) {
        place ^= (unsigned char)text[i];
        const uint32_t unit = unit_at(units, place);
        if ((unit & (1u << 31 | 0xFF)) != (unsigned char)text[i])
            break;
        place ^= offset_of(unit);
        if (unit >> 8 & 1) {
            longest = i + 1;
            *output = texts + (unit_at(units, place) & 0x7FFFFFFF);
        }
    }
    return longest;
}

/* ---- writing ---- */

static void put_varint(GString *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        g_string_append_c(out, (char)(value | 0x80));
    g_string_append_c(out, (char)value);
}

static void put_number(GString *out, uint64_t number, uint64_t value)
{
    put_varint(out, number << 3 | VARINT);
    put_varint(out, value);
}

static void put_bytes(GString *out, uint64_t number, const char *bytes, size_t size)
{
    put_varint(out, number << 3 | BYTES);
    put_varint(out, size);
    g_string_append_len(out, bytes, (gssize)size);
}

static void put_piece(GString *out, const xlm_model_piece *piece)
{
    g_autoptr(GString) m = g_string_new(NULL);
    uint32_t bits;
    memcpy(&bits, &piece->score, sizeof bits);
    put_bytes(m, 1, piece->text, strlen(piece->text));
    put_varint(m, 2 << 3 | FIXED32);
    for (int i = 0; i < 4; i++)
        g_string_append_c(m, (char)(bits >> 8 * i));
    put_number(m, 3, (uint64_t)piece->kind);
    put_bytes(out, 1, m->str, m->len);
}

GString *xlm_sentencepiece_write(const xlm_model_piece *pieces, size_t n, const xlm_model_form *form)
{
    g_autoptr(GString) trainer = g_string_new(NULL), normaliser = g_string_new(NULL);
    GString *out = g_string_new(NULL);
    uint64_t unknown = 0;
    for (size_t i = 0; i < n; i++) {
        put_piece(out, &pieces[i]);
        if (pieces[i].kind == XLM_PIECE_UNKNOWN)
            unknown = i;
    }
    put_number(trainer, 3, (uint64_t)form->type);
    put_number(trainer, 35, form->bytes);
    put_number(trainer, 40, unknown); /* its id */
    for (int i = 41; i <= 43; i++)    /* no ids of beginning, end and padding, written in two's complement */
        put_number(trainer, (uint64_t)i, UINT64_MAX);
    put_bytes(trainer, 45, pieces[unknown].text, strlen(pieces[unknown].text));
    put_bytes(normaliser, 1, "published", strlen("published"));
    if (form->map_size > 0)
        put_bytes(normaliser, 2, form->map, form->map_size);
    put_number(normaliser, 3, form->space_first);
    put_number(normaliser, 4, form->one_space);
    put_number(normaliser, 5, 1); /* spaces as U+2581 */
    put_bytes(out, 2, trainer->str, trainer->len);
    put_bytes(out, 3, normaliser->str, normaliser->len);
    return out;
}

/* ---- models made of others ---- */

static void read_form_field(const field *f, bool trainer, xlm_model_form *form)
{
    if (f->form != VARINT)
        return;
    if (trainer && f->number == 3)
        form->type = (int64_t)f->value;
    if (trainer && f->number == 35)
        form->bytes = f->value != 0;
    if (!trainer && f->number == 3)
        form->space_first = f->value != 0;
    if (!trainer && f->number == 4)
        form->one_space = f->value != 0;
}

/* The last character map in the file. */
static const char *find_map(const char *bytes, size_t size, size_t *map_size)
{
    message m = {(const unsigned char *)bytes, 0, size}, found = {m.start, 0, 0};
    field f, inner;
    while (next_field(&m, &f, NULL) == 1)
        while (f.number == 3 && f.form == BYTES && next_field(&f.bytes, &inner, NULL) == 1)
            if (inner.number == 2 && inner.form == BYTES)
                found = inner.bytes;
    *map_size = found.end - found.at;
    return (const char *)found.start + found.at;
}

xlm_model_form xlm_sentencepiece_form(const char *bytes, size_t size)
{
    xlm_model_form form = {.type = XLM_PIECES_UNIGRAM, .space_first = true, .one_space = true}; /* what is not in the file */
    message m = {(const unsigned char *)bytes, 0, size};
    field f, inner;
    while (next_field(&m, &f, NULL) == 1)
        if ((f.number == 2 || f.number == 3) && f.form == BYTES)
            for (message part = f.bytes; next_field(&part, &inner, NULL) == 1;)
                read_form_field(&inner, f.number == 2, &form);
    form.map = find_map(bytes, size, &form.map_size);
    return form;
}

GString *xlm_sentencepiece_change(const char *bytes, size_t size, const uint8_t *keep, const xlm_model_piece *more, size_t n)
{
    g_autoptr(GString) others = g_string_new(NULL);
    GString *pieces = g_string_new(NULL);
    message m = {(const unsigned char *)bytes, 0, size};
    field f;
    for (size_t begin = 0, i = 0; next_field(&m, &f, NULL) == 1; begin = m.at) {
        const bool piece = f.number == 1 && f.form == BYTES;
        if (!piece || keep[i++])
            g_string_append_len(piece ? pieces : others, bytes + begin, (gssize)(m.at - begin));
    }
    for (size_t i = 0; i < n; i++)
        put_piece(pieces, &more[i]);
    g_string_append_len(pieces, others->str, (gssize)others->len);
    return pieces;
}
