/* xlm-mpi: models of SentencePiece as files of transformers. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The kind of file depends on the ids of the vocabulary:
 *
 *   fairseq's     four special tokens, pieces from the fourth on, <mask>: sentencepiece.bpe.model, XLMRobertaTokenizer
 *   the model's   with ALBERT's text rules: spiece.model, AlbertTokenizer
 *   with a second segmenter, with tokens of languages: see sentencepiece_marian.c, sentencepiece_languages.c
 *   others        tokenizer.json, PreTrainedTokenizerFast; byte pairs with a character map: transformers have no class */
#include <string.h>

#include "base/log.h"
#include "subwords/sentencepiece.h"
#include "subwords/tokenizer_print.h"
#include "subwords/vocabulary.h"

/* ---- whose ids ---- */

static bool is_fairseq(const xlm_vocabulary *v, const xlm_pieces *m)
{
    static const xlm_special first[] = {XLM_BOS, XLM_PAD, XLM_EOS, XLM_UNK};
    enum { OWN = 3 };
    for (int i = 0; i < (int)G_N_ELEMENTS(first); i++)
        if (xlm_vocabulary_special(v, first[i]) != i)
            return false;
    for (guint i = 0; i < OWN && i < m->pieces->len; i++)
        if (xlm_pieces_at(m, i)->kind == XLM_PIECE_NORMAL)
            return false;
    return m->pieces->len > OWN && xlm_sentencepiece_has_pieces(v, m, OWN, 1) &&
           xlm_vocabulary_special(v, XLM_MASK) == (int32_t)m->pieces->len + 1;
}

/* ---- tokenizer.json ---- */

/* [text, score] of each id. The score of tokens that are not text is so low that they are never chosen; that of words that were
 * given is the library's for them, which is above those of all that are learned, the logarithms of probabilities. */
static json_t *print_vocabulary(const xlm_vocabulary *v, const xlm_pieces *m)
{
    static const double NEVER = -1e6, GIVEN = -0.1;
    g_autoptr(GHashTable) by_text = xlm_pieces_by_text(m);
    json_t *all = json_array();
    for (int64_t id = 0; id < xlm_vocabulary_size(v); id++) {
        const char *word = xlm_vocabulary_words(v)[id];
        const bool special = xlm_vocabulary_is_special(v, (int32_t)id);
        const xlm_model_piece *piece = special ? NULL : g_hash_table_lookup(by_text, word);
        const bool given = piece != NULL && piece->kind == XLM_PIECE_GIVEN;
        const bool text = given || (piece != NULL && piece->kind == XLM_PIECE_NORMAL);
        const double score = given ? GIVEN : text ? (double)piece->score : NEVER;
        const double penalty = text && m->is_albert && !m->albert.fast && xlm_albert_cuts_again(word, strlen(word))
                                   ? XLM_ALBERT_PENALTY : 0;
        json_array_append_new(all, json_pack("[s, f]", word, special ? 0 : score - penalty));
    }
    return all;
}

/* Approximately the rules of ALBERT's tokenizer (sentencepiece/albert.h). */
static void print_albert(const xlm_albert_text *rules, json_t *steps)
{
    static const char *const quotes[] = {"``", "''"};
    for (size_t i = 0; i < G_N_ELEMENTS(quotes); i++)
        json_array_append_new(steps, json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern", "String", quotes[i],
                                               "content", "\""));
    if (!rules->keep_accents) {
        json_array_append_new(steps, json_pack("{s:s}", "type", "NFKD"));
        json_array_append_new(steps, json_pack("{s:s}", "type", "StripAccents"));
    }
    if (rules->lower)
        json_array_append_new(steps, json_pack("{s:s}", "type", "Lowercase"));
}

/* Does every word have one space before it, so that text may be divided at spaces? */
static bool splits_words(const xlm_model_form *form) { return form->one_space && form->space_first; }

/* Is a space put before the text even where it begins with one? Metaspace puts none there, so the normalizer does. */
static bool puts_space_first(const xlm_model_form *form) { return form->space_first && !form->one_space; }

/* What the library does before it cuts: map characters; remove spaces at the ends, where splitting does not, and fold the
 * others; put a space first. */
static json_t *print_normaliser(const xlm_pieces *m)
{
    json_t *steps = json_array();
    if (m->is_albert)
        print_albert(&m->albert, steps);
    if (m->form.map_size > 0) {
        g_autofree char *text = g_base64_encode((const guchar *)m->form.map, m->form.map_size);
        json_array_append_new(steps, json_pack("{s:s, s:s}", "type", "Precompiled", "precompiled_charsmap", text));
    }
    if (m->form.one_space && !splits_words(&m->form))
        json_array_append_new(steps, json_pack("{s:s, s:b, s:b}", "type", "Strip", "strip_left", 1, "strip_right", 1));
    if (m->form.one_space)
        json_array_append_new(steps, json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern", "Regex", " {2,}", "content",
                                               " "));
    if (puts_space_first(&m->form))
        json_array_append_new(steps, json_pack("{s:s, s:s}", "type", "Prepend", "prepend", XLM_PIECE_SPACE));
    return json_pack("{s:s, s:o}", "type", "Sequence", "normalizers", steps);
}

static json_t *print_metaspace(const xlm_model_form *form)
{
    const bool always = splits_words(form);
    json_t *step = json_pack("{s:s, s:s, s:b, s:s}", "type", "Metaspace", "replacement", XLM_PIECE_SPACE, "add_prefix_space",
                             always, "prepend_scheme", always ? "always" : "never");
    if (!always) /* pieces may have several spaces */
        json_object_set_new(step, "split", json_false());
    return step;
}

static json_t *print_splitter(const xlm_model_form *form)
{
    return splits_words(form) ? json_pack("{s:s, s:[{s:s}, o]}", "type", "Sequence", "pretokenizers", "type", "WhitespaceSplit",
                                          print_metaspace(form))
                              : print_metaspace(form);
}

/* The space that was put first is taken away again. */
static json_t *print_decoder(const xlm_model_form *form)
{
    if (!form->bytes && !puts_space_first(form))
        return print_metaspace(form);
    json_t *steps = json_array();
    if (form->bytes)
        json_array_append_new(steps, json_pack("{s:s}", "type", "ByteFallback"));
    json_array_append_new(steps, print_metaspace(form));
    if (puts_space_first(form)) {
        json_array_append_new(steps, json_pack("{s:s}", "type", "Fuse"));
        json_array_append_new(steps, json_pack("{s:s, s:s, s:i, s:i}", "type", "Strip", "content", " ", "start", 1, "stop", 0));
    }
    return json_pack("{s:s, s:o}", "type", "Sequence", "decoders", steps);
}

static json_t *print_tokenizer(const xlm_vocabulary *v, const xlm_pieces *m)
{
    json_t *model = json_pack("{s:s, s:i, s:o, s:b}", "type", "Unigram", "unk_id", xlm_vocabulary_special(v, XLM_UNK), "vocab",
                              print_vocabulary(v, m), "byte_fallback", m->form.bytes);
    return json_pack("{s:s, s:n, s:n, s:o, s:o, s:o, s:o, s:o, s:o}", "version", "1.0", "truncation", "padding", "added_tokens",
                     xlm_tokenizer_print_specials(v), "normalizer", print_normaliser(m), "pre_tokenizer",
                     print_splitter(&m->form), "post_processor", xlm_tokenizer_print_template(v), "decoder",
                     print_decoder(&m->form), "model", model);
}

/* ---- all of it ---- */

static void publish_albert(const xlm_albert_text *rules, json_t *settings)
{
    json_object_set_new(settings, "tokenizer_class", json_string("AlbertTokenizer"));
    json_object_set_new(settings, "do_lower_case", json_boolean(rules->lower));
    json_object_set_new(settings, "keep_accents", json_boolean(rules->keep_accents));
    json_object_set_new(settings, "remove_space", json_boolean(rules->remove_space));
}

static void note_albert(const xlm_albert_text *rules, GString *notes)
{
    if (rules->fast)
        return;
    g_string_append(notes, "The tokenizer is of ALBERT's fast kind; the model was trained with the other");
    if (!rules->keep_accents)
        g_string_append(notes, ", which does not leave out vowel signs of Indic scripts and Thai as accents");
    g_string_append(notes, ". Text in Latin, Greek and Cyrillic letters is cut alike, but where a number goes before a comma, "
                    "and at the ends of Greek words.\n");
}

/* Does the character map change a word that was given, which the library keeps from it? */
static bool maps_given(const xlm_pieces *m)
{
    const char *output;
    for (guint i = 0; i < m->pieces->len && m->form.map_size > 0; i++) {
        const xlm_model_piece *piece = xlm_pieces_at(m, i);
        for (const char *at = piece->text; piece->kind == XLM_PIECE_GIVEN && *at != '\0'; at = g_utf8_next_char(at))
            if (xlm_sentencepiece_map_match(m->form.map, m->form.map_size, at, strlen(at), &output) > 0)
                return true;
    }
    return false;
}

void xlm_sentencepiece_publish(const xlm_vocabulary *v, json_t *files, json_t *settings, GString *notes)
{
    const xlm_pieces *m = xlm_segmenter_model(xlm_vocabulary_segmenter(v));
    if (xlm_sentencepiece_publish_marian(v, m, files, settings, notes) ||
        xlm_sentencepiece_publish_languages(v, m, files, settings, notes))
        return;
    const bool own = xlm_sentencepiece_has_pieces(v, m, 0, 0), unigram = m->form.type == XLM_PIECES_UNIGRAM;
    if (is_fairseq(v, m) && !m->is_albert) {
        json_object_set_new(files, "sentencepiece.bpe.model", json_stringn_nocheck(m->bytes->str, m->bytes->len));
        json_object_set_new(settings, "tokenizer_class", json_string("XLMRobertaTokenizer"));
        return;
    }
    if (own && m->is_albert && !m->albert.fast) {
        json_object_set_new(files, "spiece.model", json_stringn_nocheck(m->bytes->str, m->bytes->len));
        publish_albert(&m->albert, settings);
        return;
    }
    if (unigram) {
        json_object_set_new(files, "tokenizer.json", print_tokenizer(v, m));
        json_object_set_new(settings, "tokenizer_class", json_string("PreTrainedTokenizerFast"));
        if (m->is_albert)
            note_albert(&m->albert, notes);
        if (maps_given(m))
            g_string_append(notes, "The tokenizer here changes characters of words that SentencePiece was given, which are kept as "
                            "they are by xlm-mpi, and then does not find them.\n");
        return;
    }
    json_t *pairs = own ? xlm_sentencepiece_print_pairs(v, m) : NULL;
    if (pairs != NULL) {
        json_object_set_new(files, "tokenizer.json", pairs);
        json_object_set_new(settings, "tokenizer_class", json_string("PreTrainedTokenizerFast"));
        return;
    }
    if (own)
        json_object_set_new(files, "sentencepiece.model", json_stringn_nocheck(m->bytes->str, m->bytes->len));
    xlm_log_warn("transformers have no tokenizer for this model of SentencePiece with the ids of the vocabulary");
    g_string_append(notes, "Transformers have no tokenizer for this model of SentencePiece with the ids of the vocabulary: "
                    "tokenise with xlm-mpi, and give them the ids.\n");
}
