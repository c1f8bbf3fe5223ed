/* xlm-mpi: which tokens masking chooses. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/selection.h"

#include <glib.h>
#include <math.h>

/* ---- tokens ---- */

static void select_tokens(const xlm_selection *s, const xlm_candidates *c, bool *chosen)
{
    int32_t smallest = 0;
    bool any = false;
    for (int32_t i = 0; i < c->n; i++) {
        chosen[i] = xlm_rng_unit(c->chance[i].v[0]) < s->share;
        any |= chosen[i];
        if (c->chance[i].v[0] < c->chance[smallest].v[0])
            smallest = i;
    }
    if (!any && c->n > 0)
        chosen[smallest] = true;
}

/* Each instance has at least one. */
static int64_t max_tokens(const xlm_selection *s, int64_t instances, int64_t tokens, double deviations)
{
    const double share = s->share, n = (double)instances, all = (double)tokens;
    const double mean = all * share + (n > 0 ? n * pow(1 - share, all / n) : 0);
    return MIN(tokens, (int64_t)ceil(mean + deviations * sqrt(all * share * (1 - share))));
}

/* ---- a fragment, or spans of it ---- */

/* What is left to place from token `begin` of a sentence on: spans of `length` tokens, a shorter one (0: none), and tokens between
 * them. */
typedef struct places {
    int32_t begin, spans, length, shorter, between;
} places;

static void mark(bool *chosen, int32_t first, int32_t n)
{
    for (int32_t i = first; i < first + n; i++)
        chosen[i] = true;
}

/* One of the places at random after another: all orders of the spans and of the tokens between them are equally likely. */
static void place(places p, const xlm_rng_block *chance, bool *chosen)
{
    while (p.spans > 0 || p.shorter > 0) {
        const int32_t items = p.spans + (p.shorter > 0) + p.between;
        const int32_t item = (int32_t)xlm_rng_below(chance[p.begin].v[0], (uint64_t)items);
        int32_t taken = 0;
        if (item < p.spans) {
            taken = p.length;
            p.spans--;
        } else if (item < items - p.between) {
            taken = p.shorter;
            p.shorter = 0;
        } else {
            p.between--;
        }
        mark(chosen, p.begin, taken);
        p.begin += MAX(taken, 1);
    }
}

static void select_in_sentence(const xlm_selection *s, int32_t begin, int32_t end, const xlm_rng_block *chance, bool *chosen)
{
    const double edge = 0.2;
    const int32_t n = end - begin, m = (int32_t)rint(s->share * n);
    if (n < XLM_FRAGMENT_MIN_TOKENS || m == 0)
        return;
    const int32_t length = s->span > 0 && s->span < m ? (int32_t)s->span : m;
    places p = {.begin = begin, .spans = m / length, .length = length, .shorter = m % length, .between = n - m};
    const double where = xlm_rng_unit(chance[begin].v[3]);
    if (where < edge) {
        mark(chosen, p.begin, length);
        p.begin += length;
        p.spans--;
    } else if (where < 2 * edge) {
        const int32_t last = p.shorter > 0 ? p.shorter : length;
        mark(chosen, end - last, last);
        p.spans -= p.shorter == 0;
        p.shorter = 0;
    }
    place(p, chance, chosen);
}

static void select_fragment(const xlm_selection *s, const xlm_candidates *c, bool *chosen)
{
    for (int32_t k = 0, begin = 0; k < c->sentences; begin = c->ends[k++])
        select_in_sentence(s, begin, c->ends[k], c->chance, chosen);
}

/* A number is rounded to the nearest one for each instance. */
static int64_t max_fragment(const xlm_selection *s, int64_t instances, int64_t tokens, double deviations)
{
    return MIN(tokens, (int64_t)ceil(s->share * (double)tokens + deviations * 0.5 * sqrt((double)instances)));
}

/* ---- all ---- */

static const struct {
    void (*select)(const xlm_selection *selection, const xlm_candidates *candidates, bool *chosen);
    int64_t (*max)(const xlm_selection *selection, int64_t instances, int64_t tokens, double deviations);
} table[] = {
    [XLM_SELECT_TOKENS] = {select_tokens, max_tokens},
    [XLM_SELECT_FRAGMENT] = {select_fragment, max_fragment},
};

void xlm_select(const xlm_selection *selection, const xlm_candidates *candidates, bool *chosen)
{
    table[selection->how].select(selection, candidates, chosen);
}

int64_t xlm_select_max(const xlm_selection *selection, int64_t instances, int64_t tokens, double deviations)
{
    return table[selection->how].max(selection, instances, tokens, deviations);
}
