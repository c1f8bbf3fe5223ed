/* xlm-mpi: reduce-scatter, bucket by bucket, during the backward pass. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/log.h"
#include "comm/shards.h"

/* Buckets under way at a time; tags that every MPI has, far more. */
enum { SLOTS = 16, TAGS = 32768 };

/* A bucket under way. */
typedef struct slot {
    int64_t bucket;   /* -1: free */
    int distance;    /* of the tree's level that is under way; 0 with MPI_Ireduce */
    bool receives;   /* into `arrived`; else this rank's part of the work ends with this message */
    float *arrived;  /* [bucket] */
} slot;

struct xlm_exchange {
    xlm_shards shards;
    bool tree;             /* in the fixed order */
    float *values;
    int64_t next;          /* the bucket to begin next; buckets are begun from the last to the first */
    int under_way;
    slot slot[SLOTS];
    MPI_Request request[SLOTS];
    double since;          /* when the first of the messages under way left */
    xlm_exchange_report report;
};

uint64_t xlm_exchange_bytes(int64_t size, int ranks)
{
    const int64_t bucket = xlm_shards_bucket(size, ranks);
    return ranks > 1 ? sizeof(float) * (uint64_t)(bucket * MIN(SLOTS, (size + bucket - 1) / bucket)) : 0;
}

xlm_exchange *xlm_exchange_new(const xlm_shards *shards, bool fixed)
{
    xlm_exchange *x = g_new0(xlm_exchange, 1);
    x->shards = *shards;
    x->tree = fixed && (shards->comm->ranks & (shards->comm->ranks - 1)) == 0;
    for (int s = 0; s < SLOTS; s++) {
        x->slot[s].bucket = -1;
        x->request[s] = MPI_REQUEST_NULL;
        if (shards->comm->ranks > 1 && x->tree && s < shards->buckets)
            x->slot[s].arrived = g_new(float, shards->bucket);
    }
    return x;
}

void xlm_exchange_free(xlm_exchange *exchange)
{
    if (exchange == NULL)
        return;
    for (int s = 0; s < SLOTS; s++)
        g_free(exchange->slot[s].arrived);
    g_free(exchange);
}

static int64_t start_of(const xlm_exchange *x, int64_t bucket) { return bucket * x->shards.bucket; }
static int64_t size_of(const xlm_exchange *x, int64_t bucket)
{
    return MIN(x->shards.bucket, x->shards.size - start_of(x, bucket));
}

static int owner_of(const xlm_exchange *x, int64_t bucket) { return (int)(bucket % x->shards.comm->ranks); }

/* The message of a slot's bucket at its level of the tree. */
static void start_message(xlm_exchange *x, int s)
{
    slot *at = &x->slot[s];
    const xlm_comm *comm = x->shards.comm;
    const int partner = comm->rank ^ at->distance, n = (int)size_of(x, at->bucket), tag = (int)(at->bucket % TAGS);
    at->receives = (comm->rank & at->distance) == (owner_of(x, at->bucket) & at->distance);
    if (at->receives) {
        MPI_Irecv(at->arrived, n, MPI_FLOAT, partner, tag, comm->mpi, &x->request[s]);
    } else {
        MPI_Isend(x->values + start_of(x, at->bucket), n, MPI_FLOAT, partner, tag, comm->mpi, &x->request[s]);
        x->report.bytes += (double)sizeof(float) * n;
    }
}

/* In the order that MPI chooses. */
static void start_reduction(xlm_exchange *x, int s)
{
    const int64_t bucket = x->slot[s].bucket;
    const xlm_comm *comm = x->shards.comm;
    float *values = x->values + start_of(x, bucket);
    const bool mine = owner_of(x, bucket) == comm->rank;
    MPI_Ireduce(mine ? MPI_IN_PLACE : values, mine ? values : NULL, (int)size_of(x, bucket), MPI_FLOAT, MPI_SUM,
                owner_of(x, bucket), comm->mpi, &x->request[s]);
    if (!mine)
        x->report.bytes += (double)sizeof(float) * (double)size_of(x, bucket);
}

static void start_bucket(xlm_exchange *x, int s)
{
    if (x->under_way++ == 0)
        x->since = xlm_clock();
    x->slot[s].bucket = x->next--;
    x->slot[s].distance = x->tree ? x->shards.comm->ranks / 2 : 0;
    x->slot[s].receives = false;
    if (x->tree)
        start_message(x, s);
    else
        start_reduction(x, s);
}

static void add_arrived(xlm_exchange *x, const slot *at)
{
    float *restrict sum = x->values + start_of(x, at->bucket);
    const float *restrict arrived = at->arrived;
    const int64_t n = size_of(x, at->bucket);
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        sum[i] += arrived[i];
}

/* A slot's message has arrived, or was sent: goes to the next level of the tree, or frees the slot. */
static void complete_message(xlm_exchange *x, int s)
{
    slot *at = &x->slot[s];
    if (at->receives) {
        add_arrived(x, at);
        at->distance /= 2;
        if (at->distance > 0) {
            start_message(x, s);
            return;
        }
    }
    at->bucket = -1;
    if (--x->under_way == 0)
        x->report.seconds += xlm_clock() - x->since;
}

/* Fill free slots with buckets at or above `from`. */
static void start_buckets(xlm_exchange *x, int64_t from)
{
    for (int s = 0; s < SLOTS && x->next >= 0 && start_of(x, x->next) >= from; s++)
        if (x->slot[s].bucket < 0)
            start_bucket(x, s);
}

void xlm_exchange_begin(xlm_exchange *exchange, float *values)
{
    exchange->values = values;
    exchange->next = exchange->shards.comm->ranks > 1 ? exchange->shards.buckets - 1 : -1;
}

void xlm_exchange_ready(xlm_exchange *exchange, int64_t from)
{
    xlm_exchange *x = exchange;
    MPI_Status status[SLOTS]; /* unused; with MPICH compilers warn of MPI_STATUSES_IGNORE */
    int done[SLOTS], n = 1;
    start_buckets(x, from);
    while (x->under_way > 0) {
        MPI_Testsome(SLOTS, x->request, &n, done, status);
        if (n == 0 || n == MPI_UNDEFINED)
            return;
        for (int i = 0; i < n; i++)
            complete_message(x, done[i]);
        start_buckets(x, from);
    }
}

void xlm_exchange_end(xlm_exchange *exchange)
{
    xlm_exchange *x = exchange;
    const double begin = xlm_clock();
    start_buckets(x, 0);
    while (x->under_way > 0) {
        MPI_Status status[SLOTS];
        int done[SLOTS], n;
        MPI_Waitsome(SLOTS, x->request, &n, done, status);
        for (int i = 0; i < n; i++)
            complete_message(x, done[i]);
        start_buckets(x, 0);
    }
    x->report.waited += xlm_clock() - begin;
}

xlm_exchange_report xlm_exchange_get_report(const xlm_exchange *exchange) { return exchange->report; }
