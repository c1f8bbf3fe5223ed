/* xlm-mpi: cutting text into pieces by SentencePiece, with their places. SPDX-License-Identifier: GPL-3.0-or-later */
#include "sentencepiece/cut.h"

#include <string.h>

static const char SPACE[] = "\xe2\x96\x81"; /* U+2581, before a word */
enum { SPACE_SIZE = sizeof SPACE - 1 };

struct xlm_piece_rules {
    const char *map; /* borrowed */
    size_t map_size;
    GPtrArray *given;       /* char *, borrowed: user-defined pieces */
    bool begins_given[256]; /* first bytes of these */
    GHashTable *single;     /* characters that are pieces */
    GPtrArray *longer;      /* char *, sorted: pieces of several characters that are not all in `single`, folded (fold_marks) */
    bool bytes;             /* unknown characters become pieces of their bytes */
};

/* Number of bytes of the mark (a space or U+2581) at the beginning of text[size]; 0: there is none. */
static size_t mark_size(const char *text, size_t size)
{
    return size > 0 && *text == ' ' ? 1 : size >= SPACE_SIZE && memcmp(text, SPACE, SPACE_SIZE) == 0 ? SPACE_SIZE : 0;
}

/* Append text[size], with consecutive marks folded into one U+2581, together with marks at the end of the existing text. */
static void fold_marks(const char *text, size_t size, GString *out)
{
    for (size_t i = 0, mark; i < size; i += mark > 0 ? mark : 1) {
        mark = mark_size(text + i, size - i);
        if (mark == 0)
            g_string_append_c(out, text[i]);
        else if (out->len < SPACE_SIZE || memcmp(out->str + out->len - SPACE_SIZE, SPACE, SPACE_SIZE) != 0)
            g_string_append_len(out, SPACE, SPACE_SIZE);
    }
}

static bool is_single(const xlm_piece_rules *r, const char *at)
{
    return g_hash_table_contains(r->single, GUINT_TO_POINTER(g_utf8_get_char(at)));
}

static int compare_texts(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Find out which characters the pieces have, alone and next to others. */
static void read_characters(xlm_piece_rules *r, const GArray *pieces, bool unigram)
{
    g_autoptr(GPtrArray) used = g_ptr_array_new(); /* char * */
    for (guint i = 0; i < pieces->len; i++) {
        const xlm_model_piece *piece = &g_array_index(pieces, xlm_model_piece, i);
        if (piece->kind == XLM_PIECE_NORMAL || piece->kind == XLM_PIECE_GIVEN || (piece->kind == XLM_PIECE_UNUSED && !unigram))
            g_ptr_array_add(used, piece->text);
    }
    for (guint i = 0; i < used->len; i++) {
        const char *text = used->pdata[i];
        if (*text != '\0' && *g_utf8_next_char(text) == '\0')
            g_hash_table_add(r->single, GUINT_TO_POINTER(g_utf8_get_char(text)));
    }
    for (guint i = 0; i < used->len; i++) {
        const char *text = used->pdata[i], *at = text;
        while (*at != '\0' && is_single(r, at))
            at = g_utf8_next_char(at);
        if (*at == '\0')
            continue;
        GString *folded = g_string_new(NULL);
        fold_marks(text, strlen(text), folded);
        g_ptr_array_add(r->longer, g_string_free(folded, FALSE));
    }
    g_ptr_array_sort(r->longer, compare_texts);
}

xlm_piece_rules *xlm_piece_rules_new(const xlm_model_form *form, const GArray *pieces)
{
    xlm_piece_rules *r = g_new0(xlm_piece_rules, 1);
    r->map = form->map;
    r->map_size = form->map_size;
    r->given = g_ptr_array_new();
    r->single = g_hash_table_new(NULL, NULL);
    r->longer = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < pieces->len; i++) {
        const xlm_model_piece *piece = &g_array_index(pieces, xlm_model_piece, i);
        r->bytes = r->bytes || piece->kind == XLM_PIECE_BYTE;
        if (piece->kind == XLM_PIECE_GIVEN) {
            g_ptr_array_add(r->given, piece->text);
            r->begins_given[(unsigned char)*piece->text] = true;
        }
    }
    read_characters(r, pieces, form->type == XLM_PIECES_UNIGRAM);
    return r;
}

void xlm_piece_rules_free(xlm_piece_rules *r)
{
    if (r == NULL)
        return;
    g_ptr_array_unref(r->given);
    g_hash_table_unref(r->single);
    g_ptr_array_unref(r->longer);
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

/* One step of the library's normalisation: text[0 .. result) becomes output[*n]. size > 0. */
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

/* ---- unknown characters ---- */

/* The first of the sorted pieces [low, high), all longer than k bytes, whose byte k is at least `byte`. */
static guint first_from(const GPtrArray *pieces, guint low, guint high, size_t k, int byte)
{
    while (low < high) {
        const guint middle = low + (high - low) / 2;
        if ((unsigned char)((const char *)pieces->pdata[middle])[k] < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Number of bytes at the beginning of text[size] that the longest matching piece of r->longer has; 0: none matches. after_mark:
 * compare with pieces that begin with a mark, as if a mark came before the text. */
static size_t match_longer(const xlm_piece_rules *r, bool after_mark, const char *text, size_t size)
{
    const size_t front = after_mark ? SPACE_SIZE : 0;
    size_t longest = 0;
    guint low = 0, high = r->longer->len;
    for (size_t k = 0; low < high; k++) {
        for (; low < high && ((const char *)r->longer->pdata[low])[k] == '\0'; low++)
            longest = k;
        if (k == front + size)
            break;
        const int byte = (unsigned char)(k < front ? SPACE[k] : text[k - front]);
        low = first_from(r->longer, low, high, k, byte);
        high = first_from(r->longer, low, high, k, byte + 1);
    }
    return longest - MIN(longest, front);
}

/* Are there characters in `folded` from `at` to `end`, none of which could be part of a piece? [in, out] covered: the end of the
 * pieces that begin before `at`, then of those that begin before `end`. */
static bool is_unknown(const xlm_piece_rules *r, const GString *folded, size_t at, size_t end, size_t *covered)
{
    bool unknown = at < end;
    for (size_t n; at < end; at += n) {
        const char *text = folded->str + at;
        n = (size_t)g_utf8_skip[(guchar)*text];
        const size_t longest = match_longer(r, false, text, folded->len - at);
        *covered = MAX(*covered, at + (is_single(r, text) ? MAX(longest, n) : longest));
        unknown = unknown && *covered <= at;
    }
    return unknown;
}

/* ---- parts ---- */

/* A normalisation step: where it begins in the text, and in the normalised and folded text. */
typedef struct text_step {
    size_t at, folded;
} text_step;

/* The steps of a text, and one more at its end. A mark comes first, because the library may put one there. */
static GArray *read_steps(const xlm_piece_rules *r, const char *text, size_t size, GString *folded)
{
    GArray *steps = g_array_new(FALSE, FALSE, sizeof(text_step));
    fold_marks(SPACE, SPACE_SIZE, folded);
    for (size_t at = 0; at <= size;) {
        const text_step now = {at, folded->len};
        const char *output;
        size_t n = 0;
        g_array_append_val(steps, now);
        at += at < size ? step(r, text + at, size - at, &output, &n) : 1;
        if (n > 0)
            fold_marks(output, n, folded);
    }
    return steps;
}

GArray *xlm_cut_places(const xlm_piece_rules *r, const char *text, size_t size, size_t longest)
{
    GArray *places = g_array_new(FALSE, FALSE, sizeof(xlm_cut_place));
    if (size <= longest || r->bytes)
        return places;
    g_autoptr(GString) folded = g_string_new(NULL);
    g_autoptr(GArray) steps = read_steps(r, text, size, folded);
    size_t run = 0, covered = 0; /* run: bytes of unknown characters since the last place */
    const text_step *start = NULL; /* where the next part will begin */
    bool inside = false;           /* the previous character is unknown, and not a mark */
    is_unknown(r, folded, 0, SPACE_SIZE, &covered);
    for (guint i = 0; i + 1 < steps->len; i++) {
        const text_step *now = &g_array_index(steps, text_step, i);
        const size_t n = now[1].folded - now->folded;
        if (n == 0)
            continue;
        const bool unknown = is_unknown(r, folded, now->folded, now[1].folded, &covered);
        const bool mark = g_strstr_len(folded->str + now->folded, (gssize)n, SPACE) != NULL;
        if (!unknown || mark)
            start = NULL;
        else if (start == NULL && inside && run >= longest)
            start = now;
        /* A mark before the part must not form a piece with the characters after the place. */
        if (start != NULL && now->folded >= start->folded + match_longer(r, true, folded->str + start->folded,
                                                                         folded->len - start->folded)) {
            const xlm_cut_place place = {now->at, start->at, now->folded - start->folded};
            g_array_append_val(places, place);
            start = NULL;
            run = 0;
        }
        run = unknown ? run + n : 0;
        inside = unknown && !mark;
    }
    return places;
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

/* Append the pieces of a part without its first `skip` bytes of normalised text, and without the mark that the library may have
 * put before them. The first of these pieces continues the last piece. */
static void append_part(xlm_cut *cut, const xlm_cut *part, size_t skip)
{
    const size_t left_out = skip + (g_str_has_prefix(part->pieces->str, SPACE) ? SPACE_SIZE : 0);
    const char *rest = part->pieces->str;
    guint pieces = 0; /* number of pieces that are left out whole */
    for (size_t n = 0; *rest != '\0' && (n < left_out || *rest == ' '); rest++)
        if (*rest == ' ')
            pieces++;
        else
            n++;
    g_string_append(cut->pieces, rest);
    if (cut->normal == NULL || cut->ends->len == 0 || part->normal->len < left_out)
        return; /* the library has failed or has normalised the text differently, which xlm_cut_locate detects */
    const uint32_t before = (uint32_t)(cut->normal->len - left_out);
    g_string_append_len(cut->normal, part->normal->str + left_out, (gssize)(part->normal->len - left_out));
    g_array_set_size(cut->ends, cut->ends->len - 1);
    for (guint i = pieces; i < part->ends->len; i++) {
        const uint32_t end = before + g_array_index(part->ends, uint32_t, i);
        g_array_append_val(cut->ends, end);
    }
}

void xlm_cut_text(const xlm_piece_rules *r, const xlm_sentencepiece *library, const char *text, size_t size, size_t longest,
                  xlm_cut *cut)
{
    g_autoptr(GArray) places = xlm_cut_places(r, text, size, longest);
    const xlm_cut_place *place = (const xlm_cut_place *)(const void *)places->data;
    xlm_sentencepiece_encode(library, text, places->len > 0 ? place->end : size, cut->pieces, cut->normal, cut->ends);
    xlm_cut *part = places->len > 0 ? xlm_cut_new(cut->normal != NULL) : NULL;
    for (guint i = 0; i < places->len; i++, place++) {
        const size_t end = i + 1 < places->len ? place[1].end : size;
        xlm_cut_clear(part);
        xlm_sentencepiece_encode(library, text + place->start, end - place->start, part->pieces, part->normal, part->ends);
        append_part(cut, part, place->skip);
    }
    xlm_cut_free(part);
}

/* ---- places ---- */

/* Add the origins of the marks that begin at normal[at]. Returns the index after them. */
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
