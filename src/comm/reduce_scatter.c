/* xlm-mpi: reduce-scatter, bucket by bucket, during the backward pass. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/bfloat16.h"
#include "base/log.h"
#include "comm/shards.h"

/* Number of buckets under way at a time; number of tags, half of those that every MPI has (all_gather.c has the others). */
enum { SLOTS = 16, TAGS = 16384 };

/* A bucket under way. */
typedef struct slot {
    int64_t bucket;   /* -1: free */
    int distance;    /* of the tree's level that is under way; 0 with MPI_Ireduce */
    bool receives;   /* into `arrived`; else this rank's part of the work ends with this message */
    float *arrived;  /* [bucket]; NULL with `half` */
    uint16_t *half;  /* [bucket] what arrives, or is sent, in bfloat16; NULL: floats */
} slot;

struct xlm_reduce_scatter {
    xlm_shards shards;
    bool tree;             /* sum in the fixed order */
    bool half;             /* messages are bfloat16 */
    float *values;
    int64_t next;          /* the bucket to begin next; buckets are begun from the last to the first */
    int under_way;
    slot slot[SLOTS];
    MPI_Request request[SLOTS];
    double since;          /* when the first of the messages under way left */
    xlm_shards_report report;
};

static size_t bytes_of_element(bool half) { return half ? sizeof(uint16_t) : sizeof(float); }

uint64_t xlm_reduce_scatter_bytes(int64_t size, int ranks, bool half)
{
    const int64_t bucket = xlm_shards_bucket(size, ranks);
    return ranks > 1 ? bytes_of_element(half) * (uint64_t)(bucket * MIN(SLOTS, (size + bucket - 1) / bucket)) : 0;
}

xlm_reduce_scatter *xlm_reduce_scatter_new(const xlm_shards *shards, bool fixed, bool half)
{
    xlm_reduce_scatter *r = g_new0(xlm_reduce_scatter, 1);
    r->shards = *shards;
    r->tree = fixed && xlm_comm_folds(shards->comm->ranks);
    r->half = half;
    g_assert(r->tree || !half);
    for (int s = 0; s < SLOTS; s++) {
        r->slot[s].bucket = -1;
        r->request[s] = MPI_REQUEST_NULL;
        if (shards->comm->ranks == 1 || !r->tree || s >= shards->buckets)
            continue;
        if (half)
            r->slot[s].half = g_new(uint16_t, shards->bucket);
        else
            r->slot[s].arrived = g_new(float, shards->bucket);
    }
    return r;
}

void xlm_reduce_scatter_free(xlm_reduce_scatter *r)
{
    if (r == NULL)
        return;
    for (int s = 0; s < SLOTS; s++)
        g_free(r->slot[s].arrived), g_free(r->slot[s].half);
    g_free(r);
}

static int64_t start_of(const xlm_reduce_scatter *r, int64_t bucket) { return r->shards.first + bucket * r->shards.bucket; }
static int64_t size_of(const xlm_reduce_scatter *r, int64_t bucket)
{
    return MIN(r->shards.bucket, r->shards.size - start_of(r, bucket));
}

static int owner_of(const xlm_reduce_scatter *r, int64_t bucket) { return (int)(bucket % r->shards.comm->ranks); }

static void round_values(const float *restrict values, uint16_t *restrict half, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        half[i] = xlm_bfloat16_of(values[i]);
}

/* The message of a slot's bucket at its level of the tree. */
static void start_message(xlm_reduce_scatter *r, int s)
{
    slot *at = &r->slot[s];
    const xlm_comm *comm = r->shards.comm;
    const int partner = xlm_comm_rank_at(comm, comm->place ^ at->distance);
    const int owner = xlm_comm_place_of(comm, owner_of(r, at->bucket));
    const int n = (int)size_of(r, at->bucket), tag = (int)(at->bucket % TAGS);
    at->receives = (comm->place & at->distance) == (owner & at->distance);
    float *values = r->values + start_of(r, at->bucket);
    const MPI_Datatype type = r->half ? MPI_UINT16_T : MPI_FLOAT;
    if (at->receives) {
        MPI_Irecv(r->half ? (void *)at->half : at->arrived, n, type, partner, tag, comm->mpi, &r->request[s]);
    } else {
        if (r->half)
            round_values(values, at->half, n);
        MPI_Isend(r->half ? (void *)at->half : values, n, type, partner, tag, comm->mpi, &r->request[s]);
        r->report.bytes += (double)bytes_of_element(r->half) * n;
    }
}

/* In the order that MPI chooses. */
static void start_reduction(xlm_reduce_scatter *r, int s)
{
    const int64_t bucket = r->slot[s].bucket;
    const xlm_comm *comm = r->shards.comm;
    float *values = r->values + start_of(r, bucket);
    const bool mine = owner_of(r, bucket) == comm->rank;
    MPI_Ireduce(mine ? MPI_IN_PLACE : values, mine ? values : NULL, (int)size_of(r, bucket), MPI_FLOAT, MPI_SUM,
                owner_of(r, bucket), comm->mpi, &r->request[s]);
    if (!mine)
        r->report.bytes += (double)sizeof(float) * (double)size_of(r, bucket);
}

static void start_bucket(xlm_reduce_scatter *r, int s)
{
    if (r->under_way++ == 0)
        r->since = xlm_clock();
    r->slot[s].bucket = r->next--;
    r->slot[s].distance = r->tree ? r->shards.comm->ranks / 2 : 0;
    r->slot[s].receives = false;
    if (r->tree)
        start_message(r, s);
    else
        start_reduction(r, s);
}

/* Both numbers are rounded, so that the sum does not depend on which of them was sent. */
static void add_halves(const uint16_t *restrict arrived, float *restrict sum, int64_t n)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        sum[i] = xlm_bfloat16_round(sum[i]) + xlm_bfloat16_value(arrived[i]);
}

static void add_arrived(xlm_reduce_scatter *r, const slot *at)
{
    float *restrict sum = r->values + start_of(r, at->bucket);
    const float *restrict arrived = at->arrived;
    const int64_t n = size_of(r, at->bucket);
    if (r->half) {
        add_halves(at->half, sum, n);
        return;
    }
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
        sum[i] += arrived[i];
}

/* A slot's message has arrived or was sent: go to the next level of the tree, or free the slot. */
static void complete_message(xlm_reduce_scatter *r, int s)
{
    slot *at = &r->slot[s];
    if (at->receives) {
        add_arrived(r, at);
        at->distance /= 2;
        if (at->distance > 0) {
            start_message(r, s);
            return;
        }
    }
    at->bucket = -1;
    if (--r->under_way == 0)
        r->report.seconds += xlm_clock() - r->since;
}

/* Fill free slots with buckets at or above `from`. */
static void start_buckets(xlm_reduce_scatter *r, int64_t from)
{
    for (int s = 0; s < SLOTS && r->next >= 0 && start_of(r, r->next) >= from; s++)
        if (r->slot[s].bucket < 0)
            start_bucket(r, s);
}

void xlm_reduce_scatter_begin(xlm_reduce_scatter *r, float *values)
{
    r->values = values;
    r->next = r->shards.comm->ranks > 1 ? r->shards.buckets - 1 : -1;
}

void xlm_reduce_scatter_ready(xlm_reduce_scatter *r, int64_t from)
{
    MPI_Status status[SLOTS]; /* unused; with MPICH compilers warn of MPI_STATUSES_IGNORE */
    int done[SLOTS], n = 1;
    start_buckets(r, from);
    while (r->under_way > 0) {
        MPI_Testsome(SLOTS, r->request, &n, done, status);
        if (n == 0 || n == MPI_UNDEFINED)
            return;
        for (int i = 0; i < n; i++)
            complete_message(r, done[i]);
        start_buckets(r, from);
    }
}

void xlm_reduce_scatter_end(xlm_reduce_scatter *r)
{
    const double begin = xlm_clock();
    start_buckets(r, 0);
    while (r->under_way > 0) {
        MPI_Status status[SLOTS];
        int done[SLOTS], n;
        MPI_Waitsome(SLOTS, r->request, &n, done, status);
        for (int i = 0; i < n; i++)
            complete_message(r, done[i]);
        start_buckets(r, 0);
    }
    r->report.waited += xlm_clock() - begin;
}

xlm_shards_report xlm_reduce_scatter_get_report(const xlm_reduce_scatter *r) { return r->report; }
