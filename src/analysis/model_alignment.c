/* xlm-mpi: alignment of a model's word embeddings over a dictionary. SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/model_alignment.h"

#include "lexicon/frequency.h"
#include "analysis/word_vectors.h"

enum { ALL, IN, LEFT_OUT, BANDS };

static const char *const names[XLM_ALIGNMENT_GROUPS] = {"all", "in dictionary", "left out", "top 1 %", "1-10 %", "10-50 %",
                                                        "50-100 %"};
_Static_assert(BANDS + XLM_FREQUENCY_BANDS == XLM_ALIGNMENT_GROUPS, "a group a band");

/* One language's tokens that take part. */
typedef struct tokens {
    int language;
    GArray *ids;    /* int32_t */
    int32_t *place; /* [vocabulary] in ids, -1 when not there */
} tokens;

static void open_tokens(tokens *t, int language, int64_t vocabulary)
{
    *t = (tokens){.language = language, .ids = g_array_new(FALSE, FALSE, sizeof(int32_t)), .place = g_new(int32_t, vocabulary)};
    for (int64_t i = 0; i < vocabulary; i++)
        t->place[i] = -1;
}

static void close_tokens(tokens *t)
{
    g_array_unref(t->ids);
    g_free(t->place);
}

static void add_token(tokens *t, int32_t id)
{
    if (t->place[id] >= 0)
        return;
    t->place[id] = (int32_t)t->ids->len;
    g_array_append_val(t->ids, id);
}

/* Their vectors, [n x e]; g_free. */
static float *vectors_of(const xlm_alignment_input *in, const tokens *t)
{
    const int64_t n = t->ids->len;
    int64_t *offsets = g_new(int64_t, n + 1);
    for (int64_t i = 0; i <= n; i++)
        offsets[i] = i;
    float *vectors = g_new(float, MAX(n, 1) * in->model->embedding_size);
    xlm_word_vectors(in->model, in->parameters, t->language, n, offsets, (const int32_t *)(const void *)t->ids->data, vectors);
    g_free(offsets);
    return vectors;
}

static GArray *frequencies(const xlm_alignment_input *in, int language, GError **error)
{
    const char *name = xlm_vocabulary_language_names(xlm_corpus_vocabulary(in->corpus))[language];
    const xlm_corpus_text *text = xlm_corpus_find_text(in->corpus, XLM_TRAIN, name);
    if (text != NULL)
        return xlm_frequency_list(in->corpus, text, error);
    xlm_error_set(error, EX_DATAERR, "%s: there is no training text of %s", xlm_corpus_path(in->corpus), name);
    return NULL;
}

/* One pair of source and target token. */
typedef struct pair {
    int32_t source, target; /* rows */
} pair;

static gint by_source(gconstpointer a, gconstpointer b)
{
    const pair *x = a, *y = b;
    return x->source != y->source ? (x->source > y->source) - (x->source < y->source)
                                  : (x->target > y->target) - (x->target < y->target);
}

static void add_pairs(const xlm_dictionary *d, bool reverse, tokens *source, tokens *target, GArray *pairs)
{
    for (int64_t i = 0; i < d->pairs; i++) {
        const int32_t from = d->token[reverse][i], to = d->token[!reverse][i];
        add_token(source, from);
        add_token(target, to);
        const pair p = {source->place[from], target->place[to]};
        g_array_append_val(pairs, p);
    }
}

/* include: [n] of a group. list: of the source language. */
static void choose(int group, const xlm_alignment_input *in, const tokens *source, const GArray *list, bool *include)
{
    const int64_t n = source->ids->len;
    for (int64_t i = 0; i < n; i++)
        include[i] = group == ALL || group == LEFT_OUT;
    for (int64_t i = 0; i < in->in->pairs && (group == IN || group == LEFT_OUT); i++)
        include[source->place[in->in->token[in->reverse][i]]] = group == IN;
    if (group < BANDS)
        return;
    const int b = group - BANDS;
    const bool lowest = b == XLM_FREQUENCY_BANDS - 1; /* has those that the text does not have, too */
    for (int64_t i = 0; i < n; i++)
        include[i] = lowest;
    for (guint k = 0; k < list->len; k++) {
        const int32_t place = source->place[g_array_index(list, xlm_frequency, k).id];
        if (place >= 0)
            include[place] = k < xlm_frequency_band_end(list->len, b) &&
                             (b == 0 || k >= xlm_frequency_band_end(list->len, b - 1));
    }
}

/* [n] The candidate that each source token is itself, -1 where none is or where it is a translation of itself. first and
 * translations: of xlm_alignment. g_free. */
static int32_t *find_selves(const tokens *source, const tokens *target, const int64_t *first, const int32_t *translations)
{
    int32_t *self = g_new(int32_t, MAX(source->ids->len, 1u));
    for (guint i = 0; i < source->ids->len; i++) {
        self[i] = target->place[g_array_index(source->ids, int32_t, i)];
        for (int64_t k = first[i]; k < first[i + 1]; k++)
            if (translations[k] == self[i])
                self[i] = -1;
    }
    return self;
}

static double share_of_selves(int64_t n, const int32_t *self, const bool *include)
{
    int64_t all = 0, selves = 0;
    for (int64_t i = 0; i < n; i++) {
        all += include[i];
        selves += include[i] && self[i] >= 0;
    }
    return all > 0 ? (double)selves / (double)all : 0;
}

static void measure(const xlm_comm *comm, const xlm_alignment_input *in, const tokens *source, const tokens *target,
                    GArray *pairs, const GArray *list, xlm_alignment_group *groups)
{
    const int64_t n = source->ids->len;
    int64_t *first = g_new0(int64_t, n + 1), *rank = g_new(int64_t, MAX(n, 1));
    int32_t *translations = g_new(int32_t, MAX(pairs->len, 1u));
    g_array_sort(pairs, by_source);
    for (guint i = 0; i < pairs->len; i++) {
        const pair *p = &g_array_index(pairs, pair, i);
        translations[i] = p->target;
        first[p->source + 1] = i + 1;
    }
    int32_t *self = find_selves(source, target, first, translations);
    float *source_vectors = vectors_of(in, source), *candidate_vectors = vectors_of(in, target);
    const xlm_alignment a = {
        .width = in->model->embedding_size, .source_vectors = source_vectors, .candidate_vectors = candidate_vectors, .n = n,
        .candidates = target->ids->len, .first = first, .translations = translations, .self = self,
    };
    xlm_alignment_ranks(comm, &a, rank);
    bool *include = g_new(bool, MAX(n, 1));
    for (int g = 0; g < XLM_ALIGNMENT_GROUPS; g++) {
        choose(g, in, source, list, include);
        groups[g] = (xlm_alignment_group){names[g], xlm_alignment_summary(n, rank, include), share_of_selves(n, self, include)};
    }
    g_free(include);
    g_free(source_vectors);
    g_free(candidate_vectors);
    g_free(translations);
    g_free(self);
    g_free(first);
    g_free(rank);
}

bool xlm_alignment_measure(const xlm_comm *comm, const xlm_alignment_input *input,
                           xlm_alignment_group groups[XLM_ALIGNMENT_GROUPS], int64_t *candidates, GError **error)
{
    const xlm_alignment_input *in = input;
    const int from = in->in->language[in->reverse], to = in->in->language[!in->reverse];
    GError *failure = NULL;
    GArray *source_list = frequencies(in, from, &failure);
    GArray *target_list = failure == NULL ? frequencies(in, to, &failure) : NULL;
    const bool good = xlm_comm_agree_on(comm, failure, error);
    if (good) {
        tokens source, target;
        GArray *pairs = g_array_new(FALSE, FALSE, sizeof(pair));
        open_tokens(&source, from, in->model->vocabulary);
        open_tokens(&target, to, in->model->vocabulary);
        for (guint i = 0; i < target_list->len; i++)
            add_token(&target, g_array_index(target_list, xlm_frequency, i).id);
        add_pairs(in->in, in->reverse, &source, &target, pairs);
        add_pairs(in->left_out, in->reverse, &source, &target, pairs);
        measure(comm, in, &source, &target, pairs, source_list, groups);
        *candidates = target.ids->len;
        g_array_unref(pairs);
        close_tokens(&source);
        close_tokens(&target);
    }
    if (source_list != NULL)
        g_array_unref(source_list);
    if (target_list != NULL)
        g_array_unref(target_list);
    return good;
}
