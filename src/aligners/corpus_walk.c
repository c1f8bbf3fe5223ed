/* xlm-mpi: a corpus's sentence pairs one after another. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/corpus_walk.h"

#include "corpus/corpus.h"

enum { WINDOW = 512, SIZES = 16384 }; /* pairs at a time; of long sentences fewer */

struct xlm_corpus_walk {
    const xlm_corpus *corpus;
    const xlm_corpus_pairs *pairs;
    int64_t next, first, held, window; /* pairs [first, first + held) have been read: */
    int64_t *links;                    /* [held x 2] */
    int64_t *starts[2], *tokens[2];    /* [held] */
    int64_t *places[2];                /* [held] where each sentence's subwords begin in ids */
    GArray *ids[2];                    /* int32_t; NULL: sizes alone */
};

xlm_corpus_walk *xlm_corpus_walk_new(const xlm_corpus *corpus, const xlm_corpus_pairs *pairs, bool sizes_alone)
{
    xlm_corpus_walk *walk = g_new0(xlm_corpus_walk, 1);
    walk->corpus = corpus;
    walk->pairs = pairs;
    walk->window = MIN(pairs->pairs, sizes_alone ? SIZES : WINDOW);
    walk->links = g_new(int64_t, 8 * walk->window + 1);
    for (int side = 0; side < 2; side++) {
        walk->starts[side] = walk->links + (2 + side) * walk->window;
        walk->tokens[side] = walk->links + (4 + side) * walk->window;
        walk->places[side] = walk->links + (6 + side) * walk->window;
        walk->ids[side] = sizes_alone ? NULL : g_array_new(FALSE, FALSE, sizeof(int32_t));
    }
    return walk;
}

void xlm_corpus_walk_free(xlm_corpus_walk *walk)
{
    if (walk == NULL)
        return;
    for (int side = 0; side < 2; side++)
        if (walk->ids[side] != NULL)
            g_array_unref(walk->ids[side]);
    g_free(walk->links);
    g_free(walk);
}

void xlm_corpus_walk_to(xlm_corpus_walk *walk, int64_t pair) { walk->next = pair; }

/* Sentences that follow one another in the text are read together. */
static bool read_ids(xlm_corpus_walk *walk, int side, GError **error)
{
    const xlm_corpus_text *text = side == 0 ? walk->pairs->source : walk->pairs->target;
    const int64_t *starts = walk->starts[side], *tokens = walk->tokens[side];
    GArray *ids = walk->ids[side];
    g_array_set_size(ids, 0);
    for (int64_t i = 0, next; i < walk->held; i = next) {
        int64_t n = 0;
        for (next = i; next < walk->held && starts[next] == starts[i] + n; next++) {
            walk->places[side][next] = (int64_t)ids->len + n;
            n += tokens[next];
        }
        if (!xlm_corpus_fits(walk->corpus, text, walk->links[2 * i + side], n, error))
            return false;
        const guint begin = ids->len;
        g_array_set_size(ids, begin + (guint)n);
        if (n > 0 && !xlm_corpus_read_tokens(text, starts[i], n, &g_array_index(ids, int32_t, begin), error))
            return false;
    }
    return true;
}

/* How many of n pairs are read at a time: their subwords of a side are so many, or it is one pair. */
static int64_t count_pairs(const xlm_corpus_walk *walk, int64_t n)
{
    int64_t tokens[2] = {0}, i = 0;
    for (; i < n; i++) {
        for (int side = 0; side < 2; side++)
            tokens[side] += walk->tokens[side][i];
        if (i > 0 && MAX(tokens[0], tokens[1]) > XLM_CORPUS_TOKENS_AT_ONCE)
            break;
    }
    return i;
}

static bool refill(xlm_corpus_walk *walk, GError **error)
{
    walk->first = walk->next;
    walk->held = 0;
    const int64_t n = MIN(walk->window, walk->pairs->pairs - walk->first);
    if (!xlm_corpus_read_links(walk->corpus, walk->pairs, walk->first, n, walk->links, error))
        return false;
    for (int side = 0; side < 2; side++)
        if (!xlm_corpus_sentence_offsets(side == 0 ? walk->pairs->source : walk->pairs->target, n,
                                         walk->links + side, walk->starts[side], walk->tokens[side], error))
            return false;
    walk->held = walk->ids[0] != NULL ? count_pairs(walk, n) : n;
    return walk->ids[0] == NULL || (read_ids(walk, 0, error) && read_ids(walk, 1, error));
}

int xlm_corpus_walk_next(xlm_corpus_walk *walk, const int32_t *ids[2], int64_t n[2], GError **error)
{
    if (walk->next == walk->pairs->pairs)
        return 0;
    if ((walk->next < walk->first || walk->next >= walk->first + walk->held) && !refill(walk, error)) {
        walk->held = 0;
        return -1;
    }
    const int64_t i = walk->next++ - walk->first;
    for (int side = 0; side < 2; side++) {
        n[side] = walk->tokens[side][i];
        ids[side] = walk->ids[side] == NULL ? NULL : (const int32_t *)(const void *)walk->ids[side]->data + walk->places[side][i];
    }
    return 1;
}
