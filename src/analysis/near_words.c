/* xlm-mpi: the nearest neighbours of words, in their own language or another. SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/near_words.h"

#include "analysis/alignment.h"

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

/* r(y) of all candidates: [candidates]. g_free. */
static float *find_hubness(const xlm_comm *comm, const xlm_near_words_input *in, const float *candidates)
{
    xlm_word_set sources;
    open_sources(in, &sources);
    const int64_t n = xlm_word_set_count(&sources), all = xlm_word_set_count(in->candidates);
    float *vectors = xlm_word_set_vectors(&sources, 0, n), *hubness = g_new(float, MAX(all, 1));
    int32_t *self = find_selves(in->candidates, &sources);
    const xlm_alignment back = {.width = xlm_word_space_width(in->words->space), .source_vectors = candidates,
                                .candidate_vectors = vectors, .n = all, .candidates = n, .self = self};
    xlm_alignment_neighbours(comm, &back, in->neighbours, hubness);
    xlm_word_set_close(&sources);
    g_free(vectors);
    g_free(self);
    return hubness;
}

xlm_near_words xlm_near_words_find(const xlm_comm *comm, const xlm_near_words_input *input)
{
    const int64_t n = xlm_word_set_count(input->words), all = xlm_word_set_count(input->candidates);
    float *words = xlm_word_set_vectors(input->words, 0, n), *candidates = xlm_word_set_vectors(input->candidates, 0, all);
    int32_t *self = find_selves(input->words, input->candidates);
    xlm_alignment a = {.width = xlm_word_space_width(input->words->space), .source_vectors = words,
                       .candidate_vectors = candidates, .n = n, .candidates = all, .self = self};
    xlm_near_words found = {{NULL, NULL}, {NULL, NULL}};
    float *hubness = NULL, *own = g_new(float, MAX(n, 1));
    for (int by = 0; by < 2 && (by == 0 || input->neighbours > 0); by++) {
        found.nearest[by] = g_new(int32_t, MAX(n, 1) * input->count);
        found.score[by] = g_new(float, MAX(n, 1) * input->count);
        if (by == 1) {
            xlm_alignment_neighbours(comm, &a, input->neighbours, own);
            a.hubness = hubness = find_hubness(comm, input, candidates);
        }
        xlm_alignment_nearest(comm, &a, input->count, found.nearest[by], found.score[by]);
        for (int64_t i = 0; by == 1 && i < n * input->count; i++)
            found.score[by][i] -= own[i / input->count];
    }
    g_free(words);
    g_free(candidates);
    g_free(self);
    g_free(hubness);
    g_free(own);
    return found;
}

void xlm_near_words_free(xlm_near_words *found)
{
    for (int by = 0; by < 2; by++) {
        g_free(found->nearest[by]);
        g_free(found->score[by]);
    }
}
