/* xlm-mpi: our BPE as tokenizer.json, of the library tokenizers of Hugging Face. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Both merge symbols by rank, the last of a word with </w> behind it, so a vocabulary is theirs when `lo@@` is written "lo" and
 * `west` "west</w>". There every merge must make a token. Where one of ours makes a text on the way to others that is no subword
 * of the vocabulary itself, tokenizer.json cannot hold it, and the vocabulary is written for XLM's tokenizer. */
#include <string.h>

#include "base/log.h"
#include "text/bpe.h"
#include "text/tokenizer_print.h"
#include "text/vocabulary.h"

/* Words as ICU finds them, nearly: letters, marks and digits, with what may stand between two of them; any other character. */
static const char WORD[] = "[\\p{L}\\p{M}\\p{N}_]+(?:(?:['’.:·](?=\\p{L})|[.,'’;](?=\\p{N}))[\\p{L}\\p{M}\\p{N}_]+)*|[^\\s]";

/* A subword in their marks. g_free. */
static char *spell(const char *subword)
{
    const size_t size = strlen(subword);
    return g_str_has_suffix(subword, "@@") && size > 2 ? g_strndup(subword, size - 2) : g_strconcat(subword, "</w>", NULL);
}

static json_t *print_vocabulary(const xlm_vocabulary *v)
{
    const char *const *words = xlm_vocabulary_words(v);
    json_t *vocabulary = json_object();
    for (int64_t id = 0; id < xlm_vocabulary_size(v); id++) {
        char *text = xlm_vocabulary_is_special(v, (int32_t)id) ? g_strdup(words[id]) : spell(words[id]);
        if (json_object_get(vocabulary, text) == NULL) /* a subword may be spelt like a special token, which stands first */
            json_object_set_new(vocabulary, text, json_integer(id));
        else
            xlm_log_warn("the subword `%s` is left out of the tokenizer, where it would be spelt like another", words[id]);
        g_free(text);
    }
    return vocabulary;
}

/* NULL where a merge makes, or needs, what there is no token for. */
static json_t *print_merges(const xlm_bpe *bpe, const json_t *vocabulary)
{
    json_t *merges = json_array();
    for (uint32_t i = 0; i < xlm_bpe_size(bpe) && merges != NULL; i++) {
        const char *left, *right;
        xlm_bpe_code(bpe, i, &left, &right, NULL);
        char *both = g_strconcat(left, right, NULL);
        if (json_object_get(vocabulary, left) != NULL && json_object_get(vocabulary, right) != NULL &&
            json_object_get(vocabulary, both) != NULL)
            json_array_append_new(merges, json_sprintf("%s %s", left, right));
        else
            g_clear_pointer(&merges, json_decref);
        g_free(both);
    }
    return merges;
}

static json_t *print_normaliser(const xlm_vocabulary *v)
{
    json_t *steps = json_pack("[{s:s}]", "type", "NFC");
    if (xlm_vocabulary_lowercase(v))
        json_array_append_new(steps, json_pack("{s:s}", "type", "Lowercase"));
    return json_pack("{s:s, s:o}", "type", "Sequence", "normalizers", steps);
}

static json_t *print_splitter(const xlm_vocabulary *v)
{
    json_t *spaces = json_pack("{s:s}", "type", "WhitespaceSplit");
    if (xlm_vocabulary_word_mode(v) == XLM_WORDS_SPACE)
        return spaces;
    return json_pack("{s:s, s:[o, {s:s, s:{s:s}, s:s, s:b}]}", "type", "Sequence", "pretokenizers", spaces, "type", "Split",
                     "pattern", "Regex", WORD, "behavior", "Removed", "invert", 1);
}

static void note_words(const xlm_vocabulary *v, bool xlm, GString *notes)
{
    if (xlm)
        g_string_append(notes, "The tokenizer is of XLM's class, which needs the Python package sacremoses and splits words by "
                        "its rules; what the merges leave over is an unknown token if it is no subword, where xlm-mpi takes it "
                        "apart again. For the same subwords as in training, split text with xlm-mpi.\n");
    else if (xlm_vocabulary_word_mode(v) == XLM_WORDS_ICU)
        g_string_append(notes, "Words are found by a regular expression that is near to the word boundaries of Unicode (ICU), "
                        "by which the model was trained; in Thai, Lao, Khmer, Burmese, Chinese and Japanese, which ICU splits "
                        "by dictionaries, it is not. For the same subwords as in training, split text with xlm-mpi.\n");
    if (xlm && xlm_vocabulary_lowercase(v))
        g_string_append(notes, "Text must be lower-cased before.\n");
}

/* The whole of tokenizer.json. Takes vocabulary and merges. */
static json_t *print_tokenizer(const xlm_vocabulary *v, json_t *vocabulary, json_t *merges)
{
    json_t *model = json_pack("{s:s, s:n, s:s, s:n, s:s, s:b, s:b, s:o, s:o}", "type", "BPE", "dropout", "unk_token",
                              xlm_vocabulary_words(v)[xlm_vocabulary_special(v, XLM_UNK)], "continuing_subword_prefix",
                              "end_of_word_suffix", "</w>", "fuse_unk", 0, "byte_fallback", 0, "vocab", vocabulary, "merges",
                              merges);
    return json_pack("{s:s, s:n, s:n, s:o, s:o, s:o, s:o, s:{s:s, s:s}, s:o}", "version", "1.0", "truncation", "padding",
                     "added_tokens", xlm_tokenizer_print_specials(v), "normalizer", print_normaliser(v), "pre_tokenizer",
                     print_splitter(v), "post_processor", xlm_tokenizer_print_template(v), "decoder", "type", "BPEDecoder",
                     "suffix", "</w>", "model", model);
}

void xlm_bpe_publish(const xlm_vocabulary *v, json_t *files, json_t *settings, GString *notes)
{
    const xlm_bpe *bpe = xlm_segmenter_model(xlm_vocabulary_segmenter(v));
    json_t *vocabulary = print_vocabulary(v), *merges = print_merges(bpe, vocabulary);
    note_words(v, merges == NULL, notes);
    if (merges != NULL) {
        json_object_set_new(files, "tokenizer.json", print_tokenizer(v, vocabulary, merges));
        json_object_set_new(settings, "tokenizer_class", json_string("PreTrainedTokenizerFast"));
        return;
    }
    GString *codes = xlm_bpe_print(bpe);
    json_object_set_new(files, "merges.txt", json_stringn(codes->str, codes->len));
    json_object_set_new(files, "vocab.json", vocabulary);
    json_object_set_new(settings, "tokenizer_class", json_string("XLMTokenizer"));
    json_object_set_new(settings, "do_lowercase_and_remove_accent", json_false());
    json_object_set_new(settings, "additional_special_tokens", json_array());
    g_string_free(codes, TRUE);
}
