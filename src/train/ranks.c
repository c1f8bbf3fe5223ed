/* xlm-mpi: what all ranks of a program must do alike before they compute. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/ranks.h"

void xlm_ranks_open_hardware(const xlm_comm *comm, int threads, xlm_hardware *hardware)
{
    int64_t two_units = xlm_hardware_two_units();
    xlm_comm_max_int64(comm, &two_units, 1); /* a rank that is disturbed may miss one */
    xlm_hardware_open(hardware, threads, comm->local_ranks, two_units != 0);
}
