/* xlm-mpi: ids of the pieces of a SentencePiece model in vocabularies. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "subwords/sentencepiece.h"

bool xlm_sentencepiece_number_as_fairseq(const GArray *pieces, const xlm_tokenizer_files *files, const char *name,
                                         xlm_published_tokens *tokens, GError **error)
{
    static const char *const first[] = {"<s>", "<pad>", "</s>", "<unk>"};
    enum { OWN = 3 };
    bool good = true;
    for (size_t i = 0; i < G_N_ELEMENTS(first) && good; i++)
        good = xlm_published_tokens_set(tokens, files, name, (int64_t)i, first[i], error);
    for (guint i = OWN; i < pieces->len && good; i++) {
        const xlm_model_piece *piece = &g_array_index(pieces, xlm_model_piece, i);
        good = xlm_published_tokens_set(tokens, files, name, (int64_t)i + 1, piece->text, error);
    }
    return good;
}

bool xlm_sentencepiece_has_pieces(const xlm_vocabulary *v, const xlm_pieces *m, guint first, guint shift)
{
    guint n = m->pieces->len;
    while (n > 0 && n + shift > xlm_vocabulary_size(v) && xlm_pieces_at(m, n - 1)->kind == XLM_PIECE_BYTE)
        n--;
    if (xlm_vocabulary_size(v) < (int64_t)n + shift)
        return false;
    for (guint i = first; i < n; i++)
        if (strcmp(xlm_vocabulary_words(v)[i + shift], xlm_pieces_at(m, i)->text) != 0)
            return false;
    return true;
}
