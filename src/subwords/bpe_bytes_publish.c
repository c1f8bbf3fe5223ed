/* xlm-mpi: byte-level BPE as files of transformers. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Writes vocab.json and merges.txt as published with RoBERTa and GPT-2, and tokenizer.json with the same contents. In
 * tokenizer.json every merge must make a token, so a result that is not in the vocabulary, and is unknown here, becomes an
 * additional token. */
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

/* A subword may be spelled like a special token; in that tokenizer such text becomes the special token. */
static json_t *print_vocabulary(const xlm_vocabulary *v)
{
    const char *const *words = xlm_vocabulary_words(v);
    const xlm_special_tokens *specials = xlm_vocabulary_specials(v);
    json_t *vocabulary = json_object();
    for (int32_t i = 0; i < specials->distinct; i++)
        json_object_set_new(vocabulary, words[specials->ascending[i]], json_integer(specials->ascending[i]));
    for (int32_t id = 0; id < xlm_vocabulary_size(v); id++)
        if (json_object_get(vocabulary, words[id]) == NULL)
            json_object_set_new(vocabulary, words[id], json_integer(id));
        else if (!xlm_vocabulary_is_special(v, id))
            xlm_log_warn("the subword `%s` is left out of the tokenizer, where it is a special token", words[id]);
    return vocabulary;
}

static json_t *print_splitter(const xlm_byte_merges *m)
{
    return json_pack("{s:s, s:b, s:b, s:b}", "type", "ByteLevel", "add_prefix_space", m->space_first, "trim_offsets", 1,
                     "use_regex", 1);
}

void xlm_byte_merges_publish(const xlm_vocabulary *v, json_t *files, json_t *settings, GString *notes)
{
    const xlm_byte_merges *m = xlm_segmenter_model(xlm_vocabulary_segmenter(v));
    g_autoptr(GString) text = g_string_new("#version: 0.2\n");
    json_t *vocabulary = print_vocabulary(v), *merges = json_array();
    (void)notes;
    for (guint i = 0; i < m->pairs->len; i++) {
        g_string_append_printf(text, "%s\n", (const char *)m->pairs->pdata[i]);
        json_array_append_new(merges, json_string(m->pairs->pdata[i]));
    }
    json_object_set_new(files, "merges.txt", json_stringn(text->str, text->len));
    json_object_set(files, "vocab.json", vocabulary);
    json_t *model = json_pack("{s:s, s:n, s:s, s:s, s:s, s:b, s:b, s:o, s:o}", "type", "BPE", "dropout", "unk_token",
                              xlm_vocabulary_words(v)[xlm_vocabulary_special(v, XLM_UNK)], "continuing_subword_prefix", "",
                              "end_of_word_suffix", "", "fuse_unk", 0, "byte_fallback", 0, "vocab", vocabulary, "merges", merges);
    json_object_set_new(files, "tokenizer.json",
                        json_pack("{s:s, s:n, s:n, s:o, s:n, s:o, s:o, s:o, s:o}", "version", "1.0", "truncation", "padding",
                                  "added_tokens", xlm_tokenizer_print_specials(v), "normalizer", "pre_tokenizer",
                                  print_splitter(m), "post_processor", xlm_tokenizer_print_template(v), "decoder",
                                  print_splitter(m), "model", model));
    json_object_set_new(settings, "tokenizer_class", json_string("RobertaTokenizer"));
    json_object_set_new(settings, "add_prefix_space", json_boolean(m->space_first));
}
