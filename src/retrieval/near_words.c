/* xlm-mpi: the nearest neighbours of words, in their own language or another. SPDX-License-Identifier: GPL-3.0-or-later */
#include "retrieval/near_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vectors/alignment.h"

/* Number of sources that bounds are made of: FEW, or FEW_EACH for each of the k nearest, whichever is more. Among hardly more
 * than k cosines, the mean of the k largest is nearly the mean of all, and bounds nothing. */
enum { FEW = 1024, FEW_EACH = 10 };

/* Where each word of a set is in another one of the same space: [n], −1 where it is not; NULL: they are of two spaces. */
static int32_t *find_selves(const xlm_word_set *of, const xlm_word_set *in)
{
    if (of->space != in->space)
        return NULL;
    const int64_t n = xlm_word_set_count(of);
    int32_t *self = g_new(int32_t, MAX(n, 1));
    for (int64_t i = 0; i < n; i++)
        self[i] = (int32_t)xlm_word_set_find_rows(in, of, i);
    return self;
}

/* All rows, or those that are given. */
static void open_sources(const xlm_near_words_input *in, xlm_word_set *sources)
{
    xlm_word_space *space = in->words->space;
    xlm_word_set_open(sources, space, in->words->language);
    const int64_t n = in->sources != NULL ? in->sources->len : xlm_word_space_rows(space);
    for (int64_t i = 0; i < n; i++) {
        const int32_t row = in->sources != NULL ? g_array_index(in->sources, int32_t, i) : (int32_t)i;
        if (xlm_word_space_row_is_word(space, row))
            xlm_word_set_add_row(sources, row);
    }
}

/* Vectors that products are made of. */
typedef struct vectors {
    int64_t width, words, all, sources;
    float *word, *candidate, *source;
    int32_t *word_self;      /* of each word among the candidates, or NULL */
    int32_t *candidate_self; /* of each candidate among the sources */
} vectors;

/* [out] hubness: [n] r(y) of these candidates, over the first `sources` of the sources. */
static void find_hubness(const xlm_comm *comm, const vectors *v, const int32_t *candidates, int64_t n, int64_t sources, int k,
                         float *hubness)
{
    g_autofree float *some = g_new(float, MAX(n, 1) * v->width);
    g_autofree int32_t *self = v->candidate_self != NULL ? g_new(int32_t, MAX(n, 1)) : NULL;
    for (int64_t i = 0; i < n; i++) {
        memcpy(some + i * v->width, v->candidate + candidates[i] * v->width, sizeof *some * (size_t)v->width);
        if (self != NULL)
            self[i] = v->candidate_self[candidates[i]];
    }
    const xlm_alignment back = {.width = v->width, .source_vectors = some, .candidate_vectors = v->source, .n = n,
                                .candidates = sources, .self = self};
    xlm_alignment_neighbours(comm, &back, k, hubness);
}

/* A candidate of a word, and its score. */
typedef struct ranked {
    int32_t candidate;
    float score;
} ranked;

static int by_score(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

/* The `looked` candidates of each word with the largest bounds, which are in nearest and bound, by their scores: the first
 * `count` of these are right when the last bound is no larger than the score of the last of them. Are they, of all words? */
static bool rank_looked(const xlm_comm *comm, const xlm_near_words_input *in, const vectors *v, const float *low, int64_t looked,
                        const int32_t *nearest, const float *bound, int32_t *best, float *score)
{
    g_autoptr(GHashTable) places = g_hash_table_new(NULL, NULL);
    g_autoptr(GArray) some = g_array_new(FALSE, FALSE, sizeof(int32_t));
    for (int64_t i = 0; i < v->words * looked; i++)
        if (nearest[i] >= 0 && !g_hash_table_contains(places, GINT_TO_POINTER(nearest[i]))) {
            g_hash_table_insert(places, GINT_TO_POINTER(nearest[i]), GUINT_TO_POINTER(some->len));
            g_array_append_val(some, nearest[i]);
        }
    g_autofree float *hubness = g_new(float, MAX(some->len, 1u));
    find_hubness(comm, v, (const int32_t *)(const void *)some->data, some->len, v->sources, in->neighbours, hubness);
    g_autofree ranked *all = g_new(ranked, looked);
    bool good = true;
    for (int64_t w = 0; w < v->words; w++) {
        int64_t n = 0;
        for (; n < looked && nearest[w * looked + n] >= 0; n++) {
            const int32_t j = nearest[w * looked + n];
            const guint place = GPOINTER_TO_UINT(g_hash_table_lookup(places, GINT_TO_POINTER(j)));
            all[n] = (ranked){j, bound[w * looked + n] + low[j] - hubness[place]};
        }
        qsort(all, (size_t)n, sizeof *all, by_score);
        for (int64_t i = 0; i < in->count; i++) {
            best[w * in->count + i] = i < n ? all[i].candidate : -1;
            score[w * in->count + i] = i < n ? all[i].score : -INFINITY;
        }
        good = good && (n < looked || looked >= v->all || bound[(w + 1) * looked - 1] <= score[(w + 1) * in->count - 1]);
    }
    return good;
}

/* 2 cos(x, y) − r(y), without the products of all candidates with all sources: the mean of the k largest cosines of y with a few
 * of the sources is no larger than r(y), so it gives a bound; r(y) itself is found only for the candidates with the largest
 * bounds, for twice as many each time, until no other can be among the best. */
static void find_by_csls(const xlm_comm *comm, const xlm_near_words_input *in, const vectors *v, xlm_alignment *a, int32_t *best,
                         float *score)
{
    g_autofree int32_t *everyone = g_new(int32_t, v->all);
    g_autofree float *low = g_new(float, v->all);
    for (int64_t j = 0; j < v->all; j++)
        everyone[j] = (int32_t)j;
    const int64_t few = MAX(FEW, FEW_EACH * (int64_t)in->neighbours);
    find_hubness(comm, v, everyone, v->all, MIN(v->sources, few), in->neighbours, low);
    a->hubness = low;
    bool good = false;
    for (int64_t looked = MIN(v->all, 4 * (int64_t)in->count + 16); !good; looked = MIN(v->all, 2 * looked)) {
        g_autofree int32_t *nearest = g_new(int32_t, v->words * looked);
        g_autofree float *bound = g_new(float, v->words * looked);
        xlm_alignment_nearest(comm, a, (int)looked, nearest, bound);
        good = rank_looked(comm, in, v, low, looked, nearest, bound, best, score);
    }
}

static vectors make_vectors(const xlm_near_words_input *in)
{
    vectors v = {.width = xlm_word_space_width(in->words->space), .words = xlm_word_set_count(in->words),
                 .all = xlm_word_set_count(in->candidates)};
    v.word = xlm_word_set_vectors(in->words, 0, v.words);
    v.candidate = xlm_word_set_vectors(in->candidates, 0, v.all);
    v.word_self = find_selves(in->words, in->candidates);
    if (in->neighbours > 0) {
        xlm_word_set sources;
        open_sources(in, &sources);
        v.sources = xlm_word_set_count(&sources);
        v.source = xlm_word_set_vectors(&sources, 0, v.sources);
        v.candidate_self = find_selves(in->candidates, &sources);
        xlm_word_set_close(&sources);
    }
    return v;
}

xlm_near_words xlm_near_words_find(const xlm_comm *comm, const xlm_near_words_input *input)
{
    const vectors v = make_vectors(input);
    const int64_t size = MAX(v.words, 1) * input->count;
    xlm_alignment a = {.width = v.width, .source_vectors = v.word, .candidate_vectors = v.candidate, .n = v.words,
                       .candidates = v.all, .self = v.word_self};
    xlm_near_words found = {{g_new(int32_t, size), NULL}, {g_new(float, size), NULL}};
    xlm_alignment_nearest(comm, &a, input->count, found.nearest[0], found.score[0]);
    if (input->neighbours > 0 && v.words > 0) {
        g_autofree float *own = g_new(float, v.words);
        xlm_alignment_neighbours(comm, &a, input->neighbours, own);
        found.nearest[1] = g_new(int32_t, size);
        found.score[1] = g_new(float, size);
        find_by_csls(comm, input, &v, &a, found.nearest[1], found.score[1]);
        for (int64_t i = 0; i < size; i++)
            found.score[1][i] -= own[i / input->count];
    }
    g_free(v.word);
    g_free(v.candidate);
    g_free(v.source);
    g_free(v.word_self);
    g_free(v.candidate_self);
    return found;
}

void xlm_near_words_free(xlm_near_words *found)
{
    for (int by = 0; by < 2; by++) {
        g_free(found->nearest[by]);
        g_free(found->score[by]);
    }
}
