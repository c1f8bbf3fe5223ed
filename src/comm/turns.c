/* xlm-mpi: work that the ranks of a node take as they become free. SPDX-License-Identifier: GPL-3.0-or-later */
#include "comm/turns.h"

#include <stdatomic.h>

struct xlm_turns {
    int64_t pieces, *piece; /* of this node */
    MPI_Win window;         /* MPI_WIN_NULL: this rank is alone on its node */
    atomic_llong alone, *taken;
};

/* Each piece goes to the node that has the least to do for each of its ranks; this node's are kept. */
static void deal(xlm_turns *t, const xlm_comm *comm, int64_t n, const int64_t *cost)
{
    int nodes, first = comm->rank;
    MPI_Bcast(&first, 1, MPI_INT, 0, comm->node);
    g_autofree int *node_of = xlm_comm_number_nodes(comm, first, &nodes);
    g_autofree int *ranks = g_new0(int, nodes);
    for (int r = 0; r < comm->ranks; r++)
        ranks[node_of[r]]++;
    g_autofree double *load = g_new0(double, nodes);
    for (int64_t i = 0; i < n; i++) {
        int least = 0;
        for (int k = 1; k < nodes; k++)
            if (load[k] < load[least])
                least = k;
        load[least] += (double)cost[i] / ranks[least];
        if (least == node_of[comm->rank])
            t->piece[t->pieces++] = i;
    }
}

xlm_turns *xlm_turns_open(const xlm_comm *comm, int64_t n, const int64_t *cost)
{
    xlm_turns *t = g_new0(xlm_turns, 1);
    t->piece = g_new(int64_t, MAX(n, 1));
    t->window = MPI_WIN_NULL;
    t->taken = &t->alone;
    deal(t, comm, n, cost);
    if (comm->local_ranks > 1) {
        MPI_Aint size;
        int unit;
        MPI_Win_allocate_shared(comm->local_rank == 0 ? sizeof *t->taken : 0, sizeof *t->taken, MPI_INFO_NULL, comm->node,
                                &t->taken, &t->window);
        MPI_Win_shared_query(t->window, 0, &size, &unit, &t->taken);
    }
    if (comm->local_rank == 0)
        atomic_init(t->taken, 0);
    MPI_Barrier(comm->node); /* nobody takes before it is 0 */
    return t;
}

int64_t xlm_turns_next(xlm_turns *t)
{
    const int64_t k = atomic_fetch_add(t->taken, 1);
    return k < t->pieces ? t->piece[k] : -1;
}

void xlm_turns_close(xlm_turns *t)
{
    if (t->window != MPI_WIN_NULL)
        MPI_Win_free(&t->window); /* waits for the others */
    g_free(t->piece);
    g_free(t);
}
