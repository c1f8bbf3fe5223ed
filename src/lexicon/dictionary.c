/* xlm-mpi: the file of a bilingual dictionary. SPDX-License-Identifier: GPL-3.0-or-later */
#include "lexicon/dictionary.h"

#include <string.h>

#include "corpus/corpus.h"

/* ---- writing ---- */

static bool write_pairs(xlm_store *store, const char *path, const GArray *pairs, const char *description, GError **error)
{
    return xlm_store_write_parts(store, path, XLM_I32, 2, pairs->len, pairs->data, error) &&
           xlm_store_set_text(store, path, "description", description, error);
}

static bool write_all(xlm_store *store, const xlm_dictionary_record *r, GError **error)
{
    return xlm_store_set_format(store, XLM_DICTIONARY_FORMAT, XLM_DICTIONARY_VERSION, "xlm_dict", error) &&
           xlm_store_set_text(store, "/", "description", "pairs of subwords of one vocabulary that translate one another",
                              error) &&
           xlm_store_set_text(store, "/", "command", r->command, error) &&
           xlm_store_set_text(store, "/", "source", r->language[0], error) &&
           xlm_store_set_text(store, "/", "target", r->language[1], error) &&
           xlm_store_set_text(store, "/", "subwords", r->subwords, error) &&
           xlm_store_set_real(store, "/", "share", r->share, error) &&
           xlm_store_set_int(store, "/", "seed", r->seed, error) &&
           xlm_store_set_digest(store, "/", "corpus_digest", r->corpus_digest, error) &&
           xlm_store_set_digest(store, "/", "subwords_digest", r->subwords_digest, error) &&
           xlm_store_set_int(store, "/", "vocabulary", r->vocabulary, error) &&
           xlm_store_write_strings(store, "/inputs", g_strv_length(r->inputs), (const char *const *)r->inputs, error) &&
           xlm_store_set_text(store, "/inputs", "description", "the files that the dictionary was made of", error) &&
           write_pairs(store, XLM_DICTIONARY_PAIRS, r->pairs, "ids of source and target subword", error) &&
           write_pairs(store, XLM_DICTIONARY_LEFT_OUT, r->left_out,
                       "the pairs of the source subwords that the share left out", error);
}

bool xlm_dictionary_write(const char *path, const xlm_dictionary_record *record, GError **error)
{
    xlm_store *store = xlm_store_create(NULL, path, error);
    return xlm_store_end(store, store != NULL && write_all(store, record, error), error);
}

/* ---- reading ---- */

/* What to do if the dictionary is of another vocabulary: a language that is not here may be missing in a model. g_free. */
static char *remedy_for(const xlm_store *store, const xlm_vocabulary *vocabulary)
{
    static const char *const side[] = {"source", "target"};
    for (int s = 0; s < 2; s++) {
        g_autofree char *name = xlm_store_get_text(store, "/", side[s], NULL);
        if (name != NULL && xlm_vocabulary_find_language(vocabulary, name) < 0)
            return g_strdup_printf("its %s language, %s, is not here: xlm_convert MODEL --add-languages gives a model the "
                                   "languages of that corpus, which must be all of them, in their order; or make it for this "
                                   "corpus with xlm_dict", side[s], name);
    }
    return g_strdup("make it for this corpus with xlm_dict");
}

static bool check_digest(const xlm_store *store, const xlm_vocabulary *vocabulary, uint64_t wanted, GError **error)
{
    uint64_t digest, subwords;
    if (!xlm_store_get_digest(store, "/", "corpus_digest", &digest, error))
        return false;
    if (digest == wanted || (xlm_store_get_digest(store, "/", "subwords_digest", &subwords, NULL) &&
                             subwords == xlm_corpus_subwords_digest_of(vocabulary)))
        return true;
    g_autofree char *remedy = remedy_for(store, vocabulary);
    return xlm_error_set(error, EX_DATAERR, "%s: made for a corpus with other subwords or languages (digest %016"
                         G_GINT64_MODIFIER "x, here %016" G_GINT64_MODIFIER "x); %s", xlm_store_path(store), digest, wanted,
                         remedy);
}

static bool check_size(const xlm_store *store, const xlm_vocabulary *vocabulary, GError **error)
{
    int64_t size;
    if (!xlm_store_get_int(store, "/", "vocabulary", &size, error))
        return false;
    return size == xlm_vocabulary_size(vocabulary) ||
           xlm_error_set(error, EX_DATAERR, "%s: vocabulary = %" G_GINT64_FORMAT ", but the corpus has "
                         "%" G_GINT64_FORMAT " subwords; the file is damaged", xlm_store_path(store), size,
                         xlm_vocabulary_size(vocabulary));
}

static bool read_language(const xlm_store *store, const char *side, const xlm_vocabulary *vocabulary, int32_t *language,
                          GError **error)
{
    g_autofree char *name = xlm_store_get_text(store, "/", side, error);
    if (name == NULL)
        return false;
    *language = xlm_vocabulary_find_language(vocabulary, name);
    if (*language < 0)
        xlm_error_set(error, EX_DATAERR, "%s: %s = %s, a language that the corpus does not have", xlm_store_path(store), side,
                      name);
    return *language >= 0;
}

static bool check_pair(const xlm_store *store, const char *part, uint64_t i, const xlm_dictionary_pair *pair,
                       const xlm_vocabulary *vocabulary, GError **error)
{
    for (int side = 0; side < 2; side++) {
        const int32_t id = pair->token[side];
        if (id < 0 || id >= xlm_vocabulary_size(vocabulary))
            return xlm_error_set(error, EX_DATAERR, "%s: %s: pair %" G_GUINT64_FORMAT " has id %d, which is not in the "
                                 "vocabulary of %" G_GINT64_FORMAT, xlm_store_path(store), part, i, id,
                                 xlm_vocabulary_size(vocabulary));
        if (xlm_vocabulary_is_special(vocabulary, id))
            return xlm_error_set(error, EX_DATAERR, "%s: %s: pair %" G_GUINT64_FORMAT " has the special token %s; special tokens "
                                 "have no translation", xlm_store_path(store), part, i, xlm_vocabulary_words(vocabulary)[id]);
    }
    return pair->token[0] != pair->token[1] ||
           xlm_error_set(error, EX_DATAERR, "%s: %s: pair %" G_GUINT64_FORMAT " has id %d on both sides; make the dictionary with "
                         "xlm_dict", xlm_store_path(store), part, i, pair->token[0]);
}

/* Is pair i after the one before it, by both ids? */
static bool check_order(const xlm_store *store, const char *part, uint64_t i, const xlm_dictionary_pair *pair, GError **error)
{
    const int32_t *before = pair[-1].token, *here = pair->token;
    return before[0] < here[0] || (before[0] == here[0] && before[1] < here[1]) ||
           xlm_error_set(error, EX_DATAERR, "%s: %s: pair %" G_GUINT64_FORMAT ", %d and %d, is not after the pair before it, %d "
                         "and %d; make the dictionary with xlm_dict", xlm_store_path(store), part, i, here[0], here[1],
                         before[0], before[1]);
}

static xlm_dictionary *read_pairs(const xlm_store *store, const char *part, const xlm_vocabulary *vocabulary, GError **error)
{
    xlm_array array = {XLM_I32, XLM_UP_TO(INT32_MAX), 2};
    g_autofree xlm_dictionary_pair *pair = xlm_store_read_all(store, part, &array, error);
    bool good = pair != NULL;
    for (uint64_t i = 0; i < array.rows && good; i++)
        good = check_pair(store, part, i, &pair[i], vocabulary, error) &&
               (i == 0 || check_order(store, part, i, &pair[i], error));
    xlm_dictionary *dictionary = NULL;
    if (good) {
        dictionary = g_new0(xlm_dictionary, 1);
        dictionary->pairs = (int64_t)array.rows;
        for (int side = 0; side < 2; side++) {
            int32_t *token = g_new(int32_t, array.rows + 1);
            for (uint64_t i = 0; i < array.rows; i++)
                token[i] = pair[i].token[side];
            dictionary->token[side] = token;
        }
    }
    return dictionary;
}

xlm_dictionary *xlm_dictionary_read(const char *path, const char *part, const xlm_vocabulary *vocabulary,
                                    uint64_t corpus_digest, GError **error)
{
    g_autoptr(xlm_store) store = xlm_store_open(path, error);
    if (store == NULL)
        return NULL;
    int32_t language[2];
    xlm_dictionary *dictionary = NULL;
    if (xlm_store_check_format(store, XLM_DICTIONARY_FORMAT, XLM_DICTIONARY_VERSION, "a dictionary", "xlm_dict", error) &&
        check_digest(store, vocabulary, corpus_digest, error) &&
        check_size(store, vocabulary, error) &&
        read_language(store, "source", vocabulary, &language[0], error) &&
        read_language(store, "target", vocabulary, &language[1], error) &&
        (dictionary = read_pairs(store, part, vocabulary, error)) != NULL)
        memcpy(dictionary->language, language, sizeof language);
    return dictionary;
}

void xlm_dictionary_free(xlm_dictionary *dictionary)
{
    if (dictionary == NULL)
        return;
    for (int side = 0; side < 2; side++)
        g_free((int32_t *)dictionary->token[side]);
    g_free(dictionary);
}
