/* xlm-mpi: communication between ranks. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A thin layer over MPI: starting and ending, agreement on errors, and the few exchanges that training and preparation need. All
 * functions that take an xlm_comm are collective over it unless their comment says otherwise. An MPI failure (a lost rank) ends
 * the whole job with a message: there is nothing sensible left to do for the others. */
#ifndef XLM_COMM_COMM_H
#define XLM_COMM_COMM_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct xlm_comm {
    MPI_Comm mpi;
    MPI_Comm node; /* the ranks that share this node's memory */
    int rank, ranks;
    int local_rank, local_ranks; /* among the ranks of this node */
    int place;                   /* of this rank in the tree of additions (comm/shards.h) */
    int *places;                 /* [2 x ranks] of each rank, and the rank of each place; NULL: they are the same */
} xlm_comm;

/* Can so many ranks, or micro-batches, be folded in half again and again: is n >= 1 a power of two? */
static inline bool xlm_comm_folds(int64_t n) { return (n & (n - 1)) == 0; }
static inline int xlm_comm_place_of(const xlm_comm *comm, int rank) { return comm->places != NULL ? comm->places[rank] : rank; }
static inline int xlm_comm_rank_at(const xlm_comm *comm, int place)
{
    return comm->places != NULL ? comm->places[comm->ranks + place] : place;
}

/* Start MPI (MPI_THREAD_FUNNELED) and the log: rank 0 speaks. program: the name in messages. Options that do no work
 * (--help, --version) should be handled before, so that they need no MPI. */
void xlm_comm_open(xlm_comm *comm, const char *program, int *argc, char ***argv);

/* End MPI and give the exit code of the program: EX_OK when error is NULL, else its exit code after rank 0 has printed
 * its message. The error must be the same on all ranks (xlm_comm_agree). Takes ownership of error. */
int xlm_comm_close(xlm_comm *comm, GError *error);
/* The same with an exit code, all messages having been printed; also if MPI itself crashes as it ends. Returns the code. */
int xlm_comm_close_with(xlm_comm *comm, int code);

/* A communicator of this process alone, to call collective functions without other ranks. Not collective. */
xlm_comm xlm_comm_alone(void);

/* Make an error of any rank the error of all: true when no rank has one; else false, and *error is, on every rank, the
 * error of the lowest rank that has one. error must not be NULL. */
bool xlm_comm_agree(const xlm_comm *comm, GError **error);
/* The same for an error of one rank: takes failure (NULL: none), and sets *error on all ranks if any has one. */
bool xlm_comm_agree_on(const xlm_comm *comm, GError *failure, GError **error);

/* "Open MPI v4.1.4, ..." */
const char *xlm_comm_library(void);

void xlm_comm_broadcast(const xlm_comm *comm, int root, void *bytes, size_t size);
/* The same for bytes whose size only root knows. On the others *bytes is set to new memory (g_free). */
void xlm_comm_broadcast_bytes(const xlm_comm *comm, int root, void **bytes, size_t *size);
/* Bytes of rank `from` to rank 0 alone, where *bytes is set to new memory (g_free) and *size to their number. A rank that is
 * neither, or rank 0 when it is both, does nothing. So rank 0 takes the bytes of all ranks one after another, and has those of one
 * in memory. */
void xlm_comm_bytes_to_first(const xlm_comm *comm, int from, void **bytes, size_t *size);
/* Rank 0's text, or NULL, to all ranks. The other ranks' *text is freed and replaced; g_free. */
void xlm_comm_broadcast_text(const xlm_comm *comm, char **text);
/* All ranks' bytes one after another, in rank order, on every rank: *all is new memory (g_free), sizes[ranks] in bytes. */
void xlm_comm_gather_all(const xlm_comm *comm, const void *bytes, size_t size, void **all, size_t *sizes);

/* Each rank sends records to each: `send` has those for rank 0, then those for rank 1, ...; numbers[ranks] says how many of each,
 * below 2^31. What comes in is in the order of the senders in new memory (g_free), received[ranks] of each. size: bytes of a
 * record. */
void *xlm_comm_exchange(const xlm_comm *comm, const void *send, const int64_t *numbers, size_t size, int64_t *received);

void xlm_comm_sum_int64(const xlm_comm *comm, int64_t *values, int64_t n);
void xlm_comm_max_int64(const xlm_comm *comm, int64_t *values, int64_t n);
/* Sum of values over ranks in a fixed order of additions (rank 0 + rank 1 + ...): same bits on every rank and run. */
void xlm_comm_sum_double(const xlm_comm *comm, double *values, int64_t n);
/* The same for many values, in an order that MPI chooses: exact when at most one rank's value is not 0. */
void xlm_comm_merge_double(const xlm_comm *comm, double *values, int64_t n);
/* Sum over all lower ranks (0 on rank 0). */
int64_t xlm_comm_sum_below(const xlm_comm *comm, int64_t value);
/* Sum over the ranks of this node. */
int64_t xlm_comm_sum_node(const xlm_comm *comm, int64_t value);
/* The bits that any rank of this node has. */
void xlm_comm_or_node(const xlm_comm *comm, uint64_t *bits, int n);
/* Number the nodes in the order of their first ranks; `first` is that of this rank's node. Returns [ranks] the number of each
 * rank's node (g_free). [out] nodes. */
int *xlm_comm_number_nodes(const xlm_comm *comm, int first, int *nodes);
void xlm_comm_barrier(const xlm_comm *comm);

#endif
