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

/* Collective. How many of the processors that this job's threads run on others want, on the node where they want most; too_many:
 * threads of this node beyond its processors, negative where some are left to others. */
static int64_t wanted_by_others(const xlm_comm *comm, int64_t too_many)
{
    int64_t wanted = 0;
    /* While one rank of a node looks around, the others wait for it, which looks like work. */
    xlm_comm_barrier(comm);
    if (comm->local_rank == 0)
        wanted = too_many + xlm_crowding_others(comm->local_ranks);
    xlm_comm_max_int64(comm, &wanted, 1);
    return wanted;
}

void xlm_threads_settle(const xlm_comm *comm, xlm_hardware *hardware)
{
    enum { TOO_MANY, OWN, THREADS, ASKED_FOR, KINDS };
    const int64_t node_threads = xlm_comm_sum_node(comm, hardware->threads), own = xlm_crowding_own_processors();
    const int64_t too_many = node_threads - xlm_crowding_node_processors();
    int64_t max[KINDS] = {[TOO_MANY] = too_many, [OWN] = hardware->threads - own, [THREADS] = hardware->threads,
                          [ASKED_FOR] = !hardware->chosen}; /* by OMP_NUM_THREADS, which not every node may have */
    xlm_comm_max_int64(comm, max, KINDS);
    if (max[THREADS] == 1) {
        if (max[TOO_MANY] > 0)
            xlm_log_info("cores: the ranks of a node are %" G_GINT64_FORMAT " more than its processors; fewer ranks are faster",
                         max[TOO_MANY]);
        return;
    }
    int64_t wanted = 0;
    if (max[OWN] > 0)
        xlm_log_warn("a rank has more threads (%d) than processors it may run on (%" G_GINT64_FORMAT "), and they wait for one "
                     "another: start with mpiexec --bind-to none or --map-by socket, or set threads in the job",
                     hardware->threads, own);
    else if (max[TOO_MANY] > 0)
        xlm_log_warn("the ranks of a node have %" G_GINT64_FORMAT " more threads than it has processors, and wait for one "
                     "another: start fewer ranks, or set threads in the job", max[TOO_MANY]);
    else if ((wanted = wanted_by_others(comm, too_many)) > 0)
        xlm_log_warn("other processes want %" G_GINT64_FORMAT " of the processors that this job's threads run on; threads wait "
                     "for the slowest: where that lasts, set threads = 1 or fewer ranks, or OMP_WAIT_POLICY=passive", wanted);
    else
        return;
    if (max[ASKED_FOR] == 0)
        try_one(comm, hardware);
}
