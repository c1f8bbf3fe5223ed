/* xlm-mpi: the input for measures of words: a model, a dictionary and a corpus. SPDX-License-Identifier: GPL-3.0-or-later */
#include "program/word_inputs.h"

bool xlm_word_inputs_open(xlm_word_inputs *inputs, const char *const path[3], GError **error)
{
    if ((inputs->loaded = xlm_model_file_read(path[0], error)) == NULL)
        return false;
    const xlm_vocabulary *vocabulary = inputs->loaded->vocabulary;
    const uint64_t digest = xlm_corpus_digest_of(vocabulary);
    if (path[2] != NULL && (inputs->corpus = xlm_corpus_open(path[2], error)) == NULL)
        return false;
    if (inputs->corpus != NULL &&
        xlm_corpus_subwords_digest_of(xlm_corpus_vocabulary(inputs->corpus)) != xlm_corpus_subwords_digest_of(vocabulary))
        return xlm_error_set(error, EX_DATAERR, "%s: was trained with other subwords or languages than %s has", path[0], path[2]);
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
