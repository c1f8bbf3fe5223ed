/* xlm-mpi: tokenizers of Marian's models. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two models of SentencePiece, source.spm for text of the source language and target.spm for the other; and vocab.json, the ids of
 * the pieces of both. tokenizer_config.json names the languages. The decoder begins with the token that config.json names, <pad> if
 * there is none; it is <s> here. */
#include "base/log.h"
#include "subwords/sentencepiece.h"

static const char SOURCE[] = "source.spm", TARGET[] = "target.spm", VOCABULARY[] = "vocab.json";
static const char SETTINGS[] = "tokenizer_config.json", SOURCE_LANGUAGE[] = "source_lang", TARGET_LANGUAGE[] = "target_lang";

bool xlm_sentencepiece_is_marian(const xlm_tokenizer_files *files)
{
    size_t size;
    return xlm_tokenizer_file(files, SOURCE, &size) != NULL || xlm_tokenizer_file(files, TARGET, &size) != NULL;
}

static xlm_pieces *read_pieces(const xlm_tokenizer_files *files, const char *name, GError **error)
{
    size_t size;
    const char *bytes = xlm_tokenizer_file(files, name, &size);
    g_autoptr(GError) failure = NULL;
    if (bytes == NULL) {
        xlm_tokenizer_refuse(files, name, 0, error, "is missing; a tokenizer of Marian has %s, %s and %s", SOURCE, TARGET,
                             VOCABULARY);
        return NULL;
    }
    xlm_pieces *pieces = xlm_pieces_new(g_string_new_len(bytes, (gssize)size), &failure);
    if (pieces == NULL)
        xlm_tokenizer_refuse(files, name, 0, error, "%s", failure->message);
    return pieces;
}

/* Made valid (xlm_is_language_name): "cat+oci" becomes "cat_oci". g_free. */
static char *usable_name(const char *given)
{
    char *name = g_strdup(*given != '\0' ? given : "_");
    for (char *c = name; *c != '\0'; c++)
        if (!g_ascii_isalnum(*c) && (*c != '.' || c == name))
            *c = '_';
    return name;
}

/* The tokens for one of several target languages, ">>fra<<", are known to no rule here. */
static void warn_of_targets(const xlm_tokenizer_files *files)
{
    const char *token;
    json_t *id;
    int64_t n = 0;
    json_object_foreach((json_t *)(uintptr_t)xlm_tokenizer_json(files, VOCABULARY), token, id)
        n += g_str_has_prefix(token, ">>") && g_str_has_suffix(token, "<<");
    if (n > 0)
        xlm_log_warn("%s: the model translates into one of %" G_GINT64_FORMAT " languages that a token such as >>fra<< names; here "
                     "these tokens cannot be given", xlm_tokenizer_files_path(files), n);
}

static bool read_languages(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error)
{
    const char *source = json_string_value(xlm_tokenizer_value(files, SETTINGS, SOURCE_LANGUAGE, NULL));
    const char *target = json_string_value(xlm_tokenizer_value(files, SETTINGS, TARGET_LANGUAGE, NULL));
    char *const names[] = {usable_name(source != NULL ? source : "source"), usable_name(target != NULL ? target : "target"), NULL};
    tokens->languages = g_strdupv((char **)(uintptr_t)names);
    g_free(names[0]);
    g_free(names[1]);
    return strcmp(tokens->languages[0], tokens->languages[1]) != 0 ||
           xlm_tokenizer_refuse(files, SETTINGS, 0, error, "\"%s\" and \"%s\" are both `%s`", SOURCE_LANGUAGE, TARGET_LANGUAGE,
                                tokens->languages[0]);
}

void *xlm_sentencepiece_adopt_marian(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error)
{
    xlm_pieces *source = read_pieces(files, SOURCE, error), *target = source != NULL ? read_pieces(files, TARGET, error) : NULL;
    if (target != NULL && read_languages(files, tokens, error) &&
        xlm_published_tokens_add_object(tokens, files, VOCABULARY, xlm_tokenizer_json(files, VOCABULARY), error)) {
        warn_of_targets(files);
        tokens->second = target;
        tokens->second_language = 1;
        return source;
    }
    xlm_pieces_free(source);
    xlm_pieces_free(target);
    return NULL;
}

/* ---- the opposite direction ---- */

bool xlm_sentencepiece_publish_marian(const xlm_vocabulary *v, const xlm_pieces *source, json_t *files, json_t *settings,
                                      GString *notes)
{
    int language;
    const xlm_segmenter *second = xlm_vocabulary_second_segmenter(v, &language);
    const char *const *names = xlm_vocabulary_language_names(v);
    if (second == NULL)
        return false;
    if (language != 1 || xlm_vocabulary_languages(v) != 2) {
        g_string_append_printf(notes, "Transformers have no tokenizer that divides text of %s by a model of its own and text of "
                               "several other languages by another: tokenise with xlm-mpi, and give them the ids.\n",
                               names[language]);
        return true;
    }
    const xlm_pieces *target = xlm_segmenter_model(second);
    json_t *ids = json_object();
    for (int64_t id = 0; id < xlm_vocabulary_size(v); id++)
        json_object_set_new(ids, xlm_vocabulary_words(v)[id], json_integer(id));
    json_object_set_new(files, VOCABULARY, ids);
    json_object_set_new(files, SOURCE, json_stringn_nocheck(source->bytes->str, source->bytes->len));
    json_object_set_new(files, TARGET, json_stringn_nocheck(target->bytes->str, target->bytes->len));
    json_object_set_new(settings, "tokenizer_class", json_string("MarianTokenizer"));
    json_object_set_new(settings, SOURCE_LANGUAGE, json_string(names[0]));
    json_object_set_new(settings, TARGET_LANGUAGE, json_string(names[1]));
    return true;
}
