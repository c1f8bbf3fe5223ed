/* xlm-mpi: dependents of nouns and verbs in the order of another language. SPDX-License-Identifier: GPL-3.0-or-later */
#include "corpus/permute.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "corpus/order_weights.h"
#include "corpus/universal.h"

enum { VIEWS = 3, BOTH = 0, MOST = XLM_PERMUTE_MOST, ORDERS = 5040 /* 7! */ };
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
    double score[ORDERS];
    int scored;
};

struct xlm_permuter {
    xlm_order_weights *weights[2]; /* nouns, verbs */
    uint64_t seed;
    GArray *view;  /* xlm_universal */
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
    p->view = g_array_new(FALSE, FALSE, sizeof(xlm_universal));
    p->start = g_array_new(FALSE, TRUE, sizeof(uint32_t));
    p->items = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    p->stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    p->name = g_string_new(NULL);
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

/* i with the probability exp(score[i]) / sum. u: uniform in [0, 1). The scores are overwritten. */
static int draw(double *score, int n, double u)
{
    double most = score[0], sum = 0;
    for (int i = 1; i < n; i++)
        most = fmax(most, score[i]);
    for (int i = 0; i < n; i++)
        sum += score[i] = exp(score[i] - most);
    double left = u * sum;
    for (int i = 0; i < n - 1; i++)
        if ((left -= score[i]) < 0)
            return i;
    return n - 1;
}

/* Score all orders of the items not in `used` (a set of bits) behind those placed: in lexicographic order. */
static void score_orders(struct node *node, int place, unsigned used, double score)
{
    if (place == node->n) {
        node->score[node->scored++] = score + add_end(node);
        return;
    }
    for (int item = 0; item < node->n; item++)
        if (!(used & 1u << item)) {
            node->at[place] = item;
            score_orders(node, place + 1, used | 1u << item, score + add_item(node, place));
        }
}

/* at <- order number i of the lexicographic order. */
static void unrank(struct node *node, int i)
{
    int left[XLM_PERMUTE_EXACT], orders = 1;
    for (int k = 0; k < node->n; k++) {
        left[k] = k;
        orders *= k + 1;
    }
    for (int place = 0, n = node->n; place < node->n; place++, n--) {
        orders /= n;
        const int k = i / orders;
        i %= orders;
        node->at[place] = left[k];
        memmove(left + k, left + k + 1, sizeof *left * (size_t)(n - 1 - k));
    }
}

static double uniform(xlm_rng_key key, uint32_t word, uint32_t counter)
{
    const xlm_rng_block b = xlm_rng_draw(key, word, counter, 0, 0);
    return (double)((uint64_t)b.v[0] << 21 ^ b.v[1] >> 11) * (1.0 / 9007199254740992.0); /* 53 bits */
}

static void draw_exactly(struct node *node, xlm_rng_key key, uint32_t word)
{
    node->scored = 0;
    score_orders(node, 0, 0, 0);
    unrank(node, draw(node->score, node->scored, uniform(key, word, 0)));
}

static void move(int *at, int from, int to)
{
    const int item = at[from];
    if (from < to)
        memmove(at + from, at + from + 1, sizeof *at * (size_t)(to - from));
    else
        memmove(at + to + 1, at + to, sizeof *at * (size_t)(from - to));
    at[to] = item;
}

static void draw_by_sweeps(struct node *node, xlm_rng_key key, uint32_t word)
{
    uint32_t counter = 0;
    for (int i = 0; i < node->n; i++)
        node->at[i] = i;
    for (int sweep = 0; sweep < XLM_PERMUTE_SWEEPS; sweep++)
        for (int item = 0; item < node->n; item++) {
            int place = 0;
            while (node->at[place] != item)
                place++;
            for (int to = 0; to < node->n; place = to++) {
                move(node->at, place, to);
                node->score[to] = add_end(node);
                for (int i = 0; i < node->n; i++)
                    node->score[to] += add_item(node, i);
            }
            move(node->at, place, draw(node->score, node->n, uniform(key, word, counter++)));
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

static void describe_dependent(xlm_permuter *p, int item, const xlm_universal *word)
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
        const xlm_universal *of = &g_array_index(p->view, xlm_universal, items[i]);
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
    node->weights = weights_for(p, g_array_index(p->view, xlm_universal, word).tag);
    if (node->weights == NULL || n < 2 || n > MOST)
        return;
    describe(p, word, items, n);
    look_up(node);
    pad_row(node);
    if (n <= XLM_PERMUTE_EXACT)
        draw_exactly(node, key, word);
    else
        draw_by_sweeps(node, key, word);
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
    const xlm_universal *view = (const xlm_universal *)(void *)p->view->data;
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
    xlm_universal_view(tree, p->view);
    gather_items(p, order, n);
    g_array_set_size(p->stack, 0);
    for (uint32_t i = 0; i < n; i++)
        if (g_array_index(p->view, xlm_universal, i).head < 0)
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
