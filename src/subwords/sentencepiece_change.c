/* xlm-mpi: models of SentencePiece with fewer and more pieces. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "subwords/sentencepiece.h"

static const char SPACE[] = XLM_PIECE_SPACE;

/* Keep the normal pieces with the lowest score, on which the score of unknown characters depends, and with the highest score, on
 * which the score of user-defined pieces depends. */
static void keep_extremes(const xlm_pieces *m, const xlm_word_counts *subwords, xlm_word_counts *kept)
{
    const xlm_model_piece *lowest = NULL, *highest = NULL;
    for (guint i = 0; i < m->pieces->len; i++) {
        const xlm_model_piece *piece = xlm_pieces_at(m, i);
        if (piece->kind != XLM_PIECE_NORMAL)
            continue;
        if (lowest == NULL || piece->score < lowest->score)
            lowest = piece;
        if (highest == NULL || piece->score > highest->score)
            highest = piece;
    }
    if (lowest == NULL)
        return;
    xlm_segmenter_keep(subwords, lowest->text, strlen(lowest->text), kept);
    xlm_segmenter_keep(subwords, highest->text, strlen(highest->text), kept);
}

/* For byte pairs: append the intermediate results on the way to a piece. Neighbours whose joined text is the piece of the highest
 * score are merged first; of equal ones, the first. */
static void keep_parts(GHashTable *by_text, const char *piece, const xlm_word_counts *subwords, xlm_word_counts *kept)
{
    g_autoptr(GPtrArray) symbols = g_ptr_array_new_with_free_func(g_free);
    for (const char *at = piece; *at != '\0'; at = g_utf8_next_char(at))
        g_ptr_array_add(symbols, g_strndup(at, (gsize)(g_utf8_next_char(at) - at)));
    for (;;) {
        const xlm_model_piece *best = NULL;
        guint where = 0;
        for (guint i = 0; i + 1 < symbols->len; i++) {
            g_autofree char *both = g_strconcat(symbols->pdata[i], symbols->pdata[i + 1], NULL);
            const xlm_model_piece *found = g_hash_table_lookup(by_text, both);
            if (found != NULL && (best == NULL || found->score > best->score)) {
                best = found;
                where = i;
            }
        }
        if (best == NULL)
            break;
        g_ptr_array_remove_index(symbols, where + 1);
        g_free(symbols->pdata[where]);
        symbols->pdata[where] = g_strdup(best->text);
        xlm_segmenter_keep(subwords, best->text, strlen(best->text), kept);
    }
}

/* Also keep pieces that are not normal (bytes, user-defined pieces) and those that ALBERT's rules cut again, which never occur in
 * segmented text. */
static void keep_needed(const xlm_pieces *m, const xlm_word_counts *subwords, xlm_word_counts *kept)
{
    for (guint i = 0; i < m->pieces->len; i++) {
        const xlm_model_piece *piece = xlm_pieces_at(m, i);
        const size_t size = strlen(piece->text);
        if (piece->kind != XLM_PIECE_NORMAL || (m->is_albert && !m->albert.fast && xlm_albert_cuts_again(piece->text, size)))
            xlm_segmenter_keep(subwords, piece->text, size, kept);
    }
    keep_extremes(m, subwords, kept);
    xlm_segmenter_keep(subwords, SPACE, strlen(SPACE), kept);
    xlm_segmenter_keep_characters(xlm_pieces_spell, m, subwords, "", "", kept);
    xlm_segmenter_keep_characters(xlm_pieces_spell, m, subwords, SPACE, "", kept);
    if (m->form.type == XLM_PIECES_UNIGRAM)
        return;
    g_autoptr(GHashTable) by_text = xlm_pieces_by_text(m);
    for (uint32_t i = 0; i < xlm_word_counts_size(kept); i++)
        keep_parts(by_text, xlm_word_counts_word(kept, i, NULL), subwords, kept);
}

/* A changed model has the rules of the original. NULL returns NULL. */
static void *with_rules_of(const xlm_pieces *from, xlm_pieces *m)
{
    if (m != NULL) {
        m->is_albert = from->is_albert;
        m->albert = from->albert;
    }
    return m;
}

void *xlm_sentencepiece_reduce(const void *model, const xlm_word_counts *subwords, xlm_word_counts *kept, GError **error)
{
    const xlm_pieces *m = model;
    keep_needed(m, subwords, kept);
    g_autofree uint8_t *keep = g_new(uint8_t, m->pieces->len);
    for (guint i = 0; i < m->pieces->len; i++) {
        const xlm_model_piece *piece = xlm_pieces_at(m, i);
        keep[i] = piece->kind != XLM_PIECE_NORMAL ||
                  xlm_word_counts_index(kept, piece->text, strlen(piece->text)) != UINT32_MAX;
    }
    xlm_pieces *reduced = xlm_pieces_new(xlm_sentencepiece_change(m->bytes->str, m->bytes->len, keep, NULL, 0), error);
    return with_rules_of(m, reduced);
}

/* The byte of a piece such as "<0x5A>"; -1: it is text. */
static int byte_of(const xlm_pieces *m, const char *text)
{
    const int byte = xlm_piece_byte(text);
    bool found = false;
    for (guint i = 0; i < m->pieces->len && byte >= 0 && !found; i++)
        found = xlm_pieces_at(m, i)->kind == XLM_PIECE_BYTE && strcmp(xlm_pieces_at(m, i)->text, text) == 0;
    return found ? byte : -1;
}

/* The pieces of a line together are its normalised text. */
char *xlm_sentencepiece_whole(const void *model, const char *word)
{
    const xlm_pieces *m = model;
    g_autoptr(GString) text = g_string_new(NULL), whole = g_string_new(NULL);
    g_autofree char *after_space = g_strconcat(m->form.space_first ? "" : " ", word, NULL);
    xlm_sentencepiece_encode(m->library, after_space, strlen(after_space), text, NULL, NULL);
    g_auto(GStrv) parts = g_strsplit(text->str, " ", -1);
    for (char **part = parts; *part != NULL; part++) {
        const int byte = byte_of(m, *part);
        if (byte < 0)
            g_string_append(whole, *part);
        else
            g_string_append_c(whole, (char)byte);
    }
    if (!g_utf8_validate(whole->str, -1, NULL) || !g_str_has_prefix(whole->str, SPACE))
        return NULL;
    const char *rest = whole->str + strlen(SPACE);
    return *rest == '\0' || strstr(rest, SPACE) != NULL ? NULL : g_strdup(whole->str);
}

/* The library's score of an unknown character: 10 less than the lowest of all normal pieces. */
static double score_of_unknown(const xlm_pieces *m)
{
    double lowest = 0;
    for (guint i = 0; i < m->pieces->len; i++)
        if (xlm_pieces_at(m, i)->kind == XLM_PIECE_NORMAL)
            lowest = MIN(lowest, (double)xlm_pieces_at(m, i)->score);
    return lowest - 10;
}

/* log p of the best pieces of a word, and a little more, so that the word by itself becomes one piece and other words that begin
 * with it change as little as possible. */
static float score_above_parts(const xlm_pieces *m, GHashTable *by_text, double unknown, const char *word)
{
    static const double ABOVE = 0.01;
    g_autoptr(GString) text = g_string_new(NULL);
    double score = ABOVE;
    xlm_sentencepiece_encode(m->library, word + strlen(SPACE), strlen(word) - strlen(SPACE), text, NULL, NULL);
    g_auto(GStrv) parts = g_strsplit(text->str, " ", -1);
    for (char **part = parts; *part != NULL; part++) {
        const xlm_model_piece *piece = g_hash_table_lookup(by_text, *part);
        const int byte = byte_of(m, *part);
        if ((byte & 0xC0) != 0x80) /* the bytes of a character are one unknown */
            score += piece != NULL && byte < 0 ? (double)piece->score : unknown;
    }
    return (float)score;
}

/* Unigram models get normal pieces; byte-pair models get user-defined pieces, which are never cut. */
void *xlm_sentencepiece_enlarge(const void *model, const xlm_word_counts *subwords, const xlm_word_counts *wanted,
                                xlm_word_counts *added, GError **error)
{
    const xlm_pieces *m = model;
    const bool unigram = m->form.type == XLM_PIECES_UNIGRAM;
    g_autoptr(GHashTable) by_text = xlm_pieces_by_text(m);
    const double unknown = score_of_unknown(m);
    g_autoptr(GArray) more = xlm_sentencepiece_new_pieces();
    bool good = true;
    for (uint32_t i = 0; i < xlm_word_counts_size(wanted) && good; i++) {
        size_t size;
        const char *word = xlm_word_counts_word(wanted, i, &size);
        const bool known = g_hash_table_contains(by_text, word);
        if (!known && (size <= strlen(SPACE) || !g_str_has_prefix(word, SPACE))) {
            good = xlm_error_set(error, EX_DATAERR, "`%s` cannot be added: it is not a word of SentencePiece", word);
            continue;
        }
        if (!known) {
            const xlm_model_piece piece = {g_strdup(word), unigram ? score_above_parts(m, by_text, unknown, word) : 0,
                                           unigram ? XLM_PIECE_NORMAL : XLM_PIECE_GIVEN};
            g_array_append_val(more, piece);
        }
        xlm_segmenter_add_missing(subwords, word, size, added);
    }
    g_autofree uint8_t *keep = g_new(uint8_t, m->pieces->len);
    memset(keep, 1, m->pieces->len);
    void *enlarged = !good ? NULL
                           : xlm_pieces_new(xlm_sentencepiece_change(m->bytes->str, m->bytes->len, keep,
                                                                (const xlm_model_piece *)(void *)more->data, more->len), error);
    return with_rules_of(m, enlarged);
}
