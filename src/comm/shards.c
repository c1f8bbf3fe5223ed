/* xlm-mpi: a flat array sharded over ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include "comm/shards.h"

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

xlm_shards xlm_shards_of(const xlm_comm *comm, int64_t size) { return xlm_shards_from(comm, 0, size); }

xlm_shards xlm_shards_from(const xlm_comm *comm, int64_t first, int64_t size)
{
    const int64_t bucket = xlm_shards_bucket(size - first, comm->ranks), buckets = count_buckets(size - first, bucket);
    const int64_t own = buckets / comm->ranks + (comm->rank < buckets % comm->ranks);
    return (xlm_shards){.comm = comm, .first = first, .size = size, .bucket = bucket, .buckets = buckets, .own = own * bucket};
}
