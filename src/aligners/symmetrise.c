/* xlm-mpi: combining the links of two directions. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/symmetrise.h"

#include <string.h>

static const char *const names[XLM_SYMMETRISATIONS] = {
    [XLM_FORWARD] = "forward",
    [XLM_REVERSE] = "reverse",
    [XLM_INTERSECTION] = "intersection",
    [XLM_UNION] = "union",
    [XLM_GROW_DIAG] = "grow-diag",
    [XLM_GROW_DIAG_FINAL] = "grow-diag-final",
    [XLM_GROW_DIAG_FINAL_AND] = "grow-diag-final-and",
};

const char *xlm_symmetrisation_name(xlm_symmetrisation how) { return names[how]; }

bool xlm_symmetrisation_find(const char *name, xlm_symmetrisation *how)
{
    for (int i = 0; i < XLM_SYMMETRISATIONS; i++)
        if (strcmp(name, names[i]) == 0) {
            *how = (xlm_symmetrisation)i;
            return true;
        }
    return false;
}

const char *xlm_symmetrisation_names(void)
{
    return "forward, reverse, intersection, union, grow-diag, grow-diag-final, grow-diag-final-and";
}

/* The union of both directions, by source, then target. A link is in `forward` or in `reverse`, so the place of any (i, j) is
 * found by its words. */
struct grid {
    const int32_t *forward, *reverse;
    int64_t n, source_words, target_words;
    xlm_link *links;          /* [n] */
    int32_t *of_target;       /* [target_words] place of the link of forward */
    int32_t *of_source;       /* [source_words] the same of reverse */
    bool *taken, *waiting;    /* [n] waiting: not taken, and next to one that is */
    bool *source_linked, *target_linked; /* [words] have a link that is taken */
    int64_t low, high;        /* waiting ones lie in [low, high) */
};

static int64_t find(const struct grid *g, int64_t i, int64_t j)
{
    if (i < 0 || j < 0 || i >= g->source_words || j >= g->target_words)
        return -1;
    return g->forward[j] == i ? g->of_target[j] : g->reverse[i] == j ? g->of_source[i] : -1;
}

/* The links in order: those of forward are sorted by source by counting, and that of reverse is inserted among them. */
static void fill(struct grid *g, int32_t *next /* [source_words + 1] */)
{
    memset(next, 0, (size_t)(g->source_words + 1) * sizeof *next);
    for (int64_t j = 0; j < g->target_words; j++)
        if (g->forward[j] >= 0)
            next[g->forward[j] + 1]++;
    for (int64_t i = 0; i < g->source_words; i++) {
        const int32_t j = g->reverse[i];
        next[i + 1] += next[i] + (j >= 0 && g->forward[j] != i);
    }
    g->n = next[g->source_words];
    /* Targets come in ascending order; the one of reverse waits for its turn. */
    for (int64_t j = 0; j < g->target_words; j++) {
        const int32_t i = g->forward[j];
        if (i < 0)
            continue;
        if (g->reverse[i] >= 0 && g->reverse[i] < j && g->forward[g->reverse[i]] != i && g->of_source[i] < 0)
            g->of_source[i] = next[i]++;
        g->of_target[j] = next[i]++;
        g->links[g->of_target[j]] = (xlm_link){.source = i, .target = (int32_t)j};
        if (g->reverse[i] == j)
            g->of_source[i] = g->of_target[j];
    }
    for (int32_t i = 0; i < g->source_words; i++) {
        if (g->reverse[i] < 0)
            continue;
        if (g->of_source[i] < 0)
            g->of_source[i] = next[i]++;
        g->links[g->of_source[i]] = (xlm_link){.source = i, .target = g->reverse[i]};
    }
}

static void take(struct grid *g, int64_t at)
{
    const int64_t i = g->links[at].source, j = g->links[at].target;
    g->taken[at] = g->source_linked[i] = g->target_linked[j] = true;
    for (int64_t y = i - 1; y <= i + 1; y++)
        for (int64_t x = j - 1; x <= j + 1; x++) {
            const int64_t beside = find(g, y, x);
            if (beside < 0 || g->taken[beside])
                continue;
            g->waiting[beside] = true;
            g->low = MIN(g->low, beside);
            g->high = MAX(g->high, beside + 1);
        }
}

static void take_intersection(struct grid *g)
{
    for (int64_t j = 0; j < g->target_words; j++)
        if (g->forward[j] >= 0 && g->reverse[g->forward[j]] == j)
            take(g, g->of_target[j]);
}

/* Rounds over the union. A link can only be taken if it is next to one that is taken; and a round need only look at links that
 * became so since the last round passed them. */
static void grow(struct grid *g)
{
    while (g->low < g->high) {
        int64_t at = g->low;
        g->low = g->n;
        for (; at < g->high; at++) {
            if (!g->waiting[at])
                continue;
            g->waiting[at] = false;
            if (!g->source_linked[g->links[at].source] || !g->target_linked[g->links[at].target])
                take(g, at);
        }
        /* Links before the last one taken that are next to it wait for the next round. */
        while (g->high > g->low && !g->waiting[g->high - 1])
            g->high--;
        while (g->low < g->high && !g->waiting[g->low])
            g->low++;
    }
}

/* both: neither word may have a link yet. */
static void take_final(struct grid *g, bool of_forward, bool both)
{
    for (int64_t at = 0; at < g->n; at++) {
        const xlm_link *link = &g->links[at];
        if (g->taken[at] || (of_forward ? g->forward[link->target] != link->source : g->reverse[link->source] != link->target))
            continue;
        const bool source = g->source_linked[link->source], target = g->target_linked[link->target];
        if (both ? !source && !target : !source || !target)
            g->taken[at] = g->source_linked[link->source] = g->target_linked[link->target] = true;
    }
}

static int64_t keep_taken(const struct grid *g)
{
    int64_t n = 0;
    for (int64_t at = 0; at < g->n; at++)
        if (g->taken[at])
            g->links[n++] = g->links[at];
    return n;
}

int64_t xlm_symmetrise(xlm_symmetrisation how, const int32_t *forward, int64_t target_words, const int32_t *reverse,
                       int64_t source_words, xlm_link *links)
{
    const int64_t words = source_words + target_words;
    struct grid g = {.forward = forward, .reverse = reverse, .source_words = source_words, .target_words = target_words,
                     .links = links};
    g_autofree int32_t *numbers = g_new(int32_t, words + source_words + 1);
    g.of_target = numbers;
    g.of_source = numbers + target_words;
    memset(numbers, -1, (size_t)words * sizeof *numbers);
    fill(&g, numbers + words);
    g_autofree bool *flags = g_new0(bool, 2 * g.n + words + 1);
    g.taken = flags;
    g.waiting = flags + g.n;
    g.source_linked = flags + 2 * g.n;
    g.target_linked = g.source_linked + source_words;
    g.low = g.n;
    if (how == XLM_UNION)
        memset(g.taken, true, (size_t)g.n);
    else if (how == XLM_FORWARD || how == XLM_REVERSE)
        for (int64_t at = 0; at < g.n; at++)
            g.taken[at] = how == XLM_FORWARD ? forward[links[at].target] == links[at].source
                                             : reverse[links[at].source] == links[at].target;
    else
        take_intersection(&g);
    if (how >= XLM_GROW_DIAG)
        grow(&g);
    if (how >= XLM_GROW_DIAG_FINAL)
        for (int direction = 0; direction < 2; direction++)
            take_final(&g, direction == 0, how == XLM_GROW_DIAG_FINAL_AND);
    return keep_taken(&g);
}
