/* xlm-mpi: which threads have to wait for one another or for others. SPDX-License-Identifier: GPL-3.0-or-later */
#include "check.h"
#include "run/threads.h"

static int asked, busy; /* how often others were asked for, and how many there are on each node */

static int some_others(int own, int node_processors)
{
    (void)own;
    (void)node_processors;
    asked++;
    return busy;
}

/* The trouble of ranks with that many threads each, and its number. */
static xlm_threads_trouble find(const xlm_comm *comm, int threads, int own_processors, int node_processors, int64_t *number)
{
    asked = 0;
    return xlm_threads_find_trouble(comm, threads, own_processors, node_processors, some_others, number);
}

int main(int argc, char **argv)
{
    xlm_comm opened;
    xlm_comm_open(&opened, "threads_test", &argc, &argv);
    const xlm_comm *const comm = &opened;
    const int ranks = comm->local_ranks, last = comm->rank == comm->ranks - 1;
    const int64_t first_of_node = comm->local_rank == 0;
    int64_t number = -1;
    /* Ranks of one thread: nobody looks for others, however many there are. */
    busy = 100;
    CHECK(find(comm, 1, 1, ranks, &number) == XLM_THREADS_FREE && number == 0 && asked == 0);
    CHECK(find(comm, 1, 1, ranks + 3, &number) == XLM_THREADS_FREE && number == 0 && asked == 0);
    CHECK(find(comm, 1, 1, MAX(ranks - 1, 1), &number) == (ranks > 1 ? XLM_THREADS_TOO_MANY : XLM_THREADS_FREE));
    CHECK(number == (ranks > 1) && asked == 0);
    /* Several threads on all processors: each of the others is one that threads wait for. */
    CHECK(find(comm, 2, 2, 2 * ranks, &number) == XLM_THREADS_OTHERS && number == 100 && asked == first_of_node);
    /* Processors that are left to others are theirs. */
    busy = 3;
    CHECK(find(comm, 2, 2, 2 * ranks + 3, &number) == XLM_THREADS_FREE && number == 0 && asked == first_of_node);
    CHECK(find(comm, 2, 2, 2 * ranks + 1, &number) == XLM_THREADS_OTHERS && number == 2);
    busy = 0;
    CHECK(find(comm, 2, 2, 2 * ranks, &number) == XLM_THREADS_FREE && number == 0);
    /* Every rank hears of what one rank has: here the last one, with threads that the others do not have. */
    CHECK(find(comm, last ? 4 : 1, last ? 1 : 4, 4 * ranks, &number) == XLM_THREADS_BOUND && number == 3 && asked == 0);
    CHECK(find(comm, last ? 4 : 1, 4, ranks + 2, &number) == XLM_THREADS_TOO_MANY && number == 1 && asked == 0);
    busy = 1;
    CHECK(find(comm, last ? 4 : 1, 4, ranks + 3, &number) == XLM_THREADS_OTHERS && number == 1 && asked == first_of_node);

    /* Nodes of two ranks, of which the last one has no processor to spare and the others have: what one has does not help another. */
    xlm_comm nodes = *comm;
    MPI_Comm_split(comm->mpi, comm->rank / 2, comm->rank, &nodes.node);
    MPI_Comm_rank(nodes.node, &nodes.local_rank);
    MPI_Comm_size(nodes.node, &nodes.local_ranks);
    const int spare = comm->rank / 2 == (comm->ranks - 1) / 2 ? 0 : 50;
    busy = 3;
    CHECK(find(&nodes, 1, 1, nodes.local_ranks - 1 + spare, &number) == XLM_THREADS_TOO_MANY && number == 1 && asked == 0);
    CHECK(find(&nodes, 2, 2, 2 * nodes.local_ranks + spare, &number) == XLM_THREADS_OTHERS && number == 3);
    CHECK(asked == (nodes.local_rank == 0));
    MPI_Comm_free(&nodes.node);

    int64_t all = failures;
    xlm_comm_sum_int64(comm, &all, 1);
    return xlm_comm_close(&opened, NULL) != 0 || all > 0;
}
