/* xlm-mpi: which of a model's languages sentence pairs are in. SPDX-License-Identifier: GPL-3.0-or-later */
#include "model_aligner/pair_languages.h"

#include <string.h>

#include "subwords/vocabulary_join.h"
#include "text/archive.h"

/* The language that the name of a file ends in: "text.en", "text.en.xz"; -1: none. */
static int language_of_file(const xlm_vocabulary *vocabulary, const char *path)
{
    g_autofree char *base = g_path_get_basename(path), *name = xlm_archive_plain_name(base);
    const char *dot = strrchr(name, '.');
    return dot != NULL ? xlm_vocabulary_find_language(vocabulary, dot + 1) : -1;
}

bool xlm_pair_languages_of_corpus(const xlm_loaded_model *loaded, const char *checkpoint, const xlm_align_input *input,
                                  int languages[2], GError **error)
{
    int n;
    const xlm_corpus_pairs *of = xlm_sentence_pairs_parts(input->pairs, &n)[0].pairs;
    const xlm_vocabulary *there = xlm_corpus_vocabulary(input->corpus);
    const int ids[] = {of->source->language_id, of->target->language_id};
    g_autoptr(GError) why = NULL;
    bool good = xlm_vocabulary_same_subwords(there, loaded->vocabulary, &why);
    for (int s = 0; s < 2 && good; s++) {
        const char *name = xlm_vocabulary_language_names(there)[ids[s]];
        languages[s] = xlm_vocabulary_find_language(loaded->vocabulary, name);
        good = languages[s] >= 0 || !xlm_loaded_model_reads_language(loaded) ||
               xlm_error_set(&why, EX_DATAERR, "its language %s is not there", name);
    }
    return good || xlm_error_set(error, EX_DATAERR, "%s: was trained with another vocabulary or other languages than %s has (%s); "
                                 "prepare the text with xlm_prep --like %s, or give text instead of the corpus", checkpoint,
                                 xlm_corpus_path(input->corpus), why->message, checkpoint);
}

bool xlm_pair_languages_of_text(const xlm_loaded_model *loaded, const xlm_align_source *source, int languages[2],
                                GError **error)
{
    const xlm_vocabulary *vocabulary = loaded->vocabulary;
    g_autofree char *known = g_strjoinv(", ", (char **)xlm_vocabulary_language_names(vocabulary));
    bool good = true;
    for (int s = 0; s < 2 && good; s++) {
        const char *name = source->languages[s];
        if (name != NULL)
            languages[s] = xlm_vocabulary_find_language(vocabulary, name);
        else
            languages[s] = source->files[1] != NULL ? language_of_file(vocabulary, source->files[s]) : -1;
        if (name != NULL && languages[s] < 0)
            good = xlm_error_set(error, EX_USAGE, "the model has no language \"%s\"; it has %s", name, known);
        else if (languages[s] < 0 && xlm_loaded_model_reads_language(loaded))
            good = xlm_error_set(error, EX_USAGE, "the model has %s; say --languages SOURCE,TARGET, of %s",
                                 loaded->config.language_embeddings ? "language embeddings" : "tokens of languages", known);
    }
    return good;
}
