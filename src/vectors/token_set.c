/* xlm-mpi: subwords of one language for which word embeddings are measured. SPDX-License-Identifier: GPL-3.0-or-later */
#include "vectors/token_set.h"

#include "lexicon/frequency.h"
#include "vectors/word_vectors.h"

void xlm_token_set_open(xlm_token_set *set, int language, int64_t vocabulary)
{
    *set = (xlm_token_set){.language = language, .ids = g_array_new(FALSE, FALSE, sizeof(int32_t)),
                           .place = g_new(int32_t, vocabulary)};
    for (int64_t i = 0; i < vocabulary; i++)
        set->place[i] = -1;
}

void xlm_token_set_close(xlm_token_set *set)
{
    if (set->ids != NULL)
        g_array_unref(set->ids);
    g_free(set->place);
}

static void add(xlm_token_set *set, int32_t id)
{
    if (set->place[id] >= 0)
        return;
    set->place[id] = (int32_t)set->ids->len;
    g_array_append_val(set->ids, id);
}

void xlm_token_set_add_list(xlm_token_set *set, const GArray *list)
{
    for (guint i = 0; i < list->len; i++)
        add(set, g_array_index(list, xlm_frequency, i).id);
}

float *xlm_token_set_vectors(const xlm_token_set *set, const xlm_model_config *model, const xlm_parameters *parameters)
{
    const int64_t n = set->ids->len;
    g_autofree int64_t *offsets = g_new(int64_t, n + 1);
    for (int64_t i = 0; i <= n; i++)
        offsets[i] = i;
    float *vectors = g_new(float, MAX(n, 1) * model->embedding_size);
    xlm_word_vectors(model, parameters, set->language, n, offsets, (const int32_t *)(const void *)set->ids->data, vectors);
    return vectors;
}

GArray *xlm_token_frequencies(const xlm_corpus *corpus, int language, GError **error)
{
    return xlm_frequency_list_of(corpus, xlm_vocabulary_language_names(xlm_corpus_vocabulary(corpus))[language], error);
}

void xlm_token_set_add_pairs(const xlm_dictionary *dictionary, bool reverse, xlm_token_set *source, xlm_token_set *target)
{
    for (int64_t i = 0; i < dictionary->pairs; i++) {
        add(source, dictionary->token[reverse][i]);
        add(target, dictionary->token[!reverse][i]);
    }
}

/* ---- translations ---- */

/* One pair of source and target token. */
typedef struct pair {
    int32_t source, target; /* places */
} pair;

static gint by_source(gconstpointer a, gconstpointer b)
{
    const pair *x = a, *y = b;
    return x->source != y->source ? (x->source > y->source) - (x->source < y->source)
                                  : (x->target > y->target) - (x->target < y->target);
}

void xlm_token_translations_make(xlm_token_translations *t, const xlm_dictionary *const *dictionaries, int n, bool reverse,
                                 const xlm_token_set *source, const xlm_token_set *target)
{
    const int64_t tokens = source->ids->len;
    g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(pair));
    for (int d = 0; d < n; d++)
        for (int64_t i = 0; i < dictionaries[d]->pairs; i++) {
            const int32_t from = dictionaries[d]->token[reverse][i], to = dictionaries[d]->token[!reverse][i];
            const pair p = {source->place[from], target->place[to]};
            g_array_append_val(pairs, p);
        }
    g_array_sort(pairs, by_source);
    *t = (xlm_token_translations){.first = g_new0(int64_t, tokens + 1), .translations = g_new(int32_t, MAX(pairs->len, 1u)),
                                  .self = g_new(int32_t, MAX(tokens, 1))};
    for (guint i = 0; i < pairs->len; i++) {
        const pair *p = &g_array_index(pairs, pair, i);
        t->translations[i] = p->target;
        t->first[p->source + 1] = i + 1;
    }
    for (int64_t i = 0; i < tokens; i++) {
        t->first[i + 1] = MAX(t->first[i + 1], t->first[i]); /* tokens without translations */
        t->self[i] = target->place[g_array_index(source->ids, int32_t, i)];
        for (int64_t k = t->first[i]; k < t->first[i + 1]; k++)
            if (t->translations[k] == t->self[i])
                t->self[i] = -1;
    }
}

void xlm_token_translations_free(xlm_token_translations *t)
{
    g_free(t->first);
    g_free(t->translations);
    g_free(t->self);
}
