/* xlm-mpi: alignment of a model's word embeddings over a dictionary. SPDX-License-Identifier: GPL-3.0-or-later */
#include "retrieval/model_alignment.h"

#include "lexicon/frequency.h"
#include "vectors/token_set.h"

enum { ALL, IN, LEFT_OUT, BANDS };

static const char *const names[XLM_ALIGNMENT_GROUPS] = {"all", "in dictionary", "left out", "top 1 %", "1-10 %", "10-50 %",
                                                        "50-100 %"};
_Static_assert(BANDS + XLM_FREQUENCY_BANDS == XLM_ALIGNMENT_GROUPS, "a group a band");

/* [out] include: [n] which source words are in the group. list: frequencies of the source language. */
static void choose(int group, const xlm_alignment_input *in, const xlm_token_set *source, const GArray *list, bool *include)
{
    const int64_t n = source->ids->len;
    for (int64_t i = 0; i < n; i++)
        include[i] = group == ALL || group == LEFT_OUT;
    for (int64_t i = 0; i < in->in->pairs && (group == IN || group == LEFT_OUT); i++)
        include[source->place[in->in->token[in->reverse][i]]] = group == IN;
    if (group < BANDS)
        return;
    const int b = group - BANDS;
    const bool lowest = b == XLM_FREQUENCY_BANDS - 1; /* includes those that the text does not have */
    for (int64_t i = 0; i < n; i++)
        include[i] = lowest;
    for (guint k = 0; k < list->len; k++) {
        const int32_t place = source->place[g_array_index(list, xlm_frequency, k).id];
        if (place >= 0)
            include[place] = k < xlm_frequency_band_end(list->len, b) &&
                             (b == 0 || k >= xlm_frequency_band_end(list->len, b - 1));
    }
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

static void measure(const xlm_comm *comm, const xlm_alignment_input *in, const xlm_token_set *source,
                    const xlm_token_set *target, const GArray *list, xlm_alignment_group *groups)
{
    const int64_t n = source->ids->len;
    const xlm_dictionary *const dictionaries[] = {in->in, in->left_out};
    g_autofree int64_t *rank = g_new(int64_t, MAX(n, 1));
    xlm_token_translations t;
    xlm_token_translations_make(&t, dictionaries, 2, in->reverse, source, target);
    g_autofree float *source_vectors = xlm_token_set_vectors(source, in->model, in->parameters);
    g_autofree float *candidate_vectors = xlm_token_set_vectors(target, in->model, in->parameters);
    const xlm_alignment a = {
        .width = in->model->embedding_size, .source_vectors = source_vectors, .candidate_vectors = candidate_vectors, .n = n,
        .candidates = target->ids->len, .first = t.first, .translations = t.translations, .self = t.self,
    };
    xlm_alignment_ranks(comm, &a, rank);
    g_autofree bool *include = g_new(bool, MAX(n, 1));
    for (int g = 0; g < XLM_ALIGNMENT_GROUPS; g++) {
        choose(g, in, source, list, include);
        groups[g] = (xlm_alignment_group){names[g], xlm_alignment_summary(n, rank, include), share_of_selves(n, t.self, include)};
    }
    xlm_token_translations_free(&t);
}

bool xlm_alignment_measure(const xlm_comm *comm, const xlm_alignment_input *input,
                           xlm_alignment_group groups[XLM_ALIGNMENT_GROUPS], int64_t *candidates, GError **error)
{
    const xlm_alignment_input *in = input;
    const int from = in->in->language[in->reverse], to = in->in->language[!in->reverse];
    GError *failure = NULL;
    g_autoptr(GArray) source_list = xlm_token_frequencies(in->corpus, from, &failure);
    g_autoptr(GArray) target_list = failure == NULL ? xlm_token_frequencies(in->corpus, to, &failure) : NULL;
    const bool good = xlm_comm_agree_on(comm, failure, error);
    if (good) {
        xlm_token_set source, target;
        xlm_token_set_open(&source, from, in->model->vocabulary);
        xlm_token_set_open(&target, to, in->model->vocabulary);
        xlm_token_set_add_list(&target, target_list);
        xlm_token_set_add_pairs(in->in, in->reverse, &source, &target);
        xlm_token_set_add_pairs(in->left_out, in->reverse, &source, &target);
        measure(comm, in, &source, &target, source_list, groups);
        *candidates = target.ids->len;
        xlm_token_set_close(&source);
        xlm_token_set_close(&target);
    }
    return good;
}
