/* xlm-mpi: cosines of translations, and whether they are nearest. SPDX-License-Identifier: GPL-3.0-or-later */
#include "retrieval/dictionary_pairs.h"

#include "vectors/alignment.h"
#include "vectors/cosines.h"
#include "vectors/token_set.h"

const char *const xlm_dictionary_pairs_names[XLM_PAIRS_GROUPS] = {"all", "in dictionary", "left out"};

/* Both languages: tokens of the dictionary come first. */
struct sides {
    xlm_token_set set[2];
    int64_t words[2];  /* of the dictionary: the first of them */
    float *vectors[2]; /* [n x width] */
    int64_t width;
};

/* ---- cosines ---- */

/* Mean cosines of the pairs of one dictionary or of several. */
static void measure_cosines(const struct sides *s, const xlm_dictionary *const *d, int dictionaries,
                            xlm_dictionary_pairs_score *score)
{
    xlm_pair_cosines cosines;
    xlm_pair_cosines_open(&cosines, s->width);
    for (int k = 0; k < dictionaries; k++)
        for (int64_t i = 0; i < d[k]->pairs; i++)
            xlm_pair_cosines_add(&cosines, s->vectors[0] + s->set[0].place[d[k]->token[0][i]] * s->width,
                                 s->vectors[1] + s->set[1].place[d[k]->token[1][i]] * s->width);
    score->pairs = cosines.pairs;
    score->cosine = xlm_pair_cosines_mean(&cosines);
    score->shuffled = xlm_pair_cosines_shuffled(&cosines);
    xlm_pair_cosines_close(&cosines);
}

/* ---- retrieval ---- */

/* [out] include: [words] which words of a direction are in a group. A word of both dictionaries is only in the first: where
 * training has put it says nothing about words that training has not seen. */
static void choose(const xlm_dictionary_pairs_input *in, const struct sides *s, int direction, int group, bool *include)
{
    const xlm_dictionary *const d[] = {in->in, in->left_out};
    for (int64_t i = 0; i < s->words[direction]; i++)
        include[i] = group == XLM_PAIRS_ALL;
    for (int64_t i = 0; group != XLM_PAIRS_ALL && i < d[group - XLM_PAIRS_IN]->pairs; i++)
        include[s->set[direction].place[d[group - XLM_PAIRS_IN]->token[direction][i]]] = true;
    for (int64_t i = 0; group == XLM_PAIRS_LEFT_OUT && i < in->in->pairs; i++)
        include[s->set[direction].place[in->in->token[direction][i]]] = false;
}

static void retrieve(const xlm_comm *comm, const xlm_dictionary_pairs_input *in, const struct sides *s, int direction,
                     xlm_dictionary_pairs *result)
{
    const xlm_dictionary *const dictionaries[] = {in->in, in->left_out};
    const xlm_token_set *source = &s->set[direction], *target = &s->set[!direction];
    const int64_t n = s->words[direction], candidates = target->ids->len;
    xlm_token_translations there, back;
    xlm_token_translations_make(&there, dictionaries, 2, direction, source, target);
    xlm_token_translations_make(&back, dictionaries, 2, !direction, target, source);
    g_autofree int64_t *by_cosine = g_new(int64_t, MAX(n, 1)), *by_csls = g_new(int64_t, MAX(n, 1));
    g_autofree float *hubness = g_new(float, MAX(candidates, 1));
    g_autofree bool *include = g_new(bool, MAX(n, 1));
    const float *const vectors[2] = {s->vectors[0], s->vectors[1]};
    const int64_t sizes[2] = {s->set[0].ids->len, s->set[1].ids->len};
    xlm_alignment a = xlm_alignment_between(s->width, vectors, sizes, direction);
    xlm_alignment reverse = xlm_alignment_between(s->width, vectors, sizes, !direction);
    a.n = n;
    a.first = there.first, a.translations = there.translations, a.self = there.self;
    reverse.self = back.self;
    xlm_alignment_ranks(comm, &a, by_cosine);
    xlm_alignment_neighbours(comm, &reverse, in->neighbours, hubness);
    a.hubness = hubness;
    xlm_alignment_ranks(comm, &a, by_csls);
    for (int g = 0; g < XLM_PAIRS_GROUPS; g++) {
        choose(in, s, direction, g, include);
        const xlm_alignment_score c = xlm_alignment_summary(n, by_cosine, include);
        result->group[g].words[direction] = c.tokens;
        result->group[g].by_cosine[direction] = c.top1;
        result->group[g].by_csls[direction] = xlm_alignment_summary(n, by_csls, include).top1;
    }
    result->candidates[direction] = candidates;
    xlm_token_translations_free(&there);
    xlm_token_translations_free(&back);
}

/* ---- all ---- */

static bool open_sides(const xlm_comm *comm, const xlm_dictionary_pairs_input *in, struct sides *s, GError **error)
{
    GError *failure = NULL;
    s->width = in->model->embedding_size;
    for (int k = 0; k < 2; k++)
        xlm_token_set_open(&s->set[k], in->in->language[k], in->model->vocabulary);
    xlm_token_set_add_pairs(in->in, false, &s->set[0], &s->set[1]);
    xlm_token_set_add_pairs(in->left_out, false, &s->set[0], &s->set[1]);
    for (int k = 0; k < 2; k++) {
        s->words[k] = s->set[k].ids->len;
        GArray *list = in->corpus != NULL && failure == NULL ? xlm_token_frequencies(in->corpus, s->set[k].language, &failure)
                                                             : NULL;
        if (list != NULL) {
            xlm_token_set_add_list(&s->set[k], list);
            g_array_unref(list);
        }
        if (in->words_alone)
            s->set[k].language = -1;
        s->vectors[k] = xlm_token_set_vectors(&s->set[k], in->model, in->parameters);
    }
    return xlm_comm_agree_on(comm, failure, error);
}

static void close_sides(struct sides *s)
{
    for (int k = 0; k < 2; k++) {
        xlm_token_set_close(&s->set[k]);
        g_free(s->vectors[k]);
    }
}

bool xlm_dictionary_pairs_measure(const xlm_comm *comm, const xlm_dictionary_pairs_input *input, xlm_dictionary_pairs *result,
                                  GError **error)
{
    const xlm_dictionary_pairs_input *in = input;
    struct sides s = {0};
    *result = (xlm_dictionary_pairs){0};
    const bool good = open_sides(comm, in, &s, error);
    if (good) {
        const xlm_dictionary *const dictionaries[] = {in->in, in->left_out};
        measure_cosines(&s, dictionaries, 2, &result->group[XLM_PAIRS_ALL]);
        measure_cosines(&s, dictionaries, 1, &result->group[XLM_PAIRS_IN]);
        measure_cosines(&s, dictionaries + 1, 1, &result->group[XLM_PAIRS_LEFT_OUT]);
        for (int direction = 0; direction < 2; direction++)
            retrieve(comm, in, &s, direction, result);
    }
    close_sides(&s);
    return good;
}
