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

static void cut(const int64_t *cost, int64_t most, xlm_sentence_batches *b)
{
    int64_t used = 0;
    b->first = g_new(int64_t, b->sentences + 1);
    for (int64_t i = 0; i < b->sentences; i++) {
        if (i == 0 || used + cost[b->sentence[i]] > most) {
            b->first[b->batches++] = i;
            used = 0;
        }
        used += cost[b->sentence[i]];
    }
    b->first[b->batches] = b->sentences;
}

static void deal(const int64_t *cost, int ranks, xlm_sentence_batches *b)
{
    g_autofree int64_t *load = g_new0(int64_t, ranks);
    b->rank = g_new(int, MAX(b->batches, 1));
    for (int64_t i = 0; i < b->batches; i++) {
        int least = 0;
        for (int r = 1; r < ranks; r++)
            if (load[r] < load[least])
                least = r;
        b->rank[i] = least;
        for (int64_t k = b->first[i]; k < b->first[i + 1]; k++)
            load[least] += cost[b->sentence[k]];
    }
}

void xlm_sentence_batches_make(int64_t n, const int64_t *cost, int64_t most, int ranks, xlm_sentence_batches *batches)
{
    memset(batches, 0, sizeof *batches);
    const int64_t share = (sort(n, cost, batches) + ranks - 1) / ranks;
    cut(cost, MIN(most, share), batches);
    deal(cost, ranks, batches);
}

void xlm_sentence_batches_clear(xlm_sentence_batches *batches)
{
    g_clear_pointer(&batches->sentence, g_free);
    g_clear_pointer(&batches->first, g_free);
    g_clear_pointer(&batches->rank, g_free);
}
