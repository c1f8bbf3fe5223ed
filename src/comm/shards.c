/* xlm-mpi: a flat array sharded over ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include "comm/shards.h"

#include <string.h>

/* Buckets are large enough for the network, and small enough that every rank has several, and about as much as the others. */
enum { BUCKETS_A_RANK = 8, MAX_UNITS = 16 };

int64_t xlm_shards_bucket(int64_t size, int ranks)
{
    const int64_t wanted = size / BUCKETS_A_RANK / ranks / XLM_SHARD_UNIT;
    return XLM_SHARD_UNIT * CLAMP(wanted, 1, MAX_UNITS);
}

static int64_t count_buckets(int64_t size, int64_t bucket) { return (size + bucket - 1) / bucket; }

int64_t xlm_shards_max_own(int64_t size, int ranks)
{
    const int64_t bucket = xlm_shards_bucket(size, ranks);
    return (count_buckets(size, bucket) + ranks - 1) / ranks * bucket;
}

xlm_shards xlm_shards_of(const xlm_comm *comm, int64_t size)
{
    const int64_t bucket = xlm_shards_bucket(size, comm->ranks), buckets = count_buckets(size, bucket);
    const int64_t own = buckets / comm->ranks + (comm->rank < buckets % comm->ranks);
    return (xlm_shards){.comm = comm, .size = size, .bucket = bucket, .buckets = buckets, .own = own * bucket};
}

/* This rank's buckets, from whole to own or back. */
static void copy_own_buckets(const xlm_shards *shards, float *whole, float *own, bool to_own)
{
    for (int64_t p = shards->comm->rank, k = 0; p < shards->buckets; p += shards->comm->ranks, k++) {
        float *there = whole + p * shards->bucket, *here = own + k * shards->bucket;
        memcpy(to_own ? here : there, to_own ? there : here,
               sizeof(float) * (size_t)MIN(shards->bucket, shards->size - p * shards->bucket));
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
