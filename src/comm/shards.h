/* xlm-mpi: a flat array sharded over ranks: reduce-scatter and all-gather. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Gradients and parameters are whole on every rank while a pass runs; the moments of the optimiser, and the work of the update,
 * are sharded (Rajbhandari et al. 2020, "ZeRO", stage 1). The array is cut into buckets, and bucket i belongs to rank i mod R, so
 * that every rank owns something of each part of the array and sends and receives at any time of the backward pass:
 *   xlm_reduce_scatter     sums each bucket over ranks, onto its owner, while the backward pass still computes others;
 *   the owner              updates it;
 *   xlm_all_gather         brings the owners' buckets to all ranks, in their order, while the first are used already.
 *
 * When the number of ranks R is a power of two, a bucket is summed along one tree over the ranks' places: place p adds what
 * p XOR R/2 has, then R/4, ..., 1, half of the ranks being done each time, until the owner has the sum. As additions commute, the
 * sum has the same bits whoever owns the bucket; and as micro-batch g goes to place g mod R, and a rank adds its micro-batches
 * pairwise (train/step.c), it has the same bits for every such R. The ranks of a node have places that are N apart on N nodes
 * (comm/comm.c): a node adds up first, and then one of its ranks, which changes from bucket to bucket, sends the sum to another
 * node. What is gathered comes back the same way. So a node sends and receives each gradient and each parameter once, however
 * many ranks it has. For other R, and where the fixed order is not asked for, MPI_Ireduce adds in the order it
 * chooses. */
#ifndef XLM_COMM_SHARDS_H
#define XLM_COMM_SHARDS_H

#include "comm/comm.h"

enum { XLM_SHARD_UNIT = 16384 }; /* buckets are multiples of it */

typedef struct xlm_shards {
    const xlm_comm *comm;
    int64_t first;  /* element of the array where the buckets begin: those before it are the same on all ranks, and stay so */
    int64_t size;   /* of the array */
    int64_t bucket;  /* of all buckets but the last, which may be smaller */
    int64_t buckets;
    int64_t own;    /* elements that this rank owns, its last bucket counted as a whole one */
} xlm_shards;

/* comm: borrowed; with one rank no MPI is needed. */
xlm_shards xlm_shards_of(const xlm_comm *comm, int64_t size);
xlm_shards xlm_shards_from(const xlm_comm *comm, int64_t first, int64_t size);
/* The size of a bucket, and the largest `own`, of a job on that many ranks; size: of all buckets. */
int64_t xlm_shards_bucket(int64_t size, int ranks);
int64_t xlm_shards_max_own(int64_t size, int ranks);

/* Of an element from `first` on. */
static inline int xlm_shards_owner(const xlm_shards *shards, int64_t element)
{
    return (int)((element - shards->first) / shards->bucket % shards->comm->ranks);
}
/* Where an element that this rank owns is in an array of [own]. */
static inline int64_t xlm_shards_place(const xlm_shards *shards, int64_t element)
{
    const int64_t at = element - shards->first;
    return at / shards->bucket / shards->comm->ranks * shards->bucket + at % shards->bucket;
}

/* Collective. The owners' buckets of whole[size], to all ranks; waits for all of them. */
void xlm_shards_all_gather(const xlm_shards *shards, float *whole);
/* Collective. The same from arrays of [own]. */
void xlm_shards_all_gather_from(const xlm_shards *shards, const float *own, float *whole);
/* This rank's buckets of whole[size] into own[own]; not collective. */
void xlm_shards_take(const xlm_shards *shards, const float *whole, float *own);

/* Since the beginning: bytes sent by this rank; seconds in which a message was under way; of which only waited for. */
typedef struct xlm_shards_report {
    double bytes, seconds, waited;
} xlm_shards_report;

/* ---- reduce-scatter ---- */

typedef struct xlm_reduce_scatter xlm_reduce_scatter;

/* Bytes that a reduce-scatter of that size holds for what arrives; with MPI_Ireduce it is MPI that holds about as much. */
uint64_t xlm_reduce_scatter_bytes(int64_t size, int ranks, bool half);
/* fixed: buckets are summed along the tree above where R is a power of two. half: messages are bfloat16, half as long; in each
 * addition along the tree both numbers are rounded to it, and the sum is a float. Wants `fixed` and such an R. */
xlm_reduce_scatter *xlm_reduce_scatter_new(const xlm_shards *shards, bool fixed, bool half);
void xlm_reduce_scatter_free(xlm_reduce_scatter *reduce_scatter);

/* Begin to sum values[size] over ranks; nothing is sent yet. */
void xlm_reduce_scatter_begin(xlm_reduce_scatter *reduce_scatter, float *values);
/* values[from, size) are complete on this rank. Sends what can be sent, adds what has arrived, and does not wait. Call it often:
 * nothing moves in between. Calls with the same or a higher `from` than before only do the latter. */
void xlm_reduce_scatter_ready(xlm_reduce_scatter *reduce_scatter, int64_t from);
/* All values are complete; waits until the owned buckets hold the sums over all ranks. The other buckets are undefined.
 * Collective. */
void xlm_reduce_scatter_end(xlm_reduce_scatter *reduce_scatter);

xlm_shards_report xlm_reduce_scatter_get_report(const xlm_reduce_scatter *reduce_scatter);

/* ---- all-gather ---- */

typedef struct xlm_all_gather xlm_all_gather;

/* Bytes that an all-gather of that size holds for what arrives. */
uint64_t xlm_all_gather_bytes(int64_t size, int ranks, bool half);
/* half: messages are bfloat16, half as long; the values are such numbers already, on their owners. */
xlm_all_gather *xlm_all_gather_new(const xlm_shards *shards, bool half);
/* NULL is allowed; xlm_all_gather_end must have been called. */
void xlm_all_gather_free(xlm_all_gather *gather);

/* Begin to bring the owners' buckets of whole[size] to all ranks, after the end of what was begun before. */
void xlm_all_gather_begin(xlm_all_gather *gather, float *whole);
/* Waits until whole[from, end) is here, and sends on what has arrived; with an empty range it only does the latter. Nothing moves
 * in between, so that all ranks should call it often. */
void xlm_all_gather_need(xlm_all_gather *gather, int64_t from, int64_t end);
/* Waits until all is here, and was sent on. Every rank must call it, or xlm_all_gather_begin; then no messages are under way. */
void xlm_all_gather_end(xlm_all_gather *gather);
/* Are messages under way? Not collective. */
bool xlm_all_gather_is_under_way(const xlm_all_gather *gather);
xlm_shards_report xlm_all_gather_get_report(const xlm_all_gather *gather);

#endif
