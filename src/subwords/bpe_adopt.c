/* xlm-mpi: our BPE from tokenizer.json, as subwords/bpe_publish.c writes it. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For a model that others have changed and that comes back without our own vocabulary file. All merges then make subwords, even
 * those that only tokenizer.json needed, so text is cut as with tokenizer.json. Other tokenizers of this type have other rules
 * and are refused. */
#include <string.h>

#include "bpe/codes.h"
#include "subwords/bpe_class.h"
#include "text/patterns.h"

static const char TOKENIZER[] = "tokenizer.json";

/* Does the step replace one character of a set by `by`? */
static bool replaces_characters(const json_t *step, const char *by)
{
    const char *pattern = json_string_value(json_object_get(json_object_get(step, "pattern"), "Regex"));
    return xlm_tokenizer_is_type(step, "Replace") && pattern != NULL && xlm_pattern_is_characters(pattern) &&
           g_strcmp0(json_string_value(json_object_get(step, "content")), by) == 0;
}

/* [out] lowercase. */
static bool read_normaliser(const json_t *normaliser, bool *lowercase)
{
    const json_t *steps = json_object_get(normaliser, "normalizers");
    const size_t n = json_array_size(steps);
    *lowercase = n == 6;
    return xlm_tokenizer_is_type(normaliser, "Sequence") && (n == 3 || n == 6) && replaces_characters(json_array_get(steps, 0), "") &&
           replaces_characters(json_array_get(steps, 1), " ") && xlm_tokenizer_is_type(json_array_get(steps, 2), "NFC") &&
           (n == 3 || (xlm_tokenizer_is_type(json_array_get(steps, 3), "Replace") && xlm_tokenizer_is_type(json_array_get(steps, 4), "Lowercase") &&
                       xlm_tokenizer_is_type(json_array_get(steps, 5), "NFC")));
}

static bool read_splitter(const json_t *splitter, xlm_word_mode *mode)
{
    const json_t *steps = json_object_get(splitter, "pretokenizers"), *split = json_array_get(steps, 1);
    const char *pattern = json_string_value(json_object_get(json_object_get(split, "pattern"), "Regex"));
    const bool spaces = xlm_tokenizer_is_type(splitter, "WhitespaceSplit");
    *mode = spaces ? XLM_WORDS_SPACE : XLM_WORDS_ICU;
    return spaces || (xlm_tokenizer_is_type(splitter, "Sequence") && json_array_size(steps) == 2 &&
                      xlm_tokenizer_is_type(json_array_get(steps, 0), "WhitespaceSplit") && xlm_tokenizer_is_type(split, "Split") && pattern != NULL &&
                      xlm_pattern_is_words(pattern));
}

static bool read_steps(const xlm_tokenizer_files *files, bool *lowercase, xlm_word_mode *mode)
{
    return read_normaliser(xlm_tokenizer_value(files, TOKENIZER, "normalizer", NULL), lowercase) &&
           read_splitter(xlm_tokenizer_value(files, TOKENIZER, "pre_tokenizer", NULL), mode);
}

static bool is_ours(const xlm_tokenizer_files *files)
{
    const json_t *model = xlm_tokenizer_value(files, TOKENIZER, "model", NULL);
    bool lowercase;
    xlm_word_mode mode;
    return g_strcmp0(xlm_tokenizer_model_type(files), "BPE") == 0 &&
           g_strcmp0(json_string_value(json_object_get(model, "end_of_word_suffix")), BPE_END) == 0 &&
           !json_is_string(json_object_get(model, "continuing_subword_prefix")) && read_steps(files, &lowercase, &mode);
}

static bool is_symbol(const char *text) { return text != NULL && *text != '\0' && strpbrk(text, " \t\r\n") == NULL; }

/* "lo west</w>", or the two of them. */
static bool read_merge(xlm_bpe *bpe, const json_t *merge)
{
    g_auto(GStrv) parts = json_is_string(merge) ? g_strsplit(json_string_value(merge), " ", -1) : NULL;
    const bool two = parts != NULL ? g_strv_length(parts) == 2 : json_array_size(merge) == 2;
    const char *left = parts == NULL ? json_string_value(json_array_get(merge, 0)) : two ? parts[0] : NULL;
    const char *right = parts == NULL ? json_string_value(json_array_get(merge, 1)) : two ? parts[1] : NULL;
    return two && is_symbol(left) && is_symbol(right) && bpe_add(bpe, left, strlen(left), right, strlen(right), 0);
}

static bool read_merges(xlm_bpe *bpe, const xlm_tokenizer_files *files, GError **error)
{
    const json_t *merges = xlm_tokenizer_json_merges(files, error), *merge;
    size_t i;
    if (merges == NULL)
        return false;
    json_array_foreach(merges, i, merge)
        if (!read_merge(bpe, merge))
            return xlm_tokenizer_refuse(files, TOKENIZER, 0, error,
                                        "merge %zu is not two subwords, or another merge makes the same one", i + 1);
    return true;
}

/* Tokens that the file adds are special and are copied; all others get our marks. */
static bool read_tokens(xlm_published_tokens *tokens, const xlm_tokenizer_files *files, GError **error)
{
    const json_t *vocabulary = xlm_tokenizer_value(files, TOKENIZER, "model", "vocab", NULL);
    if (!xlm_published_tokens_add_added(tokens, files, error))
        return false;
    const guint added = tokens->text->len;
    const char *token;
    json_t *id;
    json_object_foreach((json_t *)(uintptr_t)vocabulary, token, id) {
        const json_int_t at = json_is_integer(id) ? json_integer_value(id) : -1;
        if (at >= 0 && at < (json_int_t)added && g_strcmp0(tokens->text->pdata[at], token) == 0)
            continue;
        const size_t size = strlen(token);
        g_autofree char *subword = bpe_ends_word(token, size) ? g_strndup(token, size - BPE_END_SIZE)
                                                              : g_strconcat(token, BPE_CONTINUED, NULL);
        const bool good = xlm_published_tokens_set(tokens, files, TOKENIZER, at, subword, error);
        if (!good)
            return false;
    }
    return json_is_object(vocabulary) ||
           xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "has no vocabulary: {\"token\": id, ...}");
}

void *xlm_bpe_adopt(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error)
{
    static const char *const usual[XLM_SPECIAL_TOKENS] = {"<s>", "<pad>", "</s>", "<unk>", "<mask>"};
    if (!is_ours(files))
        return NULL;
    xlm_bpe *bpe = bpe_new();
    read_steps(files, &tokens->lowercase, &tokens->words);
    if (read_merges(bpe, files, error) && read_tokens(tokens, files, error)) {
        xlm_published_tokens_find_special(tokens, files, usual);
        return bpe;
    }
    xlm_bpe_free(bpe);
    return NULL;
}
