/* xlm-mpi: sentences that equal an earlier one, found by all ranks together. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/duplicates.h"

#include <stdlib.h>

#include "base/exhaustion.h"
#include "base/progress.h"
#include "files/large_array.h"

enum {
    CHUNK = 1 << 16, /* sentences that are sent in a round, 1.5 MiB of a rank */
    BUCKETS = 256,   /* of a rank's part of the digests, sorted one by one; a sort needs as much memory again */
    BUCKETS_A_ROUND = 16,
    FEWEST = 1024,   /* sentences of a bucket that is sorted */
    PLACE_BITS = 44, RANK_BITS = 20
};

/* A sentence of this rank, and one on its way to the owner of its digest. */
typedef struct sentence {
    uint64_t digest, place; /* place: source << PLACE_BITS | place in it */
} sentence;
typedef struct record {
    uint64_t digest, place, origin; /* origin: number << RANK_BITS | rank of who has added it */
} record;

typedef struct bucket {
    GArray *records; /* record */
    guint limit;     /* sorted, and freed of duplicates, when it has so many */
} bucket;

struct xlm_duplicates {
    int sources;
    int64_t *first, *number; /* [sources] this rank's first sentence of a source, and how many there are */
    int64_t count;
    GArray *chunks;          /* xlm_large_array of sentence [CHUNK], which give back their memory when they are sent */
    uint8_t *is;             /* a bit for each sentence: is it a duplicate? */
};

/* The search. */
struct search {
    const xlm_comm *comm;
    xlm_duplicates *duplicates;
    bucket buckets[BUCKETS];
    GArray **out;      /* [ranks] record: to their owners */
    GArray **answers;  /* [ranks] uint64_t: numbers of duplicates, to who has added them */
    int64_t *received; /* [ranks] */
};

static void clear_chunk(void *chunk) { xlm_large_array_free(chunk); }

xlm_duplicates *xlm_duplicates_new(int sources)
{
    xlm_duplicates *d = g_new0(xlm_duplicates, 1);
    d->sources = sources;
    d->first = g_new0(int64_t, sources);
    d->number = g_new0(int64_t, sources);
    d->chunks = g_array_new(FALSE, FALSE, sizeof(xlm_large_array));
    g_array_set_clear_func(d->chunks, clear_chunk);
    return d;
}

void xlm_duplicates_free(xlm_duplicates *d)
{
    if (d == NULL)
        return;
    g_free(d->first);
    g_free(d->number);
    g_free(d->is);
    g_array_free(d->chunks, TRUE);
    g_free(d);
}

void xlm_duplicates_add(xlm_duplicates *d, int source, uint64_t digest, int64_t place)
{
    if (d->number[source]++ == 0)
        d->first[source] = d->count;
    if (d->count % CHUNK == 0) {
        xlm_large_array chunk;
        if (!xlm_large_array_make(&chunk, CHUNK * sizeof(sentence), NULL, NULL))
            xlm_exhaustion_no_memory(CHUNK * sizeof(sentence), "digests of sentences");
        g_array_append_val(d->chunks, chunk);
    }
    sentence *chunk = g_array_index(d->chunks, xlm_large_array, d->count / CHUNK).data;
    chunk[d->count++ % CHUNK] = (sentence){digest, (uint64_t)source << PLACE_BITS | (uint64_t)place};
}

bool xlm_duplicates_is(const xlm_duplicates *d, int source, int64_t i, bool *duplicate)
{
    const int64_t at = d->first[source] + i;
    if (i >= d->number[source])
        return false;
    *duplicate = d->is[at / 8] >> at % 8 & 1;
    return true;
}

/* ---- the search ---- */

static GArray **new_arrays(int n, size_t size)
{
    GArray **arrays = g_new(GArray *, n);
    for (int i = 0; i < n; i++)
        arrays[i] = g_array_new(FALSE, FALSE, (guint)size);
    return arrays;
}

static void free_arrays(GArray **arrays, int n)
{
    for (int i = 0; i < n; i++)
        g_array_free(arrays[i], TRUE);
    g_free(arrays);
}

/* Send each array to its rank, and empty it. Collective. [out] n: number of elements that came in. Returns them; g_free. */
static void *exchange(const struct search *s, GArray **to, size_t size, int64_t *n)
{
    const int ranks = s->comm->ranks;
    g_autoptr(GByteArray) all = g_byte_array_new();
    g_autofree int64_t *numbers = g_new(int64_t, ranks);
    for (int r = 0; r < ranks; r++) {
        numbers[r] = to[r]->len;
        g_byte_array_append(all, (const guint8 *)to[r]->data, (guint)(size * to[r]->len));
        g_array_set_size(to[r], 0);
    }
    void *in = xlm_comm_exchange(s->comm, all->data, numbers, size, s->received);
    *n = 0;
    for (int r = 0; r < ranks; r++)
        *n += s->received[r];
    return in;
}

/* By digest, then by place; of sentences of the same place, which are of one rank, by number. */
static int compare(const void *a, const void *b)
{
    const record *x = a, *y = b;
    if (x->digest != y->digest)
        return x->digest < y->digest ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->origin > y->origin) - (x->origin < y->origin);
}

/* Sort a bucket, keep the first sentence of each digest, and answer about the others, which are duplicates in any case. */
static void settle(struct search *s, bucket *b)
{
    record *of = (record *)(void *)b->records->data;
    guint kept = 0;
    if (b->records->len > 0)
        qsort(of, b->records->len, sizeof *of, compare);
    for (guint i = 0; i < b->records->len; i++) {
        if (kept == 0 || of[i].digest != of[kept - 1].digest) {
            of[kept++] = of[i];
            continue;
        }
        const uint64_t number = of[i].origin >> RANK_BITS;
        g_array_append_val(s->answers[of[i].origin & ((1 << RANK_BITS) - 1)], number);
    }
    g_array_set_size(b->records, kept);
    b->limit = MAX(b->limit, 2 * kept);
}

/* Send the sentences of the chunk to the owners of their digests; none for a rank that has no more. Collective. */
static void send_chunk(struct search *s, guint chunk)
{
    xlm_duplicates *d = s->duplicates;
    const int64_t first = (int64_t)chunk * CHUNK;
    xlm_large_array *held = chunk < d->chunks->len ? &g_array_index(d->chunks, xlm_large_array, chunk) : NULL;
    const sentence *of = held != NULL ? held->data : NULL;
    for (int64_t i = 0; i < CHUNK && first + i < d->count; i++) {
        const record r = {of[i].digest, of[i].place, (uint64_t)(first + i) << RANK_BITS | (uint64_t)s->comm->rank};
        g_array_append_val(s->out[(of[i].digest >> 32) * (uint64_t)s->comm->ranks >> 32], r);
    }
    if (held != NULL)
        xlm_large_array_free(held);
    int64_t n;
    g_autofree record *in = exchange(s, s->out, sizeof *in, &n);
    for (int64_t i = 0; i < n; i++) {
        bucket *b = &s->buckets[in[i].digest % BUCKETS];
        g_array_append_val(b->records, in[i]);
        if (b->records->len >= b->limit)
            settle(s, b);
    }
}

/* Tell each rank which of its sentences are duplicates. Collective. */
static void send_answers(struct search *s)
{
    int64_t n;
    g_autofree uint64_t *number = exchange(s, s->answers, sizeof *number, &n);
    for (int64_t i = 0; i < n; i++)
        s->duplicates->is[number[i] / 8] |= (uint8_t)(1 << number[i] % 8);
}

void xlm_duplicates_find(xlm_duplicates *d, const xlm_comm *comm)
{
    struct search s = {.comm = comm, .duplicates = d, .out = new_arrays(comm->ranks, sizeof(record)),
                       .answers = new_arrays(comm->ranks, sizeof(uint64_t)), .received = g_new(int64_t, comm->ranks)};
    int64_t share = d->count;
    xlm_comm_sum_int64(comm, &share, 1);
    share /= (int64_t)comm->ranks * BUCKETS;
    /* Room for as many as come if they are different, so that no bucket has to move; what is not written to takes no memory.
     * Different limits, so that not all are sorted in the same round. */
    for (guint i = 0; i < BUCKETS; i++)
        s.buckets[i] = (bucket){g_array_sized_new(FALSE, FALSE, sizeof(record), (guint)(share + share / 8)),
                                FEWEST + FEWEST * i / BUCKETS};
    d->is = g_new0(uint8_t, d->count / 8 + 1);
    int64_t rounds = d->chunks->len;
    xlm_comm_max_int64(comm, &rounds, 1);
    xlm_progress progress = xlm_progress_begin("comparing sentences", (double)(rounds + BUCKETS), "parts");
    for (int64_t i = 0; i < rounds; i++) {
        send_chunk(&s, (guint)i);
        send_answers(&s);
        xlm_progress_show(&progress, (double)i);
    }
    for (guint i = 0; i < BUCKETS; i++) {
        settle(&s, &s.buckets[i]);
        g_array_free(s.buckets[i].records, TRUE);
        if (i % BUCKETS_A_ROUND == BUCKETS_A_ROUND - 1)
            send_answers(&s);
        xlm_progress_show(&progress, (double)(rounds + i));
    }
    xlm_progress_end(&progress);
    free_arrays(s.out, comm->ranks);
    free_arrays(s.answers, comm->ranks);
    g_free(s.received);
}
