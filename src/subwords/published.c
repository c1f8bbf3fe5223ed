/* xlm-mpi: the vocabulary of a published tokenizer. SPDX-License-Identifier: GPL-3.0-or-later */
#include "subwords/published.h"

#include <string.h>

#include "base/log.h"
#include "subwords/added_tokens.h"
#include "subwords/tokenizer.h"

/* Read the files by the first class that recognises them. [out] second: the segmenter of one language, or NULL. */
static xlm_segmenter *adopt(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, xlm_segmenter **second, GError **error)
{
    *second = NULL;
    g_autoptr(GError) failure = NULL;
    for (int i = 0; i < xlm_segmenters_count() && failure == NULL; i++) {
        const xlm_segmenter_class *cls = xlm_segmenter_class_at(i);
        void *model = cls->exchange != NULL ? cls->exchange->adopt(files, tokens, &failure) : NULL;
        if (model != NULL && tokens->second != NULL)
            *second = xlm_segmenter_new(cls, tokens->second);
        if (model != NULL)
            return xlm_segmenter_new(cls, model);
    }
    if (failure != NULL) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return NULL;
    }
    const char *type = xlm_tokenizer_model_type(files);
    xlm_error_set(error, EX_DATAERR, "%s: no tokenizer that is known%s%s; it is read from tokenizer.json, vocab.txt, *.model, "
                  "source.spm and target.spm, or vocab.json and merges.txt", xlm_tokenizer_files_path(files), type != NULL ? ": its model is " : "",
                  type != NULL ? type : "");
    return NULL;
}

/* The ids of the special tokens; missing ones get ids after all others. */
static bool number_specials(const xlm_published_tokens *tokens, const char *path, xlm_special_tokens *specials,
                            const char *names[XLM_SPECIAL_TOKENS], int *added, GError **error)
{
    int32_t id[XLM_SPECIAL_TOKENS], next = (int32_t)tokens->text->len;
    g_autoptr(GError) failure = NULL;
    for (int s = 0; s < XLM_SPECIAL_TOKENS; s++) {
        id[s] = -1;
        names[s] = tokens->special[s];
        for (guint i = 0; i < tokens->text->len && names[s] != NULL && id[s] < 0; i++)
            if (strcmp(tokens->text->pdata[i], names[s]) == 0)
                id[s] = (int32_t)i;
        if (id[s] < 0) {
            id[s] = next++;
            names[s] = xlm_own_special_names[s];
        }
    }
    *added = next - (int32_t)tokens->text->len;
    if (xlm_special_tokens_set(specials, id, &failure))
        return true;
    return xlm_error_set(error, EX_DATAERR, "%s: %s", path, failure->message);
}

/* Tokens that are not special, by id. NULL when one has no text or occurs twice. */
static xlm_word_counts *list_subwords(const xlm_published_tokens *tokens, const char *path, const xlm_special_tokens *specials,
                                      GError **error)
{
    xlm_word_counts *subwords = xlm_word_counts_new();
    for (guint i = 0, n = 0; i < tokens->text->len; i++) {
        const char *text = tokens->text->pdata[i];
        if (xlm_is_special(specials, (int32_t)i))
            continue;
        xlm_word_counts_add(subwords, text, strlen(text), 0);
        if (xlm_word_counts_size(subwords) == ++n)
            continue;
        const uint32_t first = xlm_word_counts_index(subwords, text, strlen(text));
        xlm_error_set(error, EX_DATAERR, "%s: the token `%s` has two ids, %d and %u", path, text,
                      xlm_ordinary_id(specials, (int32_t)first), i);
        xlm_word_counts_free(subwords);
        return NULL;
    }
    return subwords;
}

static bool check_all_there(const xlm_published_tokens *tokens, const char *path, GError **error)
{
    for (guint i = 0; i < tokens->text->len; i++)
        if (tokens->text->pdata[i] == NULL)
            return xlm_error_set(error, EX_DATAERR, "%s: no token has the id %u, and there are larger ids", path, i);
    return tokens->text->len > 0 || xlm_error_set(error, EX_DATAERR, "%s: has no tokens", path);
}

/* Takes ownership of the first segmenter. */
static xlm_vocabulary *make_vocabulary(const xlm_published_tokens *tokens, const char *path, xlm_segmenter *segmenter,
                                       const xlm_segmenter *second, int *added, GError **error)
{
    xlm_special_tokens specials;
    const char *names[XLM_SPECIAL_TOKENS];
    g_autoptr(xlm_word_counts) subwords = NULL;
    if (check_all_there(tokens, path, error) && number_specials(tokens, path, &specials, names, added, error))
        subwords = list_subwords(tokens, path, &specials, error);
    if (subwords == NULL) {
        xlm_segmenter_unref(segmenter);
        return NULL;
    }
    const xlm_vocabulary_settings settings = {.in_order = true, .specials = &specials, .special_names = names,
                                              .words = tokens->words, .lowercase = tokens->lowercase,
                                              .languages = tokens->languages != NULL ? (int)g_strv_length(tokens->languages) : 0,
                                              .language_names = (const char *const *)tokens->languages,
                                              .second = second, .second_language = tokens->second_language,
                                              .language_form = tokens->language_form};
    g_autoptr(GError) failure = NULL;
    xlm_vocabulary *vocabulary = xlm_vocabulary_new(subwords, segmenter, &settings, &failure);
    if (failure != NULL)
        xlm_error_set(error, failure->code, "%s: %s", path, failure->message);
    return vocabulary;
}

/* Does the text of an added token become the token? */
static bool is_found(xlm_tokenizer *tokenizer, const char *text, int64_t id)
{
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    if (!xlm_tokenizer_encode(tokenizer, -1, text, strlen(text), ids, NULL, NULL))
        return false;
    for (guint i = 0; i < ids->len; i++)
        if (g_array_index(ids, int32_t, i) == id)
            return true;
    return false;
}

/* Most classes cut the text of added tokens like any other. White space alone is left out: a line may not have it. */
static void warn_of_added(const xlm_tokenizer_files *files, const xlm_published_tokens *tokens, const xlm_vocabulary *v)
{
    json_auto_t *added = xlm_added_tokens_in_text(files, tokens);
    xlm_tokenizer *tokenizer = json_array_size(added) > 0 ? xlm_tokenizer_new(v, NULL) : NULL;
    const char *first = NULL;
    const json_t *entry;
    int64_t lost = 0;
    size_t i;
    json_array_foreach(added, i, entry) {
        const char *text = json_string_value(json_object_get(entry, "content"));
        const int64_t id = json_integer_value(json_object_get(entry, "id"));
        const bool word = id >= xlm_vocabulary_size(v) || xlm_is_text(xlm_vocabulary_specials(v), (int32_t)id);
        if (tokenizer == NULL || !word || text[strspn(text, " \t\r\n")] == '\0' || is_found(tokenizer, text, id))
            continue;
        first = first != NULL ? first : text;
        lost++;
    }
    if (lost > 0)
        xlm_log_warn("%s: %" G_GINT64_FORMAT " added tokens, the first of which is `%s`, are not found in text, which is cut as if "
                     "they had not been added", xlm_tokenizer_files_path(files), lost, first);
    xlm_tokenizer_free(tokenizer);
}

xlm_vocabulary *xlm_published_vocabulary(const xlm_tokenizer_files *files, int *added, GError **error)
{
    xlm_published_tokens tokens;
    xlm_published_tokens_init(&tokens);
    int unused;
    xlm_segmenter *second, *segmenter = adopt(files, &tokens, &second, error);
    xlm_vocabulary *vocabulary = segmenter == NULL ? NULL
                                                   : make_vocabulary(&tokens, xlm_tokenizer_files_path(files), segmenter, second,
                                                                     added != NULL ? added : &unused, error);
    if (vocabulary != NULL)
        warn_of_added(files, &tokens, vocabulary);
    xlm_published_tokens_clear(&tokens);
    xlm_segmenter_unref(second);
    return vocabulary;
}

xlm_vocabulary *xlm_published_read(const char *path, int *added, GError **error)
{
    xlm_tokenizer_files *files = xlm_tokenizer_files_read(path, error);
    xlm_vocabulary *vocabulary = files != NULL ? xlm_published_vocabulary(files, added, error) : NULL;
    xlm_tokenizer_files_free(files);
    return vocabulary;
}

/* ---- pairs of texts ---- */

/* The special tokens between the two sequences of a template; 0: it has no such sequences. */
static int count_between(const json_t *pair)
{
    const json_t *item;
    size_t i;
    int n = 0, sequences = 0;
    json_array_foreach(pair, i, item) {
        sequences += json_object_get(item, "Sequence") != NULL;
        n += sequences == 1 && json_object_get(item, "SpecialToken") != NULL;
    }
    return sequences == 2 ? n : 0;
}

/* 0: the step does not say it. */
static int separators_of(const json_t *step)
{
    const json_t *one;
    size_t i;
    int n = xlm_tokenizer_is_type(step, "RobertaProcessing") ? 2
            : xlm_tokenizer_is_type(step, "BertProcessing")  ? 1
                                                             : count_between(json_object_get(step, "pair"));
    json_array_foreach(json_object_get(step, "processors"), i, one)
        n = MAX(n, separators_of(one));
    return n;
}

/* The type of the tokens of the second of two texts; -1: the step does not say it. */
static int second_type_of(const json_t *step)
{
    const json_t *item, *one;
    size_t i;
    int sequences = 0, type = xlm_tokenizer_is_type(step, "RobertaProcessing") ? 0
                              : xlm_tokenizer_is_type(step, "BertProcessing")  ? 1
                                                                               : -1;
    json_array_foreach(json_object_get(step, "pair"), i, item) {
        const json_t *sequence = json_object_get(item, "Sequence"), *id = json_object_get(sequence, "type_id");
        sequences += sequence != NULL;
        if (sequence != NULL && sequences == 2)
            type = json_is_integer(id) && json_integer_value(id) != 0;
    }
    json_array_foreach(json_object_get(step, "processors"), i, one)
        type = MAX(type, second_type_of(one));
    return type;
}

/* Are the first tokens those of fairseq, <s> <pad> </s> <unk>? ([CLS] and [SEP] may have the same ids.) */
static bool is_of_roberta(const xlm_vocabulary *v)
{
    static const xlm_special first[] = {XLM_BOS, XLM_PAD, XLM_EOS, XLM_UNK};
    bool is = true;
    for (int32_t i = 0; i < (int32_t)G_N_ELEMENTS(first) && is; i++)
        is = xlm_vocabulary_special(v, first[i]) == i && strcmp(xlm_vocabulary_words(v)[i], xlm_own_special_names[first[i]]) == 0;
    return is;
}

xlm_published_pair xlm_published_pair_form(const char *path, const xlm_vocabulary *v)
{
    xlm_tokenizer_files *files = xlm_tokenizer_files_read(path, NULL);
    const json_t *step = files != NULL ? xlm_tokenizer_value(files, "tokenizer.json", "post_processor", NULL) : NULL;
    const bool roberta = is_of_roberta(v);
    const int separators = separators_of(step), type = second_type_of(step);
    xlm_tokenizer_files_free(files);
    return (xlm_published_pair){.separators = separators > 0 ? MIN(separators, 2) : roberta ? 2 : 1,
                                .second_type = type >= 0 ? type : !roberta};
}
