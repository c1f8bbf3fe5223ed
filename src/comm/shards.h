/* xlm-mpi: a flat array divided among ranks, and sums that go where they belong. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Gradients and parameters are whole on every rank while a pass runs; the moments of the optimiser, and the work of the update,
 * are divided (Rajbhandari et al. 2020, "ZeRO", stage 1). The array is cut into pieces dealt round robin, so that all ranks have
 * something of every part of it and messages to all of them are under way at any time:
 *   xlm_exchange   sums each piece over ranks, onto its owner, while the backward sweep still makes other pieces;
 *   the owner      updates it;
 *   xlm_shards_share   brings the owners' pieces to all.
 *
 * When the number of ranks R is a power of two, a piece is summed along one tree: rank r adds what r XOR R/2 has, then R/4, ...,
 * 1, half of the ranks dropping out each time, until its owner is left. As additions commute, the sum has the same bits whoever
 * owns the piece, and with micro-batches dealt round robin (micro-batch g to rank g mod R) and a rank's micro-batches added as xlm-mpi's
 * trainer does, the same bits for every such R. Other R, and exchanges that are not asked for it, use MPI_Ireduce, which is free
 * to add in the order that suits it. */
#ifndef XLM_COMM_SHARDS_H
#define XLM_COMM_SHARDS_H

#include "comm/comm.h"

enum { XLM_SHARD_UNIT = 16384 }; /* pieces are multiples of it */

typedef struct xlm_shards {
    const xlm_comm *comm;
    int64_t size;   /* of the array */
    int64_t piece;  /* of all pieces but the last, which may be smaller */
    int64_t pieces;
    int64_t own;    /* elements that this rank owns, with those its last piece lacks */
} xlm_shards;

/* comm: borrowed; with one rank no MPI is needed. */
xlm_shards xlm_shards_of(const xlm_comm *comm, int64_t size);
/* The size of pieces, and the largest `own`, of a job of that many ranks. */
int64_t xlm_shards_piece(int64_t size, int ranks);
int64_t xlm_shards_most(int64_t size, int ranks);

static inline int xlm_shards_owner(const xlm_shards *shards, int64_t element)
{
    return (int)(element / shards->piece % shards->comm->ranks);
}
/* Where an element that this rank owns stands in an array of [own]. */
static inline int64_t xlm_shards_place(const xlm_shards *shards, int64_t element)
{
    return element / shards->piece / shards->comm->ranks * shards->piece + element % shards->piece;
}

/* Collective. Every owner's pieces of whole[size] to all. */
void xlm_shards_share(const xlm_shards *shards, float *whole);
/* Collective. The same from arrays of [own]. */
void xlm_shards_gather(const xlm_shards *shards, const float *own, float *whole);
/* This rank's pieces of whole[size] into own[own]; not collective. */
void xlm_shards_take(const xlm_shards *shards, const float *whole, float *own);

/* ---- sums ---- */

typedef struct xlm_exchange xlm_exchange;

/* Bytes that an exchange of that size holds for what arrives; with MPI_Ireduce it is MPI that holds about as much. */
uint64_t xlm_exchange_bytes(int64_t size, int ranks);
/* fixed: pieces are summed along the tree above where R is a power of two. */
xlm_exchange *xlm_exchange_new(const xlm_shards *shards, bool fixed);
void xlm_exchange_free(xlm_exchange *exchange);

/* Begin to sum values[size] over ranks; nothing is sent yet. */
void xlm_exchange_begin(xlm_exchange *exchange, float *values);
/* values[from, size) are complete on this rank. Sends what can be sent, adds what has arrived, and does not wait. Call it often:
 * nothing moves in between. Calls with the same or a higher `from` than before only do the latter. */
void xlm_exchange_ready(xlm_exchange *exchange, int64_t from);
/* All values are complete; wait until the owned pieces hold the sums over all ranks. The other pieces are undefined.
 * Collective. */
void xlm_exchange_end(xlm_exchange *exchange);

/* Since the beginning: bytes sent by this rank; seconds in which a message was under way; of which waited for in
 * xlm_exchange_end. */
typedef struct xlm_exchange_report {
    double bytes, seconds, waited;
} xlm_exchange_report;
xlm_exchange_report xlm_exchange_get_report(const xlm_exchange *exchange);

#endif
