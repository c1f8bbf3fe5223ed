/* xlm-mpi: all-gather, bucket by bucket, while others are used already. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/bfloat16.h"
#include "base/log.h"
#include "comm/shards.h"

/* Number of buckets under way at a time; tags, apart from those of reduce_scatter.c; ranks that one rank sends a bucket to. */
enum { SLOTS = 16, TAGS = 16384, FIRST_TAG = 16384, MAX_SENDS = 20 };

/* A bucket under way: it arrives, unless this rank owns it, and then is sent on. */
typedef struct slot {
    int64_t bucket; /* -1: free */
    int pending;    /* messages */
    uint16_t *half; /* [bucket] it in bfloat16; NULL: floats */
} slot;

struct xlm_all_gather {
    xlm_shards shards;
    bool half;
    float *whole;
    int64_t next;    /* the bucket to begin next; from the first to the last */
    bool *here;      /* [buckets] */
    int under_way;
    slot slot[SLOTS];
    MPI_Request request[SLOTS * MAX_SENDS]; /* the messages of each slot */
    double since;    /* when the first of the messages under way left */
    xlm_shards_report report;
};

uint64_t xlm_all_gather_bytes(int64_t size, int ranks, bool half)
{
    const int64_t bucket = xlm_shards_bucket(size, ranks);
    return ranks > 1 && half ? sizeof(uint16_t) * (uint64_t)(bucket * MIN(SLOTS, (size + bucket - 1) / bucket)) : 0;
}

xlm_all_gather *xlm_all_gather_new(const xlm_shards *shards, bool half)
{
    xlm_all_gather *g = g_new0(xlm_all_gather, 1);
    g->shards = *shards;
    g->half = half;
    g->here = g_new(bool, MAX(shards->buckets, 1));
    g->next = shards->buckets;
    for (int i = 0; i < SLOTS * MAX_SENDS; i++)
        g->request[i] = MPI_REQUEST_NULL;
    for (int s = 0; s < SLOTS; s++) {
        g->slot[s].bucket = -1;
        if (half && shards->comm->ranks > 1 && s < shards->buckets)
            g->slot[s].half = g_new(uint16_t, shards->bucket);
    }
    return g;
}

void xlm_all_gather_free(xlm_all_gather *gather)
{
    if (gather == NULL)
        return;
    for (int s = 0; s < SLOTS; s++)
        g_free(gather->slot[s].half);
    g_free(gather->here);
    g_free(gather);
}

/* ---- the tree of a bucket: that of reduce_scatter.c from its root, the owner, to the leaves ---- */

/* Where this rank is in the tree of an owner: 0 is the owner. */
static int number_of(const xlm_comm *comm, int owner)
{
    return xlm_comm_folds(comm->ranks) ? comm->place ^ xlm_comm_place_of(comm, owner)
                                        : (comm->rank - owner + comm->ranks) % comm->ranks;
}

static int rank_of(const xlm_comm *comm, int owner, int number)
{
    return xlm_comm_folds(comm->ranks) ? xlm_comm_rank_at(comm, number ^ xlm_comm_place_of(comm, owner))
                                        : (number + owner) % comm->ranks;
}

/* The highest bit of a number, which the rank has the bucket from; 0 has none. */
static int highest_bit(int number)
{
    int bit = 0;
    for (; number > 0; number >>= 1)
        bit = bit == 0 ? 1 : 2 * bit;
    return bit;
}

/* ---- messages ---- */

static int64_t start_of(const xlm_shards *shards, int64_t bucket) { return shards->first + bucket * shards->bucket; }
static float *values_of(const xlm_all_gather *g, const slot *at) { return g->whole + start_of(&g->shards, at->bucket); }
static int size_of(const xlm_all_gather *g, const slot *at)
{
    return (int)MIN(g->shards.bucket, g->shards.size - start_of(&g->shards, at->bucket));
}

static void *message_of(const xlm_all_gather *g, const slot *at) { return g->half ? (void *)at->half : values_of(g, at); }
static MPI_Datatype type_of(const xlm_all_gather *g) { return g->half ? MPI_UINT16_T : MPI_FLOAT; }
static int tag_of(const slot *at) { return FIRST_TAG + (int)(at->bucket % TAGS); }
static int owner_of(const xlm_all_gather *g, const slot *at) { return (int)(at->bucket % g->shards.comm->ranks); }

static void free_slot(xlm_all_gather *g, slot *at)
{
    at->bucket = -1;
    if (--g->under_way == 0)
        g->report.seconds += xlm_clock() - g->since;
}

/* The slot's bucket is here: send it on. */
static void send_on(xlm_all_gather *g, int s)
{
    slot *at = &g->slot[s];
    const xlm_comm *comm = g->shards.comm;
    const int owner = owner_of(g, at), number = number_of(comm, owner), n = size_of(g, at);
    g->here[at->bucket] = true;
    for (int64_t bit = MAX(2 * highest_bit(number), 1); number + bit < comm->ranks; bit *= 2) {
        MPI_Isend(message_of(g, at), n, type_of(g), rank_of(comm, owner, number + (int)bit), tag_of(at), comm->mpi,
                  &g->request[s * MAX_SENDS + at->pending++]);
        g->report.bytes += (double)(g->half ? sizeof(uint16_t) : sizeof(float)) * n;
    }
    if (at->pending == 0)
        free_slot(g, at);
}

static void start_bucket(xlm_all_gather *g, int s)
{
    slot *at = &g->slot[s];
    const xlm_comm *comm = g->shards.comm;
    if (g->under_way++ == 0)
        g->since = xlm_clock();
    at->bucket = g->next++;
    at->pending = 0;
    const int owner = owner_of(g, at), number = number_of(comm, owner), n = size_of(g, at);
    if (number == 0) {
        if (g->half) {
            const float *values = values_of(g, at);
            uint16_t *half = at->half;
#pragma omp parallel for simd schedule(static)
            for (int i = 0; i < n; i++)
                half[i] = xlm_bfloat16_of(values[i]);
        }
        send_on(g, s);
    } else {
        MPI_Irecv(message_of(g, at), n, type_of(g), rank_of(comm, owner, number - highest_bit(number)), tag_of(at), comm->mpi,
                  &g->request[s * MAX_SENDS]);
        at->pending = 1;
    }
}

static void start_buckets(xlm_all_gather *g)
{
    for (int s = 0; s < SLOTS; s++)
        while (g->slot[s].bucket < 0 && g->next < g->shards.buckets)
            start_bucket(g, s);
}

/* One of a slot's messages has arrived or was sent. */
static void complete_message(xlm_all_gather *g, int s)
{
    slot *at = &g->slot[s];
    at->pending--;
    if (!g->here[at->bucket]) {
        if (g->half) {
            float *values = values_of(g, at);
            const uint16_t *half = at->half;
            const int n = size_of(g, at);
#pragma omp parallel for simd schedule(static)
            for (int i = 0; i < n; i++)
                values[i] = xlm_bfloat16_value(half[i]);
        }
        send_on(g, s);
    } else if (at->pending == 0) {
        free_slot(g, at);
    }
}

/* What has arrived and was sent by now; waits: at least one of them. */
static bool move(xlm_all_gather *g, bool waits)
{
    MPI_Status status[SLOTS * MAX_SENDS]; /* unused; with MPICH compilers warn of MPI_STATUSES_IGNORE */
    int done[SLOTS * MAX_SENDS], n;
    (waits ? MPI_Waitsome : MPI_Testsome)(SLOTS * MAX_SENDS, g->request, &n, done, status);
    if (n == MPI_UNDEFINED)
        n = 0;
    for (int i = 0; i < n; i++)
        complete_message(g, done[i] / MAX_SENDS);
    start_buckets(g);
    return n > 0;
}

void xlm_all_gather_begin(xlm_all_gather *gather, float *whole)
{
    xlm_all_gather *g = gather;
    xlm_all_gather_end(g);
    if (g->shards.comm->ranks == 1)
        return;
    g->whole = whole;
    g->next = 0;
    for (int64_t b = 0; b < g->shards.buckets; b++)
        g->here[b] = false;
    start_buckets(g);
}

void xlm_all_gather_need(xlm_all_gather *gather, int64_t from, int64_t end)
{
    xlm_all_gather *g = gather;
    if (g->under_way == 0)
        return;
    while (g->under_way > 0 && move(g, false))
        continue;
    const double begin = xlm_clock();
    for (int64_t b = MAX(from - g->shards.first, 0) / g->shards.bucket; start_of(&g->shards, b) < end; b++)
        while (!g->here[b])
            move(g, true);
    g->report.waited += xlm_clock() - begin;
}

void xlm_all_gather_end(xlm_all_gather *gather)
{
    xlm_all_gather *g = gather;
    const double begin = xlm_clock();
    while (g->under_way > 0)
        move(g, true);
    g->report.waited += xlm_clock() - begin;
}

bool xlm_all_gather_is_under_way(const xlm_all_gather *gather) { return gather->under_way > 0; }
xlm_shards_report xlm_all_gather_get_report(const xlm_all_gather *gather) { return gather->report; }

void xlm_shards_all_gather(const xlm_shards *shards, float *whole)
{
    xlm_all_gather *gather = xlm_all_gather_new(shards, false);
    xlm_all_gather_begin(gather, whole);
    xlm_all_gather_end(gather);
    xlm_all_gather_free(gather);
}

/* This rank's buckets, from whole to own or back. */
static void copy_own_buckets(const xlm_shards *shards, float *whole, float *own, bool to_own)
{
    for (int64_t p = shards->comm->rank, k = 0; p < shards->buckets; p += shards->comm->ranks, k++) {
        float *there = whole + start_of(shards, p), *here = own + k * shards->bucket;
        memcpy(to_own ? here : there, to_own ? there : here,
               sizeof(float) * (size_t)MIN(shards->bucket, shards->size - start_of(shards, p)));
    }
}

void xlm_shards_take(const xlm_shards *shards, const float *whole, float *own)
{
    copy_own_buckets(shards, (float *)(uintptr_t)whole, own, true);
}

void xlm_shards_all_gather_from(const xlm_shards *shards, const float *own, float *whole)
{
    copy_own_buckets(shards, whole, (float *)(uintptr_t)own, false);
    xlm_shards_all_gather(shards, whole);
}
