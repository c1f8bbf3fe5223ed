/* xlm-mpi: a flat array divided among ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include "comm/shards.h"

#include <string.h>

/* Large enough for the network, small enough that every rank has some pieces and few elements are more than another's. */
enum { PIECES_A_RANK = 8, MOST_UNITS = 16 };

int64_t xlm_shards_piece(int64_t size, int ranks)
{
    const int64_t wanted = size / PIECES_A_RANK / ranks / XLM_SHARD_UNIT;
    return XLM_SHARD_UNIT * CLAMP(wanted, 1, MOST_UNITS);
}

static int64_t count_pieces(int64_t size, int64_t piece) { return (size + piece - 1) / piece; }

int64_t xlm_shards_most(int64_t size, int ranks)
{
    const int64_t piece = xlm_shards_piece(size, ranks);
    return (count_pieces(size, piece) + ranks - 1) / ranks * piece;
}

xlm_shards xlm_shards_of(const xlm_comm *comm, int64_t size)
{
    const int64_t piece = xlm_shards_piece(size, comm->ranks), pieces = count_pieces(size, piece);
    const int64_t own = pieces / comm->ranks + (comm->rank < pieces % comm->ranks);
    return (xlm_shards){.comm = comm, .size = size, .piece = piece, .pieces = pieces, .own = own * piece};
}

void xlm_shards_share(const xlm_shards *shards, float *whole)
{
    const xlm_comm *comm = shards->comm;
    if (comm->ranks == 1)
        return;
    /* Rounds in which every rank has a whole piece, then the pieces that are left. */
    const int64_t rounds = shards->size / shards->piece / comm->ranks, first_left = rounds * comm->ranks;
    const int64_t n = rounds + shards->pieces - first_left;
    MPI_Request *request = g_new(MPI_Request, n);
    for (int64_t k = 0; k < rounds; k++)
        MPI_Iallgather(MPI_IN_PLACE, 0, MPI_FLOAT, whole + k * comm->ranks * shards->piece, (int)shards->piece, MPI_FLOAT,
                       comm->mpi, &request[k]);
    for (int64_t p = first_left; p < shards->pieces; p++) {
        const int64_t start = p * shards->piece;
        MPI_Ibcast(whole + start, (int)MIN(shards->piece, shards->size - start), MPI_FLOAT, (int)(p % comm->ranks), comm->mpi,
                   &request[rounds + p - first_left]);
    }
    for (int64_t i = 0; i < n; i++)
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
    g_free(request);
}

/* Between this rank's pieces of whole and own. */
static void copy_pieces(const xlm_shards *shards, float *whole, float *own, bool to_own)
{
    for (int64_t p = shards->comm->rank, k = 0; p < shards->pieces; p += shards->comm->ranks, k++) {
        float *there = whole + p * shards->piece, *here = own + k * shards->piece;
        memcpy(to_own ? here : there, to_own ? there : here,
               sizeof(float) * (size_t)MIN(shards->piece, shards->size - p * shards->piece));
    }
}

void xlm_shards_take(const xlm_shards *shards, const float *whole, float *own)
{
    copy_pieces(shards, (float *)(uintptr_t)whole, own, true);
}

void xlm_shards_gather(const xlm_shards *shards, const float *own, float *whole)
{
    copy_pieces(shards, whole, (float *)(uintptr_t)own, false);
    xlm_shards_share(shards, whole);
}
