/* xlm-mpi: work that the ranks of a node take as they become free. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pieces of work, the largest first, of which only a rough cost is known before they are done: each node gets a fixed share of
 * them by that cost, and its ranks take the next piece of the share from a counter in memory that they share. Between nodes there
 * is no counter: a rank of another node would have to answer in the middle of its own work. */
#ifndef XLM_COMM_TURNS_H
#define XLM_COMM_TURNS_H

#include "comm/comm.h"

typedef struct xlm_turns xlm_turns;

/* Collective. cost: [n] of the pieces, the same on all ranks. */
xlm_turns *xlm_turns_open(const xlm_comm *comm, int64_t n, const int64_t *cost);
/* The number of a piece that no rank has taken yet, in rising order on each rank; −1 when none is left for this node. Not
 * collective. */
int64_t xlm_turns_next(xlm_turns *turns);
/* Collective, after each rank has got −1. */
void xlm_turns_close(xlm_turns *turns);

#endif
