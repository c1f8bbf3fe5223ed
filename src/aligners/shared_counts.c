/* xlm-mpi: counts that are summed over ranks, each of which has its own text's. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/shared_counts.h"

#include <stdlib.h>
#include <string.h>

struct xlm_shared_counts {
    const xlm_comm *comm;
    int64_t n;
    int64_t *order;       /* [n] the keys of this rank by owner */
    int64_t *sent;        /* [ranks] number of them sent to each */
    int64_t *received;    /* [ranks] keys of each rank that this one owns */
    int64_t incoming;     /* sum of received */
    int64_t *place;       /* [incoming] of each received key among the owned */
    int64_t owned;
    xlm_count_key *keys;  /* [owned], sorted */
};

static int owner_of(const int64_t *owned, int ranks, uint32_t word)
{
    int low = 0, high = ranks - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (owned[middle + 1] > (int64_t)word)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* order, sent */
static void order_keys(xlm_shared_counts *s, const int64_t *owned, const xlm_count_key *keys)
{
    const int ranks = s->comm->ranks;
    g_autofree int64_t *next = g_new0(int64_t, ranks + 1);
    for (int64_t i = 0; i < s->n; i++)
        s->sent[owner_of(owned, ranks, keys[i].first)]++;
    for (int r = 0; r < ranks; r++)
        next[r + 1] = next[r] + s->sent[r];
    for (int64_t i = 0; i < s->n; i++)
        s->order[next[owner_of(owned, ranks, keys[i].first)]++] = i;
}

struct placed {
    xlm_count_key key;
    int64_t place; /* among the received */
};

static int compare(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return (x->key.second > y->key.second) - (x->key.second < y->key.second);
}

/* Find the different keys received, and the place of each. They are sorted by their first word by counting, because a word has
 * many keys. */
static void own_keys(xlm_shared_counts *s, const xlm_count_key *incoming, int64_t first_word, int64_t last_word)
{
    g_autofree struct placed *sorted = g_new(struct placed, s->incoming);
    int64_t *row = g_new0(int64_t, last_word - first_word + 2), *next = row + 1;
    for (int64_t i = 0; i < s->incoming; i++)
        next[incoming[i].first - first_word]++;
    for (int64_t w = first_word; w < last_word; w++)
        row[w - first_word + 1] += row[w - first_word];
    for (int64_t i = s->incoming; i-- > 0;)
        sorted[--next[incoming[i].first - first_word]] = (struct placed){incoming[i], i};
    /* Now next[w] is where word w begins. */
    s->keys = g_new(xlm_count_key, s->incoming);
    s->place = g_new(int64_t, s->incoming);
    for (int64_t w = 0; w < last_word - first_word; w++) {
        const int64_t begin = next[w], end = w + 1 < last_word - first_word ? next[w + 1] : s->incoming;
        if (end > begin)
            qsort(sorted + begin, (size_t)(end - begin), sizeof *sorted, compare);
        for (int64_t i = begin; i < end; i++) {
            if (i == begin || compare(&sorted[i - 1], &sorted[i]) != 0)
                s->keys[s->owned++] = sorted[i].key;
            s->place[sorted[i].place] = s->owned - 1;
        }
    }
    g_free(row);
}

/* Tell each rank which of its keys no lower rank has sent. */
static void find_first(xlm_shared_counts *s, bool *first)
{
    g_autofree bool *seen = g_new0(bool, s->owned), *answer = g_new(bool, s->incoming);
    for (int64_t i = 0; i < s->incoming; i++) {
        answer[i] = !seen[s->place[i]];
        seen[s->place[i]] = true;
    }
    g_autofree int64_t *numbers = g_new(int64_t, s->comm->ranks);
    g_autofree bool *back = xlm_comm_exchange(s->comm, answer, s->received, sizeof *answer, numbers);
    for (int64_t k = 0; k < s->n; k++)
        first[s->order[k]] = back[k];
}

xlm_shared_counts *xlm_shared_counts_new(const xlm_comm *comm, const int64_t *owned, const xlm_count_key *keys, int64_t n,
                                         bool *first)
{
    xlm_shared_counts *s = g_new0(xlm_shared_counts, 1);
    s->comm = comm;
    s->n = n;
    s->order = g_new(int64_t, n);
    s->sent = g_new0(int64_t, comm->ranks);
    s->received = g_new0(int64_t, comm->ranks);
    order_keys(s, owned, keys);
    g_autofree xlm_count_key *out = g_new(xlm_count_key, n);
    for (int64_t k = 0; k < n; k++)
        out[k] = keys[s->order[k]];
    g_autofree xlm_count_key *incoming = xlm_comm_exchange(comm, out, s->sent, sizeof *out, s->received);
    for (int r = 0; r < comm->ranks; r++)
        s->incoming += s->received[r];
    own_keys(s, incoming, owned[comm->rank], owned[comm->rank + 1]);
    if (first != NULL)
        find_first(s, first);
    return s;
}

void xlm_shared_counts_free(xlm_shared_counts *s)
{
    if (s == NULL)
        return;
    g_free(s->order);
    g_free(s->sent);
    g_free(s->received);
    g_free(s->place);
    g_free(s->keys);
    g_free(s);
}

void xlm_shared_counts_sum(const xlm_shared_counts *s, int64_t *values, int width, int64_t *sums)
{
    const size_t size = sizeof *values * (size_t)width;
    if (s->comm->ranks == 1 && s->owned == s->n) { /* each key is in one place only */
        for (int64_t k = 0; k < s->n && sums != NULL; k++)
            memcpy(sums + s->place[k] * width, values + k * width, size);
        return;
    }
    int64_t *out = g_malloc(size * (size_t)s->n + 1), *numbers = g_new(int64_t, s->comm->ranks);
    for (int64_t k = 0; k < s->n; k++)
        memcpy(out + k * width, values + s->order[k] * width, size);
    g_autofree int64_t *in = xlm_comm_exchange(s->comm, out, s->sent, size, numbers);
    g_free(out);
    int64_t *all = sums != NULL ? sums : g_malloc(size * (size_t)s->owned + 1);
    memset(all, 0, size * (size_t)s->owned);
    for (int64_t i = 0; i < s->incoming; i++)
        for (int w = 0; w < width; w++)
            all[s->place[i] * width + w] += in[i * width + w];
    for (int64_t i = 0; i < s->incoming; i++)
        memcpy(in + i * width, all + s->place[i] * width, size);
    g_autofree int64_t *back = xlm_comm_exchange(s->comm, in, s->received, size, numbers);
    for (int64_t k = 0; k < s->n; k++)
        memcpy(values + s->order[k] * width, back + k * width, size);
    if (sums == NULL)
        g_free(all);
    g_free(numbers);
}

const xlm_count_key *xlm_shared_counts_owned(const xlm_shared_counts *s, int64_t *n)
{
    *n = s->owned;
    return s->keys;
}
