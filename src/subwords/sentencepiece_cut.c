/* xlm-mpi: text cut into pieces by SentencePiece, with places. SPDX-License-Identifier: GPL-3.0-or-later */
#include "subwords/sentencepiece_cut.h"

#include <string.h>

static const char SPACE[] = "\xe2\x96\x81"; /* U+2581, in front of a word */
enum { SPACE_SIZE = sizeof SPACE - 1 };

struct xlm_piece_rules {
    const char *map; /* borrowed */
    size_t map_size;
    GPtrArray *given;       /* char *, borrowed: pieces that the user gave */
    bool begins_given[256]; /* first bytes of these */
    GHashTable *known;      /* characters of pieces */
    bool bytes;             /* unknown characters become pieces of their bytes */
};

xlm_piece_rules *xlm_piece_rules_new(const char *bytes, size_t size, const GArray *pieces)
{
    xlm_piece_rules *r = g_new0(xlm_piece_rules, 1);
    r->map = xlm_sentencepiece_map(bytes, size, &r->map_size);
    r->given = g_ptr_array_new();
    r->known = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < pieces->len; i++) {
        const xlm_model_piece *piece = &g_array_index(pieces, xlm_model_piece, i);
        r->bytes = r->bytes || piece->kind == XLM_PIECE_BYTE;
        if (piece->kind == XLM_PIECE_GIVEN) {
            g_ptr_array_add(r->given, piece->text);
            r->begins_given[(unsigned char)*piece->text] = true;
        }
        if (piece->kind == XLM_PIECE_UNKNOWN || piece->kind == XLM_PIECE_CONTROL || piece->kind == XLM_PIECE_BYTE)
            continue;
        for (const char *at = piece->text; *at != '\0'; at = g_utf8_next_char(at))
            g_hash_table_add(r->known, GUINT_TO_POINTER(g_utf8_get_char(at)));
    }
    return r;
}

void xlm_piece_rules_free(xlm_piece_rules *r)
{
    if (r == NULL)
        return;
    g_ptr_array_unref(r->given);
    g_hash_table_unref(r->known);
    g_free(r);
}

/* ---- steps of normalising ---- */

static size_t match_given(const xlm_piece_rules *r, const char *text, size_t size)
{
    size_t longest = 0;
    for (guint i = 0; i < r->given->len && r->begins_given[(unsigned char)*text]; i++) {
        const size_t n = strlen(r->given->pdata[i]);
        if (n > longest && n <= size && memcmp(text, r->given->pdata[i], n) == 0)
            longest = n;
    }
    return longest;
}

/* What the library normalises in one step: text[0 .. result) becomes output[*n]. size > 0. */
static size_t step(const xlm_piece_rules *r, const char *text, size_t size, const char **output, size_t *n)
{
    size_t taken = match_given(r, text, size);
    if (taken == 0 && (taken = xlm_sentencepiece_map_match(r->map, r->map_size, text, size, output)) > 0) {
        *n = strlen(*output);
        return taken;
    }
    if (taken == 0)
        taken = MIN((size_t)g_utf8_skip[(guchar)*text], size);
    *output = text;
    return *n = taken;
}

/* Bytes of a mark at the beginning of text[size], a space or U+2581; 0: there is none. */
static size_t mark_size(const char *text, size_t size)
{
    return size > 0 && *text == ' ' ? 1 : size >= SPACE_SIZE && memcmp(text, SPACE, SPACE_SIZE) == 0 ? SPACE_SIZE : 0;
}

/* Is output[n] not empty, and all of it characters that no piece has, and no marks? */
static bool is_unknown(const xlm_piece_rules *r, const char *output, size_t n)
{
    for (const char *at = output; at < output + n; at = g_utf8_next_char(at))
        if (mark_size(at, (size_t)(output + n - at)) > 0 ||
            g_hash_table_contains(r->known, GUINT_TO_POINTER(g_utf8_get_char(at))))
            return false;
    return n > 0;
}

size_t xlm_cut_part(const xlm_piece_rules *r, const char *text, size_t size, size_t longest)
{
    if (size <= longest || r->bytes)
        return size;
    for (size_t at = 0, run = 0; at < size;) {
        const char *output;
        size_t n;
        const size_t taken = step(r, text + at, size - at, &output, &n);
        if (!is_unknown(r, output, n))
            run = 0;
        else if (run >= longest)
            return at;
        else
            run += n;
        at += taken;
    }
    return size;
}

/* ---- cuts ---- */

xlm_cut *xlm_cut_new(bool located)
{
    xlm_cut *cut = g_new0(xlm_cut, 1);
    cut->pieces = g_string_new(NULL);
    if (!located)
        return cut;
    cut->normal = g_string_new(NULL);
    cut->ends = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    cut->origins = g_array_new(FALSE, FALSE, sizeof(xlm_origin));
    return cut;
}

void xlm_cut_free(xlm_cut *cut)
{
    if (cut == NULL)
        return;
    g_string_free(cut->pieces, TRUE);
    if (cut->normal != NULL) {
        g_string_free(cut->normal, TRUE);
        g_array_unref(cut->ends);
        g_array_unref(cut->origins);
    }
    g_free(cut);
}

void xlm_cut_clear(xlm_cut *cut)
{
    g_string_truncate(cut->pieces, 0);
    if (cut->normal == NULL)
        return;
    g_string_truncate(cut->normal, 0);
    g_array_set_size(cut->ends, 0);
    g_array_set_size(cut->origins, 0);
}

/* Append a part that continues within a run of unknown characters. The library may have put the mark of a word's beginning in
 * front of it; what then begins it is more of the last piece. */
static void append_part(xlm_cut *cut, const xlm_cut *part)
{
    const size_t mark = g_str_has_prefix(part->pieces->str, SPACE) ? SPACE_SIZE : 0;
    const bool apart = mark > 0 && part->pieces->str[mark] == ' '; /* the mark is a piece */
    g_string_append_len(cut->pieces, part->pieces->str + mark + apart, (gssize)(part->pieces->len - mark - apart));
    if (cut->normal == NULL)
        return;
    const uint32_t before = (uint32_t)(cut->normal->len - mark);
    g_string_append_len(cut->normal, part->normal->str + mark, (gssize)(part->normal->len - mark));
    g_array_set_size(cut->ends, cut->ends->len - 1);
    for (guint i = apart; i < part->ends->len; i++) {
        const uint32_t end = before + g_array_index(part->ends, uint32_t, i);
        g_array_append_val(cut->ends, end);
    }
}

void xlm_cut_text(const xlm_piece_rules *r, const xlm_sentencepiece *library, const char *text, size_t size, size_t longest,
                  xlm_cut *cut)
{
    size_t end = xlm_cut_part(r, text, size, longest);
    xlm_sentencepiece_encode(library, text, end, cut->pieces, cut->normal, cut->ends);
    xlm_cut *part = end < size ? xlm_cut_new(cut->normal != NULL) : NULL;
    for (size_t start = end; start < size; start = end) {
        end = start + xlm_cut_part(r, text + start, size - start, longest);
        xlm_cut_clear(part);
        xlm_sentencepiece_encode(library, text + start, end - start, part->pieces, part->normal, part->ends);
        append_part(cut, part);
    }
    xlm_cut_free(part);
}

/* ---- places ---- */

/* Note origins of the marks that begin at normal[at]. Returns what comes after them. */
static size_t pass_marks(const GString *normal, size_t at, size_t origin, GArray *origins)
{
    for (size_t n; (n = mark_size(normal->str + at, normal->len - at)) > 0; at += n)
        xlm_origins_add(origins, n, origin, origin);
    return at;
}

bool xlm_cut_locate(const xlm_piece_rules *r, const char *text, size_t size, xlm_cut *cut)
{
    const GString *normal = cut->normal;
    size_t k = 0; /* of normal */
    g_array_set_size(cut->origins, 0);
    for (size_t at = 0, taken; at < size; at += taken) {
        const char *output;
        size_t n;
        taken = step(r, text + at, size - at, &output, &n);
        for (size_t i = 0, mark; i < n; i += mark > 0 ? mark : 1) {
            if ((mark = mark_size(output + i, n - i)) > 0)
                continue;
            k = pass_marks(normal, k, at, cut->origins);
            if (k >= normal->len || normal->str[k] != output[i])
                return false;
            xlm_origins_add(cut->origins, 1, at, at + taken);
            k++;
        }
    }
    return pass_marks(normal, k, size, cut->origins) == normal->len;
}
