/* xlm-mpi: exact draws of orders, by dynamic programming over sets of placed items. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The scores of the items still to come depend on the set of items that have been placed and on the last CONTEXT of them, because
 * no row of HI is longer: pairs inside the part before the head are counted when the second item is placed, pairs inside the part
 * after it when the first one is, all others when the head is. So n! orders need n (n - 1) (n - 2) (n - 3) 2^(n - 4) states. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "synthetic/permute_internal.h"

/* Members of a set: added up in pairs of bits, then fours, eights and all. */
static int count_items(uint32_t set)
{
    set -= set >> 1 & UINT32_C(0x55555555);
    set = (set & UINT32_C(0x33333333)) + (set >> 2 & UINT32_C(0x33333333));
    return (int)(((set + (set >> 4)) & UINT32_C(0x0f0f0f0f)) * UINT32_C(0x01010101) >> 24);
}

/* The number of a state among those with this set of placed items. last[0 ... CONTEXT): the items placed last, the latest
 * first. */
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

/* What pairs with the item add to the score when it is placed after the items of the set. */
static double pairs_at(const struct node *node, uint32_t placed, int item)
{
    const bool after = placed >> node->head & 1, is_head = item == node->head;
    double sum = 0;
    for (int i = 0; i < node->n; i++) {
        const bool before = placed >> i & 1;
        if (i == item)
            continue;
        if (is_head) {
            sum += before ? node->pair[BEFORE][i][item] : node->pair[AFTER][item][i];
            for (int k = 0; before && k < node->n; k++)
                if (k != item && !(placed >> k & 1))
                    sum += node->pair[ACROSS][i][k];
        } else if (before && !after) {
            sum += node->pair[BEFORE][i][item];
        } else if (!before && after) {
            sum += node->pair[AFTER][item][i];
        }
    }
    return sum;
}

/* What BI and HI add when the item is placed after those last placed; item n + 1: the end. The rest of `last` is BOS (n). */
static double rows_at(struct node *node, const int *last, int item)
{
    const int pad = permute_longest_row(node) - 1, ends = item > node->n ? pad : 1;
    double sum = node->next[last[0]][item];
    for (int i = 0; i < pad; i++)
        node->row[i] = node->symbol[BOTH][last[pad - 1 - i]];
    for (int i = 0; i < ends; i++) {
        node->row[pad + i] = node->symbol[BOTH][item];
        sum += permute_rows_to(node, pad + i);
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

/* score[item] <- log of the sum over all orders that continue with the item; -INFINITY for those placed. */
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
    double score[XLM_PERMUTE_EXACT], largest = -INFINITY, sum = 0;
    if (count_items(placed) == node->n)
        return g_array_index(node->sums, double, state) = look_up_rows(node, last, node->n + 1);
    score_items(node, placed, last, score);
    for (int item = 0; item < node->n; item++)
        largest = fmax(largest, score[item]);
    for (int item = 0; item < node->n; item++)
        sum += score[item] > -INFINITY ? exp(score[item] - largest) : 0;
    return g_array_index(node->sums, double, state) = largest + log(sum);
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
void permute_draw_exactly(struct node *node, xlm_rng_key key, uint32_t word)
{
    double u = permute_uniform(key, word, 0), score[XLM_PERMUTE_EXACT];
    int last[CONTEXT];
    uint32_t placed = 0;
    begin_exact(node);
    for (int k = 0; k < CONTEXT; k++)
        last[k] = node->n;
    for (int place = 0; place < node->n; place++) {
        score_items(node, placed, last, score);
        const int item = permute_draw(score, node->n, &u);
        node->at[place] = item;
        placed |= UINT32_C(1) << item;
        memmove(last + 1, last, sizeof *last * (CONTEXT - 1));
        last[0] = item;
    }
}
