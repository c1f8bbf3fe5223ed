/* xlm-mpi: byte-level BPE as files of transformers. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Writes vocab.json and merges.txt as published with RoBERTa and GPT-2, and tokenizer.json with the same contents. Form C and
 * added tokens are only in tokenizer.json, so it is then the only file. In tokenizer.json every merge must make a token, so a
 * result that is not in the vocabulary, and is unknown here, becomes an additional token. */
#include <string.h>

#include "base/log.h"
#include "subwords/bpe_bytes.h"
#include "subwords/tokenizer_print.h"
#include "subwords/vocabulary.h"

void xlm_byte_merges_publish_needs(const xlm_vocabulary *v, xlm_word_counts *added)
{
    const xlm_byte_merges *m = xlm_segmenter_model(xlm_vocabulary_segmenter(v));
    const xlm_word_counts *subwords = xlm_vocabulary_subwords(v);
    for (guint i = 0; i < m->pairs->len; i++) {
        const char *pair = m->pairs->pdata[i], *space = strchr(pair, ' ');
        g_autofree char *both = g_strdup_printf("%.*s%s", (int)(space - pair), pair, space + 1);
        xlm_segmenter_add_missing(subwords, pair, (size_t)(space - pair), added);
        xlm_segmenter_add_missing(subwords, space + 1, strlen(space + 1), added);
        xlm_segmenter_add_missing(subwords, both, strlen(both), added);
    }
}

/* The token of an id as tokenizer.json has it. */
static const char *text_of(const xlm_vocabulary *v, const xlm_byte_merges *m, int32_t id)
{
    const char *word = xlm_vocabulary_words(v)[id];
    const xlm_added_token *token = xlm_vocabulary_is_special(v, id) ? NULL : xlm_added_tokens_of_subword(m->added, word);
    return token != NULL ? token->text : word;
}

/* A subword may be spelled like a special token; in that tokenizer such text becomes the special token. */
static json_t *print_vocabulary(const xlm_vocabulary *v, const xlm_byte_merges *m)
{
    const char *const *words = xlm_vocabulary_words(v);
    const xlm_special_tokens *specials = xlm_vocabulary_specials(v);
    json_t *vocabulary = json_object();
    for (int32_t i = 0; i < specials->distinct; i++)
        json_object_set_new(vocabulary, words[specials->ascending[i]], json_integer(specials->ascending[i]));
    for (int32_t id = 0; id < xlm_vocabulary_size(v); id++)
        if (json_object_get(vocabulary, text_of(v, m, id)) == NULL)
            json_object_set_new(vocabulary, text_of(v, m, id), json_integer(id));
        else if (!xlm_vocabulary_is_special(v, id))
            xlm_log_warn("the subword `%s` is left out of the tokenizer, where it is a special token", words[id]);
    return vocabulary;
}

/* Special tokens, as they came if the model has them; and the added tokens among the subwords. */
static json_t *print_added(const xlm_vocabulary *v, const xlm_byte_merges *m)
{
    if (xlm_added_tokens_size(m->added) == 0)
        return xlm_tokenizer_print_specials(v);
    json_t *added = json_array();
    for (int32_t id = 0; id < xlm_vocabulary_size(v); id++) {
        const char *text = text_of(v, m, id);
        const bool special = xlm_vocabulary_is_special(v, id);
        const xlm_added_token *token = special ? xlm_added_tokens_of_text(m->added, text)
                                               : xlm_added_tokens_of_subword(m->added, xlm_vocabulary_words(v)[id]);
        if (special || token != NULL)
            json_array_append_new(added, xlm_tokenizer_print_added(id, text, token != NULL ? token->how
                                                                                   : xlm_tokenizer_special_how(v, id)));
    }
    return added;
}

static json_t *print_splitter(const xlm_byte_merges *m)
{
    return json_pack("{s:s, s:b, s:b, s:b}", "type", "ByteLevel", "add_prefix_space", m->space_first, "trim_offsets", 1,
                     "use_regex", 1);
}

static void publish_texts(const xlm_byte_merges *m, json_t *vocabulary, json_t *files)
{
    g_autoptr(GString) text = g_string_new("#version: 0.2\n");
    for (guint i = 0; i < m->pairs->len; i++)
        g_string_append_printf(text, "%s\n", (const char *)m->pairs->pdata[i]);
    json_object_set_new(files, "merges.txt", json_stringn(text->str, text->len));
    json_object_set(files, "vocab.json", vocabulary);
}

void xlm_byte_merges_publish(const xlm_vocabulary *v, json_t *files, json_t *settings, GString *notes)
{
    const xlm_byte_merges *m = xlm_segmenter_model(xlm_vocabulary_segmenter(v));
    json_t *vocabulary = print_vocabulary(v, m), *merges = json_array();
    (void)notes;
    for (guint i = 0; i < m->pairs->len; i++)
        json_array_append_new(merges, json_string(m->pairs->pdata[i]));
    if (!xlm_byte_merges_is_newer(m))
        publish_texts(m, vocabulary, files);
    json_t *model = json_pack("{s:s, s:n, s:s, s:s, s:s, s:b, s:b, s:o, s:o}", "type", "BPE", "dropout", "unk_token",
                              xlm_vocabulary_words(v)[xlm_vocabulary_special(v, XLM_UNK)], "continuing_subword_prefix", "",
                              "end_of_word_suffix", "", "fuse_unk", 0, "byte_fallback", 0, "vocab", vocabulary, "merges", merges);
    json_object_set_new(files, "tokenizer.json",
                        json_pack("{s:s, s:n, s:n, s:o, s:o, s:o, s:o, s:o, s:o}", "version", "1.0", "truncation", "padding",
                                  "added_tokens", print_added(v, m), "normalizer",
                                  m->form_c ? json_pack("{s:s}", "type", "NFC") : json_null(), "pre_tokenizer",
                                  print_splitter(m), "post_processor", xlm_tokenizer_print_template(v), "decoder",
                                  print_splitter(m), "model", model));
    json_object_set_new(settings, "tokenizer_class",
                        json_string(xlm_byte_merges_is_newer(m) ? "PreTrainedTokenizerFast" : "RobertaTokenizer"));
    json_object_set_new(settings, "add_prefix_space", json_boolean(m->space_first));
}
