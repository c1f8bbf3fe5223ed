/* xlm-mpi: models of SentencePiece as files of transformers. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/sentencepiece_publish.h"

#include <string.h>

#include "base/log.h"
#include "text/sentencepiece_model.h"
#include "text/tokenizer_print.h"

static const char SPACE[] = "\xe2\x96\x81"; /* U+2581 */

static const xlm_model_piece *piece_at(const GArray *pieces, guint i) { return &g_array_index(pieces, xlm_model_piece, i); }

/* ---- whose ids ---- */

/* Has the vocabulary the pieces from `first` on, `shift` ids further on? */
static bool has_pieces(const xlm_vocabulary *v, const GArray *pieces, guint first, guint shift)
{
    if (xlm_vocabulary_size(v) < (int64_t)pieces->len + shift)
        return false;
    for (guint i = first; i < pieces->len; i++)
        if (strcmp(xlm_vocabulary_words(v)[i + shift], piece_at(pieces, i)->text) != 0)
            return false;
    return true;
}

static bool is_fairseq(const xlm_vocabulary *v, const GArray *pieces)
{
    static const xlm_special first[] = {XLM_BOS, XLM_PAD, XLM_EOS, XLM_UNK};
    enum { OWN = 3 };
    for (int i = 0; i < (int)G_N_ELEMENTS(first); i++)
        if (xlm_vocabulary_special(v, first[i]) != i)
            return false;
    for (guint i = 0; i < OWN && i < pieces->len; i++)
        if (piece_at(pieces, i)->kind == XLM_PIECE_NORMAL)
            return false;
    return pieces->len > OWN && has_pieces(v, pieces, OWN, 1) &&
           xlm_vocabulary_special(v, XLM_MASK) == (int32_t)pieces->len + 1;
}

/* ---- tokenizer.json ---- */

/* [text, score] of each id. What is no piece of text is never the best. */
static json_t *print_vocabulary(const xlm_vocabulary *v, const GArray *pieces)
{
    static const double NEVER = -1e6;
    GHashTable *by_text = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < pieces->len; i++)
        g_hash_table_insert(by_text, piece_at(pieces, i)->text, (void *)(uintptr_t)piece_at(pieces, i));
    json_t *all = json_array();
    for (int64_t id = 0; id < xlm_vocabulary_size(v); id++) {
        const char *word = xlm_vocabulary_words(v)[id];
        const bool special = xlm_vocabulary_is_special(v, (int32_t)id);
        const xlm_model_piece *piece = special ? NULL : g_hash_table_lookup(by_text, word);
        const bool text = piece != NULL && (piece->kind == XLM_PIECE_NORMAL || piece->kind == XLM_PIECE_GIVEN);
        json_array_append_new(all, json_pack("[s, f]", word, special ? 0 : text ? (double)piece->score : NEVER));
    }
    g_hash_table_unref(by_text);
    return all;
}

/* What the library does before it cuts: the map of characters, and one space for several. */
static json_t *print_normaliser(const GString *bytes)
{
    size_t size;
    const char *map = xlm_sentencepiece_map(bytes->str, bytes->len, &size);
    json_t *steps = json_array();
    if (size > 0) {
        char *text = g_base64_encode((const guchar *)map, size);
        json_array_append_new(steps, json_pack("{s:s, s:s}", "type", "Precompiled", "precompiled_charsmap", text));
        g_free(text);
    }
    json_array_append_new(steps, json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern", "Regex", " {2,}", "content",
                                           " "));
    return json_pack("{s:s, s:o}", "type", "Sequence", "normalizers", steps);
}

static json_t *print_metaspace(void)
{
    return json_pack("{s:s, s:s, s:b, s:s}", "type", "Metaspace", "replacement", SPACE, "add_prefix_space", 1, "prepend_scheme",
                     "always");
}

static json_t *print_tokenizer(const xlm_vocabulary *v, const GString *bytes, const GArray *pieces)
{
    json_t *model = json_pack("{s:s, s:i, s:o, s:b}", "type", "Unigram", "unk_id", xlm_vocabulary_special(v, XLM_UNK), "vocab",
                              print_vocabulary(v, pieces), "byte_fallback", 0);
    json_t *splitter = json_pack("{s:s, s:[{s:s}, o]}", "type", "Sequence", "pretokenizers", "type", "WhitespaceSplit",
                                 print_metaspace());
    return json_pack("{s:s, s:n, s:n, s:o, s:o, s:o, s:o, s:o, s:o}", "version", "1.0", "truncation", "padding", "added_tokens",
                     xlm_tokenizer_print_specials(v), "normalizer", print_normaliser(bytes), "pre_tokenizer", splitter,
                     "post_processor", xlm_tokenizer_print_template(v), "decoder", print_metaspace(), "model", model);
}

/* ---- all of it ---- */

static void publish_albert(const xlm_albert_text *rules, json_t *settings)
{
    json_object_set_new(settings, "tokenizer_class", json_string("AlbertTokenizer"));
    json_object_set_new(settings, "do_lower_case", json_boolean(rules->lower));
    json_object_set_new(settings, "keep_accents", json_boolean(rules->keep_accents));
    json_object_set_new(settings, "remove_space", json_boolean(rules->remove_space));
}

void xlm_sentencepiece_publish(const xlm_vocabulary *v, const GString *bytes, const GArray *pieces,
                               const xlm_albert_text *albert, json_t *files, json_t *settings, GString *notes)
{
    int made;
    xlm_vocabulary_made_languages(v, &made);
    if (made > 0)
        g_string_append(notes, "Text of synthetic languages, which xlm-mpi makes of another language's, cannot be tokenised "
                        "here.\n");
    const bool own = has_pieces(v, pieces, 0, 0), unigram = xlm_sentencepiece_type(bytes->str, bytes->len) == 1;
    if (is_fairseq(v, pieces)) {
        json_object_set_new(files, "sentencepiece.bpe.model", json_stringn_nocheck(bytes->str, bytes->len));
        json_object_set_new(settings, "tokenizer_class", json_string("XLMRobertaTokenizer"));
        return;
    }
    if (own && albert != NULL) {
        json_object_set_new(files, "spiece.model", json_stringn_nocheck(bytes->str, bytes->len));
        publish_albert(albert, settings);
        return;
    }
    if (unigram && albert == NULL) {
        json_object_set_new(files, "tokenizer.json", print_tokenizer(v, bytes, pieces));
        json_object_set_new(settings, "tokenizer_class", json_string("PreTrainedTokenizerFast"));
        return;
    }
    if (own)
        json_object_set_new(files, "sentencepiece.model", json_stringn_nocheck(bytes->str, bytes->len));
    xlm_log_warn("transformers have no tokenizer for this model of SentencePiece with the ids of the vocabulary");
    g_string_append(notes, "Transformers have no tokenizer for this model of SentencePiece with the ids of the vocabulary: "
                    "tokenise with xlm-mpi, and give them the ids.\n");
}
