/* xlm-mpi: pairs of words that occur in a sentence pair. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/word_pairs.h"

#include <omp.h>
#include <string.h>

/* Where the source words of some sentence pairs are: occurrences of word e are [first[e], first[e + 1]). */
struct occurrences {
    int64_t *first;    /* [types + 1] */
    int32_t *sentence; /* counted from the first of these sentence pairs */
    int32_t *position;
};

static struct occurrences find_occurrences(const xlm_bitext_side *side, int64_t from, int64_t to)
{
    const int64_t n = side->offsets[to] - side->offsets[from];
    const int32_t *words = n > 0 ? side->words + side->offsets[from] : NULL;
    struct occurrences o = {g_new0(int64_t, side->types + 2), g_new(int32_t, n), g_new(int32_t, n)};
    for (int64_t i = 0; i < n; i++)
        o.first[words[i] + 2]++;
    for (int32_t e = 0; e < side->types; e++)
        o.first[e + 2] += o.first[e + 1];
    for (int64_t s = from; s < to; s++)
        for (int64_t i = side->offsets[s]; i < side->offsets[s + 1]; i++) {
            const int64_t place = o.first[side->words[i] + 1]++;
            o.sentence[place] = (int32_t)(s - from);
            o.position[place] = (int32_t)(i - side->offsets[s]);
        }
    return o;
}

static void free_occurrences(struct occurrences *o)
{
    g_free(o->first);
    g_free(o->sentence);
    g_free(o->position);
}

/* The number of different target words in the sentence pairs of source word e. [out] out: these words; may be NULL. */
static int64_t meet(const xlm_bitext *b, const struct occurrences *o, int32_t e, int32_t *marks, int32_t mark, int32_t *out)
{
    const xlm_bitext_side *target = &b->side[1];
    int64_t n = 0;
    for (int64_t k = o->first[e]; k < o->first[e + 1]; k++) {
        if (k > o->first[e] && o->sentence[k] == o->sentence[k - 1])
            continue;
        for (int64_t j = target->offsets[o->sentence[k]]; j < target->offsets[o->sentence[k] + 1]; j++) {
            const int32_t f = target->words[j];
            if (marks[f] != mark) {
                marks[f] = mark;
                if (out != NULL)
                    out[n] = f;
                n++;
            }
        }
    }
    return n;
}

static void find_pairs(xlm_word_pairs *p, const xlm_bitext *b)
{
    const int32_t types = b->side[0].types;
    struct occurrences o = find_occurrences(&b->side[0], 0, b->pairs);
    p->rows = g_new0(int64_t, types + 1);
    #pragma omp parallel
    {
        /* For each target word the source word that it was last seen with, -1 at first. */
        const size_t marks_size = sizeof(int32_t) * ((size_t)b->side[1].types + 1); /* not 0 */
        g_autofree int32_t *marks = g_malloc(marks_size);
        memset(marks, -1, marks_size);
        #pragma omp for schedule(dynamic, 16)
        for (int32_t e = 0; e < types; e++)
            p->rows[e + 1] = meet(b, &o, e, marks, e, NULL);
        #pragma omp single
        {
            for (int32_t e = 0; e < types; e++)
                p->rows[e + 1] += p->rows[e];
            p->n = p->rows[types];
            p->targets = g_new(int32_t, p->n + 1); /* not NULL */
        }
        memset(marks, -1, marks_size);
        #pragma omp for schedule(dynamic, 16)
        for (int32_t e = 0; e < types; e++)
            meet(b, &o, e, marks, e, p->targets + p->rows[e]);
    }
    free_occurrences(&o);
}

/* Fill the cells of sentence pairs [from, to), source word by source word, for which an array has the numbers of its pairs. */
static void fill_cells(const xlm_word_pairs *p, const xlm_bitext *b, int64_t from, int64_t to)
{
    const xlm_bitext_side *source = &b->side[0], *target = &b->side[1];
    struct occurrences o = find_occurrences(source, from, to);
    uint32_t *cells = p->cells.data;
    #pragma omp parallel
    {
        g_autofree uint32_t *number = g_new0(uint32_t, target->types);
        #pragma omp for schedule(dynamic, 16)
        for (int32_t e = 0; e < source->types; e++) {
            if (o.first[e] == o.first[e + 1])
                continue;
            for (int64_t k = p->rows[e]; k < p->rows[e + 1]; k++)
                number[p->targets[k]] = (uint32_t)k;
            for (int64_t k = o.first[e]; k < o.first[e + 1]; k++) {
                const int64_t s = from + o.sentence[k];
                const int n = xlm_bitext_length(source, s), m = xlm_bitext_length(target, s);
                const int32_t *f = target->words + target->offsets[s];
                for (int j = 0; j < m; j++)
                    cells[p->offsets[s] + (int64_t)j * n + o.position[k]] = number[f[j]];
            }
        }
    }
    free_occurrences(&o);
}

bool xlm_word_pairs_make(xlm_word_pairs *p, const xlm_bitext *b, int64_t memory, const char *scratch, GError **error)
{
    *p = (xlm_word_pairs){0};
    p->offsets = g_new0(int64_t, b->pairs + 1);
    for (int64_t s = 0; s < b->pairs; s++)
        p->offsets[s + 1] = p->offsets[s] + (int64_t)xlm_bitext_length(&b->side[0], s) * xlm_bitext_length(&b->side[1], s);
    find_pairs(p, b);
    if (p->n > (int64_t)UINT32_MAX)
        return xlm_error_set(error, EX_UNAVAILABLE, "a rank's part has more than 2^32 different pairs of words; give more ranks");
    const int64_t bytes = (int64_t)sizeof(uint32_t) * p->offsets[b->pairs];
    if (!xlm_large_array_make(&p->cells, (size_t)bytes, bytes > memory ? scratch : NULL, error))
        return false;
    for (int64_t from = 0, to; from < b->pairs; from = to) {
        for (to = from + 1; to < b->pairs && (p->offsets[to + 1] - p->offsets[from]) * (int64_t)sizeof(uint32_t) <= memory;)
            to++;
        fill_cells(p, b, from, to);
        const size_t begin = sizeof(uint32_t) * (size_t)p->offsets[from], end = sizeof(uint32_t) * (size_t)p->offsets[to];
        xlm_large_array_release(&p->cells, begin, end - begin);
    }
    return true;
}

void xlm_word_pairs_free(xlm_word_pairs *p)
{
    g_free(p->rows);
    g_free(p->targets);
    g_free(p->offsets);
    xlm_large_array_free(&p->cells);
    *p = (xlm_word_pairs){0};
}
