/* xlm-mpi: scores of the orders of a word's items, and draws by scores. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "synthetic/permute_internal.h"

static double feature_score(const struct node *node, xlm_order_feature feature, int a, int b)
{
    double sum = 0;
    for (int view = 0; view < VIEWS; view++) {
        const uint32_t symbols[2] = {node->symbol[view][a], node->symbol[view][b]};
        sum += xlm_order_weights_get(node->weights, feature, symbols, 2);
    }
    return sum;
}

void permute_look_up(struct node *node)
{
    static const xlm_order_feature of_region[REGIONS] = {XLM_ORDER_BFR, XLM_ORDER_BTW, XLM_ORDER_AFT};
    const int n = node->n;
    for (int a = 0; a <= n; a++)
        for (int b = 0; b < n + 2; b++)
            node->next[a][b] = feature_score(node, XLM_ORDER_BI, a, b);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            const double before = feature_score(node, XLM_ORDER_PRE, a, b);
            for (int region = 0; region < REGIONS; region++)
                node->pair[region][a][b] =
                    before + (a == node->head || b == node->head ? 0 : feature_score(node, of_region[region], a, b));
        }
}

int permute_longest_row(const struct node *node) { return MIN(node->n, XLM_ORDER_MAX_ROW); }

double permute_rows_to(const struct node *node, int end)
{
    double sum = 0;
    for (int n = XLM_ORDER_MIN_ROW; n <= permute_longest_row(node); n++)
        sum += xlm_order_weights_get(node->weights, XLM_ORDER_HI, node->row + end - n + 1, n);
    return sum;
}

/* What the item at a place adds to the score of those before it. */
static double add_item(struct node *node, int place)
{
    const int item = node->at[place], pad = permute_longest_row(node) - 1;
    node->row[pad + place] = node->symbol[BOTH][item];
    double sum = node->next[place == 0 ? node->n : node->at[place - 1]][item] + permute_rows_to(node, pad + place);
    int head = 0;
    while (head < place && node->at[head] != node->head)
        head++;
    for (int i = 0; i < place; i++)
        sum += node->pair[head == place ? BEFORE : i < head ? ACROSS : AFTER][node->at[i]][item];
    return sum;
}

/* What the end of the row adds. */
static double add_end(const struct node *node)
{
    const int pad = permute_longest_row(node) - 1;
    double sum = node->next[node->at[node->n - 1]][node->n + 1];
    for (int i = 0; i < pad; i++)
        sum += permute_rows_to(node, pad + node->n + i);
    return sum;
}

void permute_pad_row(struct node *node)
{
    const int pad = permute_longest_row(node) - 1;
    for (int i = 0; i < pad; i++) {
        node->row[i] = node->symbol[BOTH][node->n];
        node->row[pad + node->n + i] = node->symbol[BOTH][node->n + 1];
    }
}

double permute_score_order(struct node *node)
{
    double sum = 0;
    for (int i = 0; i < node->n; i++)
        sum += add_item(node, i);
    return sum + add_end(node); /* which reads the row that the items have filled */
}

int permute_draw(double *score, int n, double *u)
{
    double largest = score[0], sum = 0;
    int drawn = -1;
    for (int i = 1; i < n; i++)
        largest = fmax(largest, score[i]);
    for (int i = 0; i < n; i++)
        sum += score[i] = exp(score[i] - largest);
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

double permute_uniform(xlm_rng_key key, uint32_t word, uint32_t counter)
{
    const xlm_rng_block b = xlm_rng_draw(key, word, counter, 0, 0);
    return (double)((uint64_t)b.v[0] << 21 ^ b.v[1] >> 11) * (1.0 / 9007199254740992.0); /* 53 bits */
}
