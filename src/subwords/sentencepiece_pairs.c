/* xlm-mpi: tokenizers of byte pairs with bytes for unknown characters (Gemma). SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Such a tokenizer.json was made of a model of SentencePiece, and is read as one: spaces become U+2581, a merge has the rank of
 * the piece that it makes, and a character that no piece has becomes its bytes, "<0xE2>" and so on. Merges there are all the
 * divisions of a piece into two others, so a piece has a score: minus the rank of its first merge. Tokens that are added there
 * and are not special, such as "<h1>", are found in text before anything is merged (pieces that the user gave). Those of nothing
 * but spaces or line ends are made by merges too, and are so here, because text gets its spaces' marks only after added tokens
 * are found. */
#include <stdlib.h>
#include <string.h>

#include "subwords/sentencepiece.h"
#include "subwords/tokenizer_print.h"
#include "subwords/vocabulary.h"

static const char TOKENIZER[] = "tokenizer.json";

bool xlm_sentencepiece_is_pairs(const xlm_tokenizer_files *files)
{
    return g_strcmp0(xlm_tokenizer_model_type(files), "BPE") == 0 &&
           json_is_true(xlm_tokenizer_value(files, TOKENIZER, "model", "byte_fallback", NULL));
}

/* ---- steps ---- */

static const char *text_at(const json_t *step, const char *key) { return json_string_value(json_object_get(step, key)); }

/* {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"} */
static bool marks_spaces(const json_t *step)
{
    return xlm_tokenizer_is_type(step, "Replace") && g_strcmp0(text_at(json_object_get(step, "pattern"), "String"), " ") == 0 &&
           g_strcmp0(text_at(step, "content"), XLM_PIECE_SPACE) == 0;
}

/* Spaces marked, perhaps after a mark was put before the text (Llama). */
static bool read_normalizer(const json_t *normalizer, bool *space_first)
{
    const json_t *steps = json_object_get(normalizer, "normalizers"), *first = json_array_get(steps, 0);
    *space_first = xlm_tokenizer_is_type(normalizer, "Sequence") && xlm_tokenizer_is_type(first, "Prepend") &&
                   g_strcmp0(text_at(first, "prepend"), XLM_PIECE_SPACE) == 0;
    return *space_first ? json_array_size(steps) == 2 && marks_spaces(json_array_get(steps, 1)) : marks_spaces(normalizer);
}

/* None; or one at spaces, of which there are none any more. */
static bool read_splitter(const json_t *splitter)
{
    return splitter == NULL || json_is_null(splitter) ||
           (xlm_tokenizer_is_type(splitter, "Split") &&
            g_strcmp0(text_at(json_object_get(splitter, "pattern"), "String"), " ") == 0);
}

static bool read_steps(const xlm_tokenizer_files *files, bool *space_first, GError **error)
{
    static const char *const marks[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    if (!read_normalizer(xlm_tokenizer_value(files, TOKENIZER, "normalizer", NULL), space_first))
        return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "its normalizer is not that of byte pairs of SentencePiece "
                                    "(spaces replaced by U+2581, perhaps one before the text); give the directory with the "
                                    ".model instead");
    if (!read_splitter(xlm_tokenizer_value(files, TOKENIZER, "pre_tokenizer", NULL)))
        return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "its pre_tokenizer divides text before subwords are merged, "
                                    "which is not supported with byte_fallback; give the directory with the .model instead");
    for (size_t i = 0; i < G_N_ELEMENTS(marks); i++) {
        const char *mark = json_string_value(xlm_tokenizer_value(files, TOKENIZER, "model", marks[i], NULL));
        if (mark != NULL && *mark != '\0')
            return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "%s is set, which is not supported with byte_fallback",
                                        marks[i]);
    }
    return true;
}

/* ---- pieces ---- */

static bool is_blank(const char *text)
{
    for (size_t n; *text != '\0'; text += n)
        if ((n = g_str_has_prefix(text, XLM_PIECE_SPACE) ? strlen(XLM_PIECE_SPACE) : *text == '\n') == 0)
            return false;
    return true;
}

static bool is_single(const char *text) { return *text != '\0' && *g_utf8_next_char(text) == '\0'; }

/* Which tokens are added: of their text, whether they are special (1) or not (2). */
static GHashTable *list_added(const xlm_tokenizer_files *files)
{
    GHashTable *added = g_hash_table_new(g_str_hash, g_str_equal);
    const json_t *token;
    size_t i;
    json_array_foreach(xlm_tokenizer_value(files, TOKENIZER, "added_tokens", NULL), i, token)
        if (text_at(token, "content") != NULL)
            g_hash_table_insert(added, (char *)(uintptr_t)text_at(token, "content"),
                                GINT_TO_POINTER(json_is_true(json_object_get(token, "special")) ? 1 : 2));
    return added;
}

static bool has_role(const xlm_published_tokens *tokens, const char *text)
{
    bool found = false;
    for (int s = 0; s < XLM_SPECIAL_TOKENS; s++)
        found = found || g_strcmp0(tokens->special[s], text) == 0;
    return found;
}

/* A piece of each token; those that only merges make have no score yet, and are left out of text if none does. */
static void list_pieces(const xlm_published_tokens *tokens, const char *unknown, GHashTable *added, GArray *pieces)
{
    for (guint i = 0; i < tokens->text->len; i++) {
        const char *text = tokens->text->pdata[i];
        const int how = GPOINTER_TO_INT(g_hash_table_lookup(added, text));
        const xlm_model_piece piece = {
            g_strdup(text), 0, strcmp(text, unknown) == 0                ? XLM_PIECE_UNKNOWN
                               : how == 1 || has_role(tokens, text)      ? XLM_PIECE_CONTROL
                               : xlm_piece_byte(text) >= 0               ? XLM_PIECE_BYTE
                               : how == 2 && !is_blank(text)             ? XLM_PIECE_GIVEN
                               : is_single(text)                         ? XLM_PIECE_NORMAL
                                                                         : XLM_PIECE_UNUSED};
        g_array_append_val(pieces, piece);
    }
}

/* The library needs pieces of all bytes. That of a character of ASCII may have been replaced by the character (Gemma's tab): it
 * comes after all others, without an id, and text never becomes it. */
static void add_bytes(GArray *pieces)
{
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < pieces->len; i++)
        g_hash_table_add(known, g_array_index(pieces, xlm_model_piece, i).text);
    for (int byte = 0; byte < 0x80; byte++) {
        const char character[2] = {(char)byte, '\0'};
        const xlm_model_piece piece = {g_strdup_printf("<0x%02X>", (unsigned)byte), 0, XLM_PIECE_BYTE};
        if (byte > 0 && !g_hash_table_contains(known, piece.text) && g_hash_table_contains(known, character))
            g_array_append_val(pieces, piece);
        else
            g_free(piece.text);
    }
}

/* The piece that a merge makes; NULL: none. [out] joined: scratch. */
static xlm_model_piece *piece_of_merge(const json_t *entry, GHashTable *by_text, GString *joined)
{
    const char *left = json_string_value(json_array_get(entry, 0)), *right = json_string_value(json_array_get(entry, 1));
    const char *pair = json_string_value(entry), *space = pair != NULL ? strchr(pair, ' ') : NULL;
    g_string_truncate(joined, 0);
    if (space != NULL) {
        g_string_append_len(joined, pair, space - pair);
        g_string_append(joined, space + 1);
    } else if (left != NULL && right != NULL) {
        g_string_append(joined, left);
        g_string_append(joined, right);
    }
    return g_hash_table_lookup(by_text, joined->str);
}

static bool read_merges(const xlm_tokenizer_files *files, GArray *pieces, GError **error)
{
    const json_t *merges = xlm_tokenizer_json_merges(files, error), *entry;
    g_autoptr(GHashTable) by_text = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GString) joined = g_string_new(NULL);
    size_t i;
    if (merges == NULL)
        return false;
    if (json_array_size(merges) > 1 << 24)
        return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "has %zu merges; more than 2^24 have no ranks here",
                                    json_array_size(merges));
    for (guint k = 0; k < pieces->len; k++) {
        xlm_model_piece *piece = &g_array_index(pieces, xlm_model_piece, k);
        g_hash_table_insert(by_text, piece->text, piece);
    }
    json_array_foreach(merges, i, entry) {
        xlm_model_piece *piece = piece_of_merge(entry, by_text, joined);
        if (piece == NULL)
            return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "merge %zu makes no token of the vocabulary", i + 1);
        if (piece->kind != XLM_PIECE_UNUSED)
            continue; /* not the first merge, or a token that is found before */
        piece->kind = XLM_PIECE_NORMAL;
        piece->score = -(float)i;
    }
    return true;
}

void *xlm_sentencepiece_adopt_pairs(const xlm_tokenizer_files *files, xlm_published_tokens *tokens,
                                  const char *const usual[XLM_SPECIAL_TOKENS], GError **error)
{
    xlm_model_form form = {.type = XLM_PIECES_PAIRS, .bytes = true};
    const char *unknown = json_string_value(xlm_tokenizer_value(files, TOKENIZER, "model", "unk_token", NULL));
    if (!read_steps(files, &form.space_first, error) ||
        !xlm_published_tokens_add_object(tokens, files, TOKENIZER,
                                         xlm_tokenizer_value(files, TOKENIZER, "model", "vocab", NULL), error) ||
        !xlm_published_tokens_add_added(tokens, files, error))
        return NULL;
    for (guint i = 0; i < tokens->text->len; i++)
        if (tokens->text->pdata[i] == NULL || *(const char *)tokens->text->pdata[i] == '\0') {
            xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "no token, or an empty one, has the id %u", i);
            return NULL;
        }
    if (unknown == NULL) {
        xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "has no unknown token (unk_token)");
        return NULL;
    }
    xlm_published_tokens_find_special(tokens, files, usual);
    g_autoptr(GArray) pieces = xlm_sentencepiece_new_pieces();
    g_autoptr(GHashTable) added = list_added(files);
    list_pieces(tokens, unknown, added, pieces);
    if (!read_merges(files, pieces, error))
        return NULL;
    add_bytes(pieces);
    g_autoptr(GError) failure = NULL;
    const xlm_model_piece *all = (const xlm_model_piece *)(void *)pieces->data;
    void *m = xlm_pieces_new(xlm_sentencepiece_write(all, pieces->len, &form), &failure);
    if (m == NULL)
        xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "as a model of SentencePiece: %s", failure->message);
    return m;
}

/* ---- back ---- */

typedef struct made {
    const xlm_model_piece *piece;
    int64_t id;
} made;

/* By falling score; of pieces that the user gave, the longest first. */
static int by_rank(const void *a, const void *b)
{
    const made *x = a, *y = b;
    const size_t m = strlen(x->piece->text), n = strlen(y->piece->text);
    return x->piece->score < y->piece->score || x->piece->score > y->piece->score ? (x->piece->score < y->piece->score ? 1 : -1)
           : m != n                                                               ? (m < n ? 1 : -1)
                                                                                  : (x->id > y->id) - (x->id < y->id);
}

/* Is it made by merges there? */
static bool is_merged(const xlm_model_piece *piece)
{
    return !is_single(piece->text) &&
           (piece->kind == XLM_PIECE_NORMAL || (piece->kind == XLM_PIECE_GIVEN && is_blank(piece->text)));
}

typedef struct division {
    int64_t left, right; /* ids */
} division;

static int by_ids(const void *a, const void *b)
{
    const division *x = a, *y = b;
    return x->left != y->left ? (x->left > y->left) - (x->left < y->left) : (x->right > y->right) - (x->right < y->right);
}

/* Append all divisions of a piece into two others, by their ids. ids: text -> id + 1 of pieces that text becomes. */
static void print_divisions(const xlm_pieces *m, GHashTable *ids, const char *text, json_t *merges)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(division));
    for (const char *at = g_utf8_next_char(text); *at != '\0'; at = g_utf8_next_char(at)) {
        g_autofree char *left = g_strndup(text, (gsize)(at - text));
        const division d = {GPOINTER_TO_INT(g_hash_table_lookup(ids, left)) - 1,
                            GPOINTER_TO_INT(g_hash_table_lookup(ids, at)) - 1};
        if (d.left >= 0 && d.right >= 0)
            g_array_append_val(all, d);
    }
    g_array_sort(all, by_ids);
    for (guint i = 0; i < all->len; i++) {
        const division *d = &g_array_index(all, division, i);
        json_array_append_new(merges, json_pack("[s, s]", xlm_pieces_at(m, (guint)d->left)->text,
                                                xlm_pieces_at(m, (guint)d->right)->text));
    }
}

static json_t *print_merges(const xlm_pieces *m)
{
    g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(made));
    g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
    json_t *merges = json_array();
    for (guint i = 0; i < m->pieces->len; i++) {
        const made one = {xlm_pieces_at(m, i), i};
        if (is_merged(one.piece))
            g_array_append_val(order, one);
        if (is_merged(one.piece) || (one.piece->kind == XLM_PIECE_NORMAL && is_single(one.piece->text)))
            g_hash_table_insert(ids, one.piece->text, GINT_TO_POINTER((int)i + 1));
    }
    g_array_sort(order, by_rank);
    for (guint i = 0; i < order->len; i++)
        print_divisions(m, ids, g_array_index(order, made, i).piece->text, merges);
    return merges;
}

static json_t *print_added(const xlm_vocabulary *v, const xlm_pieces *m)
{
    json_t *added = xlm_tokenizer_print_specials(v);
    for (guint i = 0; i < m->pieces->len; i++) {
        const xlm_model_piece *piece = xlm_pieces_at(m, i);
        const bool control = piece->kind == XLM_PIECE_CONTROL;
        if (!xlm_vocabulary_is_special(v, (int32_t)i) && (control || (piece->kind == XLM_PIECE_GIVEN && !is_merged(piece))))
            json_array_append_new(added, xlm_tokenizer_print_added((int32_t)i, piece->text, control ? XLM_ADDED_SPECIAL : 0));
    }
    return added;
}

/* {"type": "Replace", "pattern": {"String": from}, "content": to} */
static json_t *print_replace(const char *from, const char *to)
{
    return json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern", "String", from, "content", to);
}

json_t *xlm_sentencepiece_print_pairs(const xlm_vocabulary *v, const xlm_pieces *m)
{
    const xlm_model_form *form = &m->form;
    if (form->type != XLM_PIECES_PAIRS || form->map_size > 0 || form->one_space || !form->bytes)
        return NULL;
    json_t *vocabulary = json_object();
    for (int64_t id = 0; id < xlm_vocabulary_size(v); id++)
        json_object_set_new(vocabulary, xlm_vocabulary_words(v)[id], json_integer(id));
    json_t *model = json_pack("{s:s, s:n, s:s, s:n, s:n, s:b, s:b, s:o, s:o}", "type", "BPE", "dropout", "unk_token",
                              xlm_vocabulary_words(v)[xlm_vocabulary_special(v, XLM_UNK)], "continuing_subword_prefix",
                              "end_of_word_suffix", "fuse_unk", 1, "byte_fallback", 1, "vocab", vocabulary, "merges",
                              print_merges(m));
    json_t *normalizer = print_replace(" ", XLM_PIECE_SPACE);
    json_t *decoders = json_pack("[o, {s:s}, {s:s}]", print_replace(XLM_PIECE_SPACE, " "), "type", "ByteFallback", "type",
                                 "Fuse");
    if (form->space_first) {
        normalizer = json_pack("{s:s, s:[{s:s, s:s}, o]}", "type", "Sequence", "normalizers", "type", "Prepend", "prepend",
                               XLM_PIECE_SPACE, normalizer);
        json_array_append_new(decoders, json_pack("{s:s, s:s, s:i, s:i}", "type", "Strip", "content", " ", "start", 1, "stop",
                                                  0));
    }
    return json_pack("{s:s, s:n, s:n, s:o, s:o, s:n, s:o, s:o, s:o}", "version", "1.0", "truncation", "padding", "added_tokens",
                     print_added(v, m), "normalizer", normalizer, "pre_tokenizer", "post_processor",
                     xlm_tokenizer_print_template(v), "decoder",
                     json_pack("{s:s, s:o}", "type", "Sequence", "decoders", decoders), "model", model);
}
