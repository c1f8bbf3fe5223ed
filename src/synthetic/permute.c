/* xlm-mpi: dependents of nouns and verbs in the order of another language. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "synthetic/permute_internal.h"
#include "synthetic/ud_version1.h"

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

/* Scores count little at first, and fully from half of the rounds on, so that the order in the base is forgotten. */
static void draw_by_sampling(struct node *node, xlm_rng_key key, uint32_t word)
{
    uint32_t counter = 0;
    permute_pad_row(node);
    for (int i = 0; i < node->n; i++)
        node->at[i] = i;
    for (int round = 0; round < XLM_PERMUTE_ROUNDS; round++)
        for (int item = 0; item < node->n; item++) {
            const double share = fmin(1, 2.0 * (round + 1) / XLM_PERMUTE_ROUNDS);
            double score[MAX_ITEMS], u = permute_uniform(key, word, counter++);
            int place = 0;
            while (node->at[place] != item)
                place++;
            for (int to = 0; to < node->n; place = to++) {
                move(node->at, place, to);
                score[to] = share * permute_score_order(node);
            }
            move(node->at, place, permute_draw(score, node->n, &u));
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
            g_autofree char *tag = g_strconcat("@", of->tag, NULL);
            set_symbols(p, i, tag, "@", 1);
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
    if (node->weights == NULL || n < 2 || n > MAX_ITEMS)
        return;
    describe(p, word, items, n);
    permute_look_up(node);
    if (n <= XLM_PERMUTE_EXACT)
        permute_draw_exactly(node, key, word);
    else
        draw_by_sampling(node, key, word);
    uint32_t before[MAX_ITEMS];
    memcpy(before, items, sizeof *items * (size_t)n);
    for (int i = 0; i < n; i++)
        items[i] = before[node->at[i]];
}

/* items <- each word's dependents and itself, as they are. */
static void gather_items(xlm_permuter *p, const uint32_t *order, guint n)
{
    g_array_set_size(p->start, 0);
    g_array_set_size(p->start, n + 2);
    g_array_set_size(p->items, 2 * n);
    uint32_t *start = (uint32_t *)(void *)p->start->data; /* counted two places ahead, so that it is right when all items have
                                                             been added */
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
