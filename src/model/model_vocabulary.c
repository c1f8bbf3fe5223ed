/* xlm-mpi: a model with fewer or more subwords and languages. SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/model_vocabulary.h"

#include "base/log.h"
#include "corpus/corpus.h"
#include "model/model_rows.h"
#include "model/row_sources.h"
#include "subwords/vocabulary_change.h"

enum { BLOCK = 1 << 22 }; /* tokens that are in memory at a time */

/* ---- what corpora use ---- */

static bool mark_text(const xlm_corpus_text *text, const xlm_row_sources *ids, uint8_t *used, GError **error)
{
    g_autofree int32_t *tokens = g_new(int32_t, BLOCK);
    bool good = true;
    for (int64_t at = 0; at < text->tokens && good; at += BLOCK) {
        const int64_t n = MIN(BLOCK, text->tokens - at);
        good = xlm_corpus_read_tokens(text, at, n, tokens, error);
        for (int64_t i = 0; i < n && good; i++)
            used[ids->source[ids->first[tokens[i]]]] = 1;
    }
    return good;
}

/* Checks that a corpus has the subwords of the model, and that both cut text in the same way. */
static bool check_same(const xlm_vocabulary *vocabulary, const char *path, const xlm_corpus *corpus, GError **error)
{
    const xlm_vocabulary *there = xlm_corpus_vocabulary(corpus);
    g_autoptr(GError) why = NULL;
    if (xlm_vocabulary_extends(vocabulary, there, &why) && xlm_vocabulary_size(vocabulary) != xlm_vocabulary_size(there))
        xlm_error_set(&why, EX_DATAERR, "it has %" G_GINT64_FORMAT " subwords, the other has %" G_GINT64_FORMAT,
                      xlm_vocabulary_size(vocabulary), xlm_vocabulary_size(there));
    if (why == NULL)
        return true;
    xlm_error_set(error, EX_DATAERR, "%s: its vocabulary is not that of %s: %s; prepare the text with xlm_prep --like %s", path,
                  xlm_corpus_path(corpus), why->message, path);
    return false;
}

static bool mark_corpus(const xlm_vocabulary *vocabulary, const char *path, const char *name, uint8_t *used, GError **error)
{
    g_autoptr(xlm_corpus) corpus = xlm_corpus_open(name, error);
    if (corpus == NULL)
        return false;
    bool good = check_same(vocabulary, path, corpus, error);
    xlm_row_sources *ids = good ? xlm_row_sources_of_subwords(vocabulary, xlm_corpus_vocabulary(corpus), false) : NULL;
    for (xlm_split split = XLM_TRAIN; split <= XLM_HELD_OUT && good; split++) {
        int n;
        const xlm_corpus_text *texts = xlm_corpus_texts(corpus, split, &n);
        for (int i = 0; i < n && good; i++)
            good = mark_text(&texts[i], ids, used, error);
    }
    xlm_row_sources_free(ids);
    return good;
}

/* ---- the vocabulary ---- */

/* Marks those of the words to be added that the whole vocabulary already has, so that they are kept. */
static void mark_words(const xlm_vocabulary *v, const xlm_word_counts *words, uint8_t *used)
{
    for (uint32_t i = 0; i < xlm_word_counts_size(words); i++) {
        size_t size;
        const char *word = xlm_word_counts_word(words, i, &size);
        used[xlm_vocabulary_find(v, word, size)] = 1;
    }
}

/* [in] words: to be added. */
static xlm_vocabulary *reduce(const xlm_vocabulary *v, const char *path, char *const *corpora, const xlm_word_counts *words,
                              GError **error)
{
    g_autofree uint8_t *used = g_new0(uint8_t, xlm_vocabulary_size(v));
    bool good = true;
    for (; *corpora != NULL && good; corpora++)
        good = mark_corpus(v, path, *corpora, used, error);
    mark_words(v, words, used);
    int64_t n = 0;
    for (int64_t id = 0; id < xlm_vocabulary_size(v); id++)
        n += used[id] && !xlm_vocabulary_is_special(v, (int32_t)id);
    xlm_vocabulary *reduced = good ? xlm_vocabulary_reduce(v, used, "--keep", error) : NULL;
    if (reduced != NULL)
        xlm_log_info("%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " subwords are used; with special tokens, characters, and what "
                     "the segmenter needs besides, %" G_GINT64_FORMAT " are kept", n, xlm_vocabulary_size(v),
                     xlm_vocabulary_size(reduced));
    return reduced;
}

/* Logs which words and languages the model already has, since they are not added. At least one must be new. */
static bool check_new(const xlm_vocabulary *v, const char *path, const xlm_word_counts *words,
                      const xlm_model_vocabulary_options *o, GError **error)
{
    int64_t there = 0, asked = xlm_word_counts_size(words);
    for (uint32_t i = 0; i < xlm_word_counts_size(words); i++) {
        size_t size;
        const char *word = xlm_word_counts_word(words, i, &size);
        there += xlm_vocabulary_find(v, word, size) != xlm_vocabulary_special(v, XLM_UNK);
    }
    if (there > 0)
        xlm_log_info("%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " words of %s are subwords of the model already", there, asked,
                     o->words);
    for (char **name = o->languages; name != NULL && *name != NULL; name++, asked++)
        if (xlm_vocabulary_find_language(v, *name) >= 0) {
            xlm_log_info("the model has the language %s already", *name);
            there++;
        }
    return there < asked || xlm_error_set(error, EX_DATAERR, "%s: has all that is to be added already", path);
}

static xlm_vocabulary *change(const xlm_vocabulary *v, const char *path, const xlm_model_vocabulary_options *o, GError **error)
{
    g_autoptr(xlm_word_counts) words =
                  o->words != NULL ? xlm_vocabulary_read_words(v, o->words, error) : xlm_word_counts_new();
    if (words == NULL)
        return NULL;
    xlm_vocabulary *reduced = o->keep != NULL ? reduce(v, path, o->keep, words, error) : NULL, *changed = NULL;
    if (reduced != NULL || (o->keep == NULL && check_new(v, path, words, o, error)))
        changed = xlm_vocabulary_enlarge(reduced != NULL ? reduced : v, words, (const char *const *)o->languages, "--add-words",
                                         error);
    xlm_vocabulary_free(reduced);
    return changed;
}

/* The vocabulary of the original, with what the model has besides. Both must cut text into words and subwords in the same way. */
static xlm_vocabulary *restore(const xlm_vocabulary *v, const char *path, const char *original, GError **error)
{
    g_autoptr(xlm_loaded_model) whole = xlm_model_file_read_header(original, error);
    if (whole == NULL)
        return NULL;
    const xlm_segmenter_class *here = xlm_segmenter_class_of(xlm_vocabulary_segmenter(v)),
                              *there = xlm_segmenter_class_of(xlm_vocabulary_segmenter(whole->vocabulary));
    if (here == there && xlm_vocabulary_word_mode(v) == xlm_vocabulary_word_mode(whole->vocabulary) &&
        xlm_vocabulary_lowercase(v) == xlm_vocabulary_lowercase(whole->vocabulary)) {
        xlm_vocabulary *united = xlm_vocabulary_unite(whole->vocabulary, v, "--restore", error);
        if (united == NULL)
            g_prefix_error(error, "%s: what %s has besides: ", original, path);
        return united;
    }
    xlm_error_set(error, EX_DATAERR, "%s: has another segmenter or other words than %s, which was not made from it", original,
                  path);
    return NULL;
}

bool xlm_model_vocabulary_change(const char *path, const xlm_model_vocabulary_options *o, const char *output, GError **error)
{
    g_autoptr(xlm_loaded_model) model = xlm_model_file_read_header(path, error);
    if (model == NULL)
        return false;
    xlm_vocabulary *v = o->restore != NULL ? restore(model->vocabulary, path, o->restore, error)
                                           : change(model->vocabulary, path, o, error);
    const xlm_model_rows rows = {o->restore, o->average && o->restore == NULL, (uint64_t)o->seed};
    const bool good = v != NULL && xlm_model_rows_write(path, v, &rows, output, error);
    xlm_vocabulary_free(v);
    return good;
}
