/* xlm-mpi: which tokens masking chooses. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/selection.h"

#include <glib.h>
#include <math.h>

/* ---- tokens ---- */

static void select_tokens(const xlm_selection *s, const xlm_candidates *c, int32_t *leader)
{
    int32_t smallest = 0;
    bool any = false;
    for (int32_t i = 0; i < c->n; i++) {
        const bool chosen = xlm_rng_unit(c->chance[i].v[0]) < s->share;
        leader[i] = chosen ? i : -1;
        any |= chosen;
        if (c->chance[i].v[0] < c->chance[smallest].v[0])
            smallest = i;
    }
    if (!any && c->n > 0)
        leader[smallest] = smallest;
}

/* The mean includes the tokens that are chosen because a sequence must have at least one. */
static int64_t max_tokens(const xlm_selection *s, int64_t instances, int64_t tokens, double deviations)
{
    const double share = s->share, n = (double)instances, all = (double)tokens;
    const double mean = all * share + (n > 0 ? n * pow(1 - share, all / n) : 0);
    return MIN(tokens, (int64_t)ceil(mean + deviations * sqrt(all * share * (1 - share))));
}

/* ---- words, and spans of them ---- */

/* p(length) up to a factor; 0: no span is that long. */
static double weight_of_length(int64_t how, int32_t length)
{
    switch (how) {
    case XLM_SELECT_SPANS:
        return length <= 10 ? pow(0.8, length) : 0;
    case XLM_SELECT_NGRAMS:
        return length <= 3 ? 1.0 / length : 0;
    default:
        return length <= 1;
    }
}

/* unit: in [0, 1) */
static int32_t draw_length(int64_t how, double unit)
{
    double sum = 0, below = 0;
    int32_t length = 1;
    for (int32_t n = 1; weight_of_length(how, n) > 0; n++)
        sum += weight_of_length(how, n);
    while ((below += weight_of_length(how, length)) <= unit * sum && weight_of_length(how, length + 1) > 0)
        length++;
    return length;
}

/* Spans that are being chosen. */
typedef struct spans {
    const xlm_candidates *c;
    int32_t *leader;
    int32_t left;  /* number of tokens that are still to be chosen */
    int32_t words; /* number of words that are not chosen */
} spans;

static int32_t end_of_word(const xlm_candidates *c, int32_t first)
{
    int32_t end = first + 1;
    while (end < c->n && c->position[end] == XLM_INSIDE_WORD)
        end++;
    return end;
}

/* The first token of word `number` among the words that are not chosen. */
static int32_t find_word(const spans *s, int32_t number)
{
    for (int32_t i = 0; i < s->c->n; i++)
        if (s->c->position[i] != XLM_INSIDE_WORD && s->leader[i] < 0 && number-- == 0)
            return i;
    g_assert_not_reached();
}

static void choose_word(spans *s, int32_t first, int32_t end, int32_t leader)
{
    for (int32_t i = first; i < end; i++)
        s->leader[i] = leader;
    s->left -= MIN(end - first, s->left);
    s->words--;
}

/* Choose up to `length` words, beginning with the word at token `first`. At most as many words are drawn as there are, and the
 * last draw would have a single word to choose from, so word 0 of the last token's draw is free to decide about the last word. */
static void choose_span(spans *s, int32_t first, int32_t length)
{
    const xlm_candidates *c = s->c;
    for (int32_t at = first; length > 0 && s->left > 0; length--) {
        const int32_t end = end_of_word(c, at);
        if (end - at > s->left && xlm_rng_unit(c->chance[c->n - 1].v[0]) >= (double)s->left / (end - at))
            s->left = 0;
        else
            choose_word(s, at, end, first);
        at = end;
        if (at == c->n || c->position[at] == XLM_BEGINS_RUN || s->leader[at] >= 0)
            break;
    }
}

static void select_spans(const xlm_selection *selection, const xlm_candidates *c, int32_t *leader)
{
    spans s = {.c = c, .leader = leader};
    int32_t word = 0;
    for (int32_t i = 0; i < c->n; i++)
        s.words += c->position[i] != XLM_INSIDE_WORD;
    if (c->n == 0)
        return;
    s.left = MIN((int32_t)floor(selection->share * c->n + xlm_rng_unit(c->chance[c->n - 1].v[3])), c->n);
    const int32_t words = s.words;
    for (int32_t draw = 0; draw == 0 || (s.left > 0 && s.words > 0); draw++) {
        const int32_t at = find_word(&s, (int32_t)xlm_rng_below(c->chance[draw].v[0], (uint64_t)s.words));
        if (draw == 0)
            word = at;
        choose_span(&s, at, draw_length(selection->how, xlm_rng_unit(c->chance[draw].v[3])));
    }
    if (s.words == words)
        choose_word(&s, word, end_of_word(c, word), word);
}

/* The mean is that of single tokens. How far the last word exceeds or misses the wanted number differs from instance to instance;
 * one token is taken as its standard deviation. */
static int64_t max_spans(const xlm_selection *s, int64_t instances, int64_t tokens, double deviations)
{
    const double share = s->share, n = (double)instances, all = (double)tokens;
    const double mean = all * share + (n > 0 ? n * pow(1 - share, all / n) : 0);
    return MIN(tokens, (int64_t)ceil(mean + deviations * sqrt(n)));
}

/* ---- a fragment, or spans of it ---- */

/* What is still to be placed in a sentence, from token `begin` on: spans of `length` tokens, one span of `shorter` tokens (0:
 * none), and `between` tokens outside of them. */
typedef struct places {
    int32_t begin, spans, length, shorter, between;
} places;

static void mark(int32_t *leader, int32_t first, int32_t n)
{
    for (int32_t i = first; i < first + n; i++)
        leader[i] = i;
}

/* Place one item after another at random, so that all orders of the spans and of the tokens between them are equally likely. */
static void place(places p, const xlm_rng_block *chance, int32_t *leader)
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
        mark(leader, p.begin, taken);
        p.begin += MAX(taken, 1);
    }
}

static void select_in_sentence(const xlm_selection *s, int32_t begin, int32_t end, const xlm_rng_block *chance, int32_t *leader)
{
    const double edge = 0.2;
    const int32_t n = end - begin, m = (int32_t)rint(s->share * n);
    if (n < XLM_FRAGMENT_MIN_TOKENS || m == 0)
        return;
    const int32_t length = s->span > 0 && s->span < m ? (int32_t)s->span : m;
    places p = {.begin = begin, .spans = m / length, .length = length, .shorter = m % length, .between = n - m};
    const double where = xlm_rng_unit(chance[begin].v[3]);
    if (where < edge) {
        mark(leader, p.begin, length);
        p.begin += length;
        p.spans--;
    } else if (where < 2 * edge) {
        const int32_t last = p.shorter > 0 ? p.shorter : length;
        mark(leader, end - last, last);
        p.spans -= p.shorter == 0;
        p.shorter = 0;
    }
    place(p, chance, leader);
}

static void select_fragment(const xlm_selection *s, const xlm_candidates *c, int32_t *leader)
{
    for (int32_t k = 0, begin = 0; k < c->sentences; begin = c->ends[k++])
        select_in_sentence(s, begin, c->ends[k], c->chance, leader);
}

/* Numbers are rounded for each sentence. Half a token is taken as the standard deviation of an instance. */
static int64_t max_fragment(const xlm_selection *s, int64_t instances, int64_t tokens, double deviations)
{
    return MIN(tokens, (int64_t)ceil(s->share * (double)tokens + deviations * 0.5 * sqrt((double)instances)));
}

/* ---- all ---- */

static const struct {
    void (*select)(const xlm_selection *selection, const xlm_candidates *candidates, int32_t *leader);
    int64_t (*max)(const xlm_selection *selection, int64_t instances, int64_t tokens, double deviations);
} table[] = {
    [XLM_SELECT_TOKENS] = {select_tokens, max_tokens},
    [XLM_SELECT_WORDS] = {select_spans, max_spans},
    [XLM_SELECT_SPANS] = {select_spans, max_spans},
    [XLM_SELECT_NGRAMS] = {select_spans, max_spans},
    [XLM_SELECT_FRAGMENT] = {select_fragment, max_fragment},
};

bool xlm_selects_words(const xlm_selection *selection) { return table[selection->how].select == select_spans; }

void xlm_select(const xlm_selection *selection, const xlm_candidates *candidates, int32_t *leader)
{
    table[selection->how].select(selection, candidates, leader);
}

int64_t xlm_select_max(const xlm_selection *selection, int64_t instances, int64_t tokens, double deviations)
{
    return table[selection->how].max(selection, instances, tokens, deviations);
}
