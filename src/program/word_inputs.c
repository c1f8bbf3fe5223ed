/* xlm-mpi: the input for measures of words: a model, a dictionary and a corpus. SPDX-License-Identifier: GPL-3.0-or-later */
#include "program/word_inputs.h"

#include <string.h>

#include "subwords/vocabulary_join.h"

/* The corpus has languages beside those of the model, as one that xlm_prep --like has made of the model, or quite others. */
static bool refuse_languages(const char *path, const xlm_vocabulary *of_model, const xlm_corpus *corpus, GError **error)
{
    char **here = (char **)xlm_vocabulary_language_names(of_model);
    char **there = (char **)xlm_vocabulary_language_names(xlm_corpus_vocabulary(corpus));
    int same = 0;
    while (here[same] != NULL && there[same] != NULL && strcmp(here[same], there[same]) == 0)
        same++;
    g_autofree char *has = g_strjoinv(",", here), *needs = g_strjoinv(",", there), *added = g_strjoinv(",", there + same);
    g_autofree char *remedy = NULL;
    if (here[same] == NULL && there[same] != NULL)
        remedy = g_strdup_printf("xlm_convert %s --add-languages %s -o MODEL.h5 makes one with them", path, added);
    else
        remedy = g_strdup_printf("prepare the text with xlm_prep --like %s", path);
    return xlm_error_set(error, EX_DATAERR, "%s: was trained with other subwords or languages than %s has (its languages are %s, "
                         "there they are %s); %s", path, xlm_corpus_path(corpus), has, needs, remedy);
}

/* The dictionary knows its corpus by the digest of subwords and languages, so both must be the model's. */
static bool check_corpus(const char *path, const xlm_vocabulary *vocabulary, const xlm_corpus *corpus, GError **error)
{
    g_autoptr(GError) why = NULL;
    const xlm_vocabulary *there = xlm_corpus_vocabulary(corpus);
    if (xlm_corpus_subwords_digest_of(there) == xlm_corpus_subwords_digest_of(vocabulary))
        return true;
    if (xlm_vocabulary_same_subwords(there, vocabulary, &why))
        return refuse_languages(path, vocabulary, corpus, error);
    return xlm_error_set(error, EX_DATAERR, "%s: was trained with other subwords or languages than %s has (%s); prepare the text "
                         "with xlm_prep --like %s", path, xlm_corpus_path(corpus), why->message, path);
}

bool xlm_word_inputs_open(xlm_word_inputs *inputs, const char *const path[3], GError **error)
{
    if ((inputs->loaded = xlm_model_file_read(path[0], error)) == NULL)
        return false;
    const xlm_vocabulary *vocabulary = inputs->loaded->vocabulary;
    const uint64_t digest = xlm_corpus_digest_of(vocabulary);
    if (path[2] != NULL && (inputs->corpus = xlm_corpus_open(path[2], error)) == NULL)
        return false;
    if (inputs->corpus != NULL && !check_corpus(path[0], vocabulary, inputs->corpus, error))
        return false;
    inputs->in = xlm_dictionary_read(path[1], XLM_DICTIONARY_PAIRS, vocabulary, digest, error);
    if (inputs->in != NULL)
        inputs->left_out = xlm_dictionary_read(path[1], XLM_DICTIONARY_LEFT_OUT, vocabulary, digest, error);
    return inputs->left_out != NULL;
}

void xlm_word_inputs_close(xlm_word_inputs *inputs)
{
    xlm_dictionary_free(inputs->in);
    xlm_dictionary_free(inputs->left_out);
    xlm_corpus_close(inputs->corpus);
    xlm_model_file_free(inputs->loaded);
}
