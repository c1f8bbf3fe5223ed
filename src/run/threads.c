/* xlm-mpi: threads of a run, and the cores there are for them. SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/threads.h"

#include "base/log.h"
#include "gemm/crowding.h"

/* Use one thread per rank on all nodes if that is faster at this moment overall. */
static void try_one(const xlm_comm *comm, xlm_hardware *hardware)
{
    double rate[2];
    for (int one = 0; one < 2; one++) {
        xlm_comm_barrier(comm);
        rate[one] = xlm_hardware_rate(hardware, one ? 1 : hardware->threads);
    }
    xlm_comm_sum_double(comm, rate, 2);
    if (rate[1] <= rate[0])
        return;
    xlm_log_info("threads: 1 a rank instead of %d, since products give %.0f GFLOP/s with 1 and %.0f with %d beside what else "
                 "runs here; threads = %d in the job insists on more", hardware->threads, rate[1], rate[0], hardware->threads,
                 hardware->threads);
    xlm_hardware_set_threads(hardware, 1);
}

xlm_threads_trouble xlm_threads_find_trouble(const xlm_comm *comm, int threads, int own_processors, int node_processors,
                                             int (*others)(int own, int node_processors), int64_t *number)
{
    enum { TOO_MANY, OWN, THREADS, KINDS };
    const int64_t too_many = xlm_comm_sum_node(comm, threads) - node_processors;
    int64_t max[KINDS] = {[TOO_MANY] = too_many, [OWN] = threads - own_processors, [THREADS] = threads};
    xlm_comm_max_int64(comm, max, KINDS);
    if ((*number = max[OWN]) > 0)
        return XLM_THREADS_BOUND;
    if ((*number = max[TOO_MANY]) > 0)
        return XLM_THREADS_TOO_MANY;
    *number = 0;
    if (max[THREADS] == 1)
        return XLM_THREADS_FREE;
    /* While one rank of a node looks around, the others wait for it, which looks like work. */
    xlm_comm_barrier(comm);
    if (comm->local_rank == 0) /* others may have the processors that this job leaves free, as many as too_many is below 0 */
        *number = too_many + others(comm->local_ranks, node_processors);
    xlm_comm_max_int64(comm, number, 1);
    *number = MAX(*number, 0);
    return *number > 0 ? XLM_THREADS_OTHERS : XLM_THREADS_FREE;
}

static int node_processors(const xlm_comm *comm)
{
    xlm_processor_set set;
    xlm_processors_with_parent(&set);
    xlm_comm_or_node(comm, set.bits, XLM_PROCESSORS_WORDS);
    return xlm_crowding_node_processors(&set);
}

void xlm_threads_settle(const xlm_comm *comm, xlm_hardware *hardware)
{
    enum { THREADS, ASKED_FOR, KINDS };
    int64_t number, max[KINDS] = {[THREADS] = hardware->threads,
                                  [ASKED_FOR] = !hardware->chosen}; /* by OMP_NUM_THREADS, which not every node may have */
    xlm_comm_max_int64(comm, max, KINDS);
    switch (xlm_threads_find_trouble(comm, hardware->threads, xlm_crowding_own_processors(), node_processors(comm),
                                     xlm_crowding_others, &number)) {
    case XLM_THREADS_FREE:
        return;
    case XLM_THREADS_BOUND:
        xlm_log_warn("a rank has %" G_GINT64_FORMAT " more threads than processors that it may run on, and they wait for one another: "
                     "start with mpiexec --bind-to none or --map-by socket, or set threads in the job", number);
        break;
    case XLM_THREADS_TOO_MANY:
        if (max[THREADS] == 1) {
            xlm_log_info("cores: the ranks of a node are %" G_GINT64_FORMAT " more than its processors; fewer ranks are faster",
                         number);
            return;
        }
        xlm_log_warn("the ranks of a node have %" G_GINT64_FORMAT " more threads than it has processors, and wait for one "
                     "another: start fewer ranks, or set threads in the job", number);
        break;
    case XLM_THREADS_OTHERS:
        xlm_log_warn("other processes want %" G_GINT64_FORMAT " of the processors that this job's threads run on; threads wait "
                     "for the slowest: where that lasts, set threads = 1 or fewer ranks, or OMP_WAIT_POLICY=passive", number);
        break;
    }
    if (max[ASKED_FOR] == 0)
        try_one(comm, hardware);
}
