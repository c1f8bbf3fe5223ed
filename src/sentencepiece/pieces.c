/* xlm-mpi: a model of SentencePiece in memory. SPDX-License-Identifier: GPL-3.0-or-later */
#include "sentencepiece/pieces.h"

void xlm_pieces_free(void *model)
{
    xlm_pieces *m = model;
    if (m == NULL)
        return;
    if (m->pieces != NULL)
        g_array_unref(m->pieces);
    xlm_piece_rules_free(m->rules);
    g_string_free(m->bytes, TRUE);
    xlm_sentencepiece_free(m->library);
    g_free(m);
}

xlm_pieces *xlm_pieces_new(GString *bytes, GError **error)
{
    xlm_pieces *m = g_new0(xlm_pieces, 1);
    g_autofree char *message = NULL;
    m->bytes = bytes;
    m->pieces = xlm_sentencepiece_pieces(bytes->str, bytes->len, error);
    if (m->pieces != NULL && (m->library = xlm_sentencepiece_new(bytes->str, bytes->len, &message)) == NULL)
        xlm_error_set(error, EX_DATAERR, "SentencePiece cannot take this model: %s", message);
    if (m->library != NULL) {
        m->form = xlm_sentencepiece_form(bytes->str, bytes->len);
        m->rules = xlm_piece_rules_new(&m->form, m->pieces);
        return m;
    }
    xlm_pieces_free(m);
    return NULL;
}

GHashTable *xlm_pieces_by_text(const xlm_pieces *m)
{
    GHashTable *by_text = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < m->pieces->len; i++)
        g_hash_table_insert(by_text, xlm_pieces_at(m, i)->text, (void *)(uintptr_t)xlm_pieces_at(m, i));
    return by_text;
}
