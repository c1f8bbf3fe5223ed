/* xlm-mpi: sentences in batches of similar length. SPDX-License-Identifier: GPL-3.0-or-later */
#include "translation/batches.h"

#include <stdlib.h>
#include <string.h>

struct costly {
    int64_t cost, sentence;
};

static int by_cost(const void *a, const void *b)
{
    const struct costly *x = a, *y = b;
    return x->cost != y->cost ? (x->cost < y->cost) - (x->cost > y->cost) : (x->sentence > y->sentence) - (x->sentence < y->sentence);
}

/* Returns the sum of all costs. */
static int64_t sort(int64_t n, const int64_t *cost, xlm_sentence_batches *b)
{
    g_autofree struct costly *all = g_new(struct costly, MAX(n, 1));
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        if (cost[i] > 0) {
            all[b->sentences++] = (struct costly){cost[i], i};
            sum += cost[i];
        }
    qsort(all, (size_t)b->sentences, sizeof *all, by_cost);
    b->sentence = g_new(int64_t, MAX(b->sentences, 1));
    for (int64_t i = 0; i < b->sentences; i++)
        b->sentence[i] = all[i].sentence;
    return sum;
}

enum { LEAST_PART = 8 }; /* a smaller batch would read the parameters too often for what it computes */

/* Tokens of the next batch when so many are left of `all`. */
static int64_t limit_of(int64_t most, int64_t all, int64_t left, int ranks)
{
    if (ranks == 1)
        return most;
    const int64_t share = (all + ranks - 1) / ranks;
    return MIN(MIN(most, share), MAX(most / LEAST_PART, left / (2 * ranks)));
}

void xlm_sentence_batches_make(int64_t n, const int64_t *cost, int64_t most, int ranks, xlm_sentence_batches *b)
{
    memset(b, 0, sizeof *b);
    const int64_t all = sort(n, cost, b);
    int64_t left = all, limit = 0;
    b->first = g_new(int64_t, b->sentences + 1);
    b->cost = g_new(int64_t, MAX(b->sentences, 1));
    for (int64_t i = 0; i < b->sentences; i++) {
        const int64_t own = cost[b->sentence[i]];
        if (i == 0 || b->cost[b->batches - 1] + own > limit) {
            limit = limit_of(most, all, left, ranks);
            b->first[b->batches] = i;
            b->cost[b->batches++] = 0;
        }
        b->cost[b->batches - 1] += own;
        left -= own;
    }
    b->first[b->batches] = b->sentences;
}

void xlm_sentence_batches_clear(xlm_sentence_batches *batches)
{
    g_clear_pointer(&batches->sentence, g_free);
    g_clear_pointer(&batches->first, g_free);
    g_clear_pointer(&batches->cost, g_free);
}
