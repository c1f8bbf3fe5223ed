/* xlm-mpi: dependents of nouns and verbs in the order of another language. SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic/permute.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/rng.h"
#include "synthetic/order_weights.h"
#include "synthetic/ud_version1.h"

enum { VIEWS = 3, BOTH = 0, MOST = XLM_PERMUTE_MOST, CONTEXT = XLM_ORDER_MOST_ROW - 1 };
/* Where two items stand: before the head, on both sides of it, behind it. */
enum { BEFORE, ACROSS, BEHIND, REGIONS };

/* A word and its dependents. The last two symbols are BOS and EOS. */
struct node {
    const xlm_order_weights *weights;
    int n, head;                         /* items; which of them is the head */
    uint32_t symbol[VIEWS][MOST + 2];
    double next[MOST + 2][MOST + 2];     /* BI: item, item behind it */
    double pair[REGIONS][MOST][MOST];    /* PRE, and BFR, BTW or AFT: item, item somewhere behind it */
    int at[MOST];                        /* the order at hand: at[place] = item */
    uint32_t row[MOST + 2 * (XLM_ORDER_MOST_ROW - 1)]; /* symbols in that order, with BOS and EOS, for HI */
    /* Of exact draws; NAN: not worked out yet. */
    GArray *begin; /* uint32_t [2^n]: first state of each set of placed items */
    GArray *sums;  /* double [states]: log of the sum over the orders of the items still to come */
    GArray *pairs; /* double [2^n x n]: set of placed items, next item */
    GArray *rows;  /* double [(n + 2)^(CONTEXT + 1)]: items last placed, the latest first, next item */
};

struct xlm_permuter {
    xlm_order_weights *weights[2]; /* nouns, verbs */
    uint64_t seed;
    GArray *view;  /* xlm_ud1_word */
    GArray *start; /* uint32_t [words + 1]: where the items of each word begin */
    GArray *items; /* uint32_t: words, each word's dependents and itself, in order */
    GArray *stack; /* uint32_t: what is still to be written */
    GString *name;
    struct node node;
};

xlm_permuter *xlm_permuter_new(const char *nouns, const char *verbs, uint64_t seed, GError **error)
{
    xlm_permuter *p = g_new0(xlm_permuter, 1);
    p->seed = seed;
    p->view = g_array_new(FALSE, FALSE, sizeof(xlm_ud1_word));
    p->start = g_array_new(FALSE, TRUE, sizeof(uint32_t));
    p->items = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    p->stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    p->name = g_string_new(NULL);
    p->node.begin = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    p->node.sums = g_array_new(FALSE, FALSE, sizeof(double));
    p->node.pairs = g_array_new(FALSE, FALSE, sizeof(double));
    p->node.rows = g_array_new(FALSE, FALSE, sizeof(double));
    if ((p->weights[0] = xlm_order_weights_read(nouns, error)) != NULL &&
        (p->weights[1] = xlm_order_weights_read(verbs, error)) != NULL)
        return p;
    xlm_permuter_free(p);
    return NULL;
}

void xlm_permuter_free(xlm_permuter *p)
{
    if (p == NULL)
        return;
    xlm_order_weights_free(p->weights[0]);
    xlm_order_weights_free(p->weights[1]);
    g_array_free(p->view, TRUE);
    g_array_free(p->start, TRUE);
    g_array_free(p->items, TRUE);
    g_array_free(p->stack, TRUE);
    g_array_free(p->node.begin, TRUE);
    g_array_free(p->node.sums, TRUE);
    g_array_free(p->node.pairs, TRUE);
    g_array_free(p->node.rows, TRUE);
    g_string_free(p->name, TRUE);
    g_free(p);
}

/* ---- scores ---- */

static double two(const struct node *node, xlm_order_feature feature, int a, int b)
{
    double sum = 0;
    for (int view = 0; view < VIEWS; view++) {
        const uint32_t symbols[2] = {node->symbol[view][a], node->symbol[view][b]};
        sum += xlm_order_weights_get(node->weights, feature, symbols, 2);
    }
    return sum;
}

/* Look up what any order may need. BOS is item n, EOS item n + 1. */
static void look_up(struct node *node)
{
    static const xlm_order_feature of_region[REGIONS] = {XLM_ORDER_BFR, XLM_ORDER_BTW, XLM_ORDER_AFT};
    const int n = node->n;
    for (int a = 0; a <= n; a++)
        for (int b = 0; b < n + 2; b++)
            node->next[a][b] = two(node, XLM_ORDER_BI, a, b);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            const double before = two(node, XLM_ORDER_PRE, a, b);
            for (int region = 0; region < REGIONS; region++)
                node->pair[region][a][b] =
                    before + (a == node->head || b == node->head ? 0 : two(node, of_region[region], a, b));
        }
}

/* Symbols in the longest row of HI. One less stand before the first item and behind the last. */
static int longest_row(const struct node *node) { return MIN(node->n, XLM_ORDER_MOST_ROW); }

/* Rows of HI that end at row[end]. */
static double rows_to(const struct node *node, int end)
{
    double sum = 0;
    for (int n = XLM_ORDER_LEAST_ROW; n <= longest_row(node); n++)
        sum += xlm_order_weights_get(node->weights, XLM_ORDER_HI, node->row + end - n + 1, n);
    return sum;
}

/* What the item at a place adds to the score of those before it. */
static double add_item(struct node *node, int place)
{
    const int item = node->at[place], pad = longest_row(node) - 1;
    node->row[pad + place] = node->symbol[BOTH][item];
    double sum = node->next[place == 0 ? node->n : node->at[place - 1]][item] + rows_to(node, pad + place);
    int head = 0;
    while (head < place && node->at[head] != node->head)
        head++;
    for (int i = 0; i < place; i++)
        sum += node->pair[head == place ? BEFORE : i < head ? ACROSS : BEHIND][node->at[i]][item];
    return sum;
}

/* What the end of the row adds. */
static double add_end(const struct node *node)
{
    const int pad = longest_row(node) - 1;
    double sum = node->next[node->at[node->n - 1]][node->n + 1];
    for (int i = 0; i < pad; i++)
        sum += rows_to(node, pad + node->n + i);
    return sum;
}

static void pad_row(struct node *node)
{
    const int pad = longest_row(node) - 1;
    for (int i = 0; i < pad; i++) {
        node->row[i] = node->symbol[BOTH][node->n];
        node->row[pad + node->n + i] = node->symbol[BOTH][node->n + 1];
    }
}

/* ---- drawing ---- */

/* i with the probability exp(score[i]) / sum. [in,out] u: uniform in [0, 1); out: where it lies within the share of i. The
 * scores are overwritten; some, not all, may be -INFINITY: these are not drawn. */
static int draw(double *score, int n, double *u)
{
    double most = score[0], sum = 0;
    int drawn = -1;
    for (int i = 1; i < n; i++)
        most = fmax(most, score[i]);
    for (int i = 0; i < n; i++)
        sum += score[i] = exp(score[i] - most);
    double left = *u * sum;
    for (int i = 0; i < n && (drawn < 0 || left >= 0); i++)
        if (score[i] > 0) {
            *u = left / score[i];
            left -= score[i];
            drawn = i;
        }
    *u = fmin(*u, 1 - 0x1p-53); /* rounding */
    return drawn;
}

static double uniform(xlm_rng_key key, uint32_t word, uint32_t counter)
{
    const xlm_rng_block b = xlm_rng_draw(key, word, counter, 0, 0);
    return (double)((uint64_t)b.v[0] << 21 ^ b.v[1] >> 11) * (1.0 / 9007199254740992.0); /* 53 bits */
}

/* ---- exact draws: dynamic programming over sets of placed items ----
 *
 * What is still to come depends on the set of the items placed and on the last CONTEXT of them, because no row of HI is
 * longer: pairs inside the part before the head are counted when the second item is placed, pairs inside the part
 * behind it when the first one is, all others when the head is. So n! orders need n (n - 1) (n - 2) (n - 3) 2^(n - 4) states. */

/* Members of a set: added up in pairs of bits, then fours, eights and all. */
static int count_items(uint32_t set)
{
    set -= set >> 1 & UINT32_C(0x55555555);
    set = (set & UINT32_C(0x33333333)) + (set >> 2 & UINT32_C(0x33333333));
    return (int)(((set + (set >> 4)) & UINT32_C(0x0f0f0f0f)) * UINT32_C(0x01010101) >> 24);
}

/* Which of the states with this set of placed items it is. last[0 ... CONTEXT): the items placed last, the latest first. */
static uint32_t state_number(uint32_t placed, const int *last)
{
    uint32_t number = 0, left = placed;
    for (int k = 0; k < CONTEXT && left != 0; k++) {
        number = number * (uint32_t)count_items(left) +
                 (uint32_t)count_items(left & ((UINT32_C(1) << last[k]) - 1));
        left &= ~(UINT32_C(1) << last[k]);
    }
    return number;
}

/* What pairs with the item add to the score when it is placed behind the items of the set. */
static double pairs_at(const struct node *node, uint32_t placed, int item)
{
    const bool after = placed >> node->head & 1, is_head = item == node->head;
    double sum = 0;
    for (int i = 0; i < node->n; i++) {
        const bool before = placed >> i & 1;
        if (i == item)
            continue;
        if (is_head) {
            sum += before ? node->pair[BEFORE][i][item] : node->pair[BEHIND][item][i];
            for (int k = 0; before && k < node->n; k++)
                if (k != item && !(placed >> k & 1))
                    sum += node->pair[ACROSS][i][k];
        } else if (before && !after) {
            sum += node->pair[BEFORE][i][item];
        } else if (!before && after) {
            sum += node->pair[BEHIND][item][i];
        }
    }
    return sum;
}

/* What BI and HI add when the item is placed behind those last placed; item n + 1: the end. BOS (n) fills `last` up. */
static double rows_at(struct node *node, const int *last, int item)
{
    const int pad = longest_row(node) - 1, ends = item > node->n ? pad : 1;
    double sum = node->next[last[0]][item];
    for (int i = 0; i < pad; i++)
        node->row[i] = node->symbol[BOTH][last[pad - 1 - i]];
    for (int i = 0; i < ends; i++) {
        node->row[pad + i] = node->symbol[BOTH][item];
        sum += rows_to(node, pad + i);
    }
    return sum;
}

static double look_up_rows(struct node *node, const int *last, int item)
{
    size_t at = 0;
    for (int k = 0; k < CONTEXT; k++)
        at = at * (size_t)(node->n + 2) + (size_t)last[k];
    double *known = &g_array_index(node->rows, double, at * (size_t)(node->n + 2) + (size_t)item);
    if (isnan(*known))
        *known = rows_at(node, last, item);
    return *known;
}

static double sum_orders(struct node *node, uint32_t placed, const int *last);

/* score[item] <- log of the sum over all orders that go on with the item; -INFINITY for those placed. */
static void score_items(struct node *node, uint32_t placed, const int *last, double *score)
{
    int next[CONTEXT];
    memcpy(next + 1, last, sizeof *next * (CONTEXT - 1));
    for (int item = 0; item < node->n; item++) {
        score[item] = -INFINITY;
        if (placed >> item & 1)
            continue;
        double *pairs = &g_array_index(node->pairs, double, placed * (size_t)node->n + (size_t)item);
        if (isnan(*pairs))
            *pairs = pairs_at(node, placed, item);
        next[0] = item;
        score[item] = *pairs + look_up_rows(node, last, item) + sum_orders(node, placed | UINT32_C(1) << item, next);
    }
}

/* The log of the sum over all orders of the items not in `placed` of exp(what they add to the score). */
static double sum_orders(struct node *node, uint32_t placed, const int *last)
{
    const size_t state = g_array_index(node->begin, uint32_t, placed) + state_number(placed, last);
    const double known = g_array_index(node->sums, double, state);
    if (!isnan(known))
        return known;
    double score[XLM_PERMUTE_EXACT], most = -INFINITY, sum = 0;
    if (count_items(placed) == node->n)
        return g_array_index(node->sums, double, state) = look_up_rows(node, last, node->n + 1);
    score_items(node, placed, last, score);
    for (int item = 0; item < node->n; item++)
        most = fmax(most, score[item]);
    for (int item = 0; item < node->n; item++)
        sum += score[item] > -INFINITY ? exp(score[item] - most) : 0;
    return g_array_index(node->sums, double, state) = most + log(sum);
}

static void set_unknown(GArray *values, size_t n)
{
    g_array_set_size(values, (guint)n);
    for (size_t i = 0; i < n; i++)
        g_array_index(values, double, i) = NAN;
}

static void begin_exact(struct node *node)
{
    const size_t sets = (size_t)1 << node->n, symbols = (size_t)node->n + 2;
    uint32_t states = 0;
    g_array_set_size(node->begin, (guint)sets);
    for (uint32_t placed = 0; placed < sets; placed++) {
        g_array_index(node->begin, uint32_t, placed) = states;
        uint32_t of_set = 1;
        for (int k = 0, left = count_items(placed); k < CONTEXT && left > 0; k++, left--)
            of_set *= (uint32_t)left;
        states += of_set;
    }
    set_unknown(node->sums, states);
    set_unknown(node->pairs, sets * (size_t)node->n);
    set_unknown(node->rows, symbols * symbols * symbols * symbols * symbols);
}

/* Item by item, each with its share of the orders that begin so. One number between 0 and 1 draws the order: which one is
 * the same as if all orders, in lexicographic order, were laid side by side. */
static void draw_exactly(struct node *node, xlm_rng_key key, uint32_t word)
{
    double u = uniform(key, word, 0), score[XLM_PERMUTE_EXACT];
    int last[CONTEXT];
    uint32_t placed = 0;
    begin_exact(node);
    for (int k = 0; k < CONTEXT; k++)
        last[k] = node->n;
    for (int place = 0; place < node->n; place++) {
        score_items(node, placed, last, score);
        const int item = draw(score, node->n, &u);
        node->at[place] = item;
        placed |= UINT32_C(1) << item;
        memmove(last + 1, last, sizeof *last * (CONTEXT - 1));
        last[0] = item;
    }
}

/* ---- draws by Gibbs sampling ---- */

static void move(int *at, int from, int to)
{
    const int item = at[from];
    if (from < to)
        memmove(at + from, at + from + 1, sizeof *at * (size_t)(to - from));
    else
        memmove(at + to + 1, at + to, sizeof *at * (size_t)(from - to));
    at[to] = item;
}

/* The score of the order at hand. */
static double score_order(struct node *node)
{
    double sum = 0;
    for (int i = 0; i < node->n; i++)
        sum += add_item(node, i);
    return sum + add_end(node); /* which reads the row that the items have filled */
}

/* Scores count little at first and in full from half of the sweeps on, so that the order that there was is forgotten. */
static void draw_by_sampling(struct node *node, xlm_rng_key key, uint32_t word)
{
    uint32_t counter = 0;
    pad_row(node);
    for (int i = 0; i < node->n; i++)
        node->at[i] = i;
    for (int sweep = 0; sweep < XLM_PERMUTE_SWEEPS; sweep++)
        for (int item = 0; item < node->n; item++) {
            const double share = fmin(1, 2.0 * (sweep + 1) / XLM_PERMUTE_SWEEPS);
            double score[MOST], u = uniform(key, word, counter++);
            int place = 0;
            while (node->at[place] != item)
                place++;
            for (int to = 0; to < node->n; place = to++) {
                move(node->at, place, to);
                score[to] = share * score_order(node);
            }
            move(node->at, place, draw(score, node->n, &u));
        }
}

/* ---- words ---- */

/* Which weights order the dependents of a word; NULL: none. */
static const xlm_order_weights *weights_for(const xlm_permuter *p, const char *tag)
{
    if (strcmp(tag, "NOUN") == 0 || strcmp(tag, "PROPN") == 0 || strcmp(tag, "PRON") == 0)
        return p->weights[0];
    return strcmp(tag, "VERB") == 0 ? p->weights[1] : NULL;
}

static void set_symbols(xlm_permuter *p, int item, const char *tag, const char *relation, size_t relation_size)
{
    struct node *node = &p->node;
    node->symbol[1][item] = xlm_order_weights_symbol(node->weights, tag, strlen(tag));
    node->symbol[2][item] = xlm_order_weights_symbol(node->weights, relation, relation_size);
    g_string_assign(p->name, tag);
    g_string_append_c(p->name, '&');
    g_string_append_len(p->name, relation, (gssize)relation_size);
    node->symbol[BOTH][item] = xlm_order_weights_symbol(node->weights, p->name->str, p->name->len);
}

static void describe_dependent(xlm_permuter *p, int item, const xlm_ud1_word *word)
{
    size_t size = strlen(word->relation);
    const size_t type = strcspn(word->relation, ":");
    if (type < size && xlm_order_weights_symbol(p->node.weights, word->relation, size) == 0)
        size = type;
    set_symbols(p, item, word->tag, word->relation, size);
}

static void describe_end(struct node *node, int item, const char *name)
{
    for (int view = 0; view < VIEWS; view++)
        node->symbol[view][item] = xlm_order_weights_symbol(node->weights, name, strlen(name));
}

static void describe(xlm_permuter *p, uint32_t word, const uint32_t *items, int n)
{
    struct node *node = &p->node;
    node->n = n;
    for (int i = 0; i < n; i++) {
        const xlm_ud1_word *of = &g_array_index(p->view, xlm_ud1_word, items[i]);
        if (items[i] == word) {
            char *tag = g_strconcat("@", of->tag, NULL);
            set_symbols(p, i, tag, "@", 1);
            g_free(tag);
            node->head = i;
        } else {
            describe_dependent(p, i, of);
        }
    }
    describe_end(node, n, "BOS");
    describe_end(node, n + 1, "EOS");
}

/* Draw the order of the items of a word. */
static void permute(xlm_permuter *p, xlm_rng_key key, uint32_t word, uint32_t *items, int n)
{
    struct node *node = &p->node;
    node->weights = weights_for(p, g_array_index(p->view, xlm_ud1_word, word).tag);
    if (node->weights == NULL || n < 2 || n > MOST)
        return;
    describe(p, word, items, n);
    look_up(node);
    if (n <= XLM_PERMUTE_EXACT)
        draw_exactly(node, key, word);
    else
        draw_by_sampling(node, key, word);
    uint32_t before[MOST];
    memcpy(before, items, sizeof *items * (size_t)n);
    for (int i = 0; i < n; i++)
        items[i] = before[node->at[i]];
}

/* items <- each word's dependents and itself, as they stand. */
static void gather_items(xlm_permuter *p, const uint32_t *order, guint n)
{
    g_array_set_size(p->start, 0);
    g_array_set_size(p->start, n + 2);
    g_array_set_size(p->items, 2 * n);
    uint32_t *start = (uint32_t *)(void *)p->start->data; /* counted two ahead, so that it is right when all are in */
    const xlm_ud1_word *view = (const xlm_ud1_word *)(void *)p->view->data;
    for (guint i = 0; i < n; i++) {
        start[i + 2]++;
        if (view[i].head >= 0)
            start[view[i].head + 2]++;
    }
    for (guint i = 2; i < n + 2; i++)
        start[i] += start[i - 1];
    for (guint i = 0; i < n; i++) {
        const uint32_t word = order[i];
        g_array_index(p->items, uint32_t, start[word + 1]++) = word;
        if (view[word].head >= 0)
            g_array_index(p->items, uint32_t, start[view[word].head + 1]++) = word;
    }
}

void xlm_permuter_order(xlm_permuter *p, const xlm_conllu *tree, int64_t number, uint32_t *order)
{
    const guint n = tree->words->len;
    const xlm_rng_key key = xlm_rng_make_key(p->seed, XLM_RNG_SYNTAX, (uint64_t)number);
    const uint32_t itself = UINT32_C(1) << 31; /* on the stack: the word without its dependents */
    xlm_ud1_view(tree, p->view);
    gather_items(p, order, n);
    g_array_set_size(p->stack, 0);
    for (uint32_t i = 0; i < n; i++)
        if (g_array_index(p->view, xlm_ud1_word, i).head < 0)
            g_array_append_val(p->stack, i);
    while (p->stack->len > 0) {
        const uint32_t word = g_array_index(p->stack, uint32_t, p->stack->len - 1);
        g_array_set_size(p->stack, p->stack->len - 1);
        if (word & itself) {
            *order++ = word & ~itself;
            continue;
        }
        const uint32_t first = g_array_index(p->start, uint32_t, word), end = g_array_index(p->start, uint32_t, word + 1);
        uint32_t *items = &g_array_index(p->items, uint32_t, first);
        permute(p, key, word, items, (int)(end - first));
        for (uint32_t i = end - first; i-- > 0;) {
            const uint32_t item = items[i] == word ? word | itself : items[i];
            g_array_append_val(p->stack, item);
        }
    }
}
