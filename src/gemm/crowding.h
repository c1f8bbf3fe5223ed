/* xlm-mpi: do threads have cores of their own? SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The threads of a rank wait for one another at the end of each operator. If one of them has to wait for a core because other
 * ranks or processes run there, all others wait for it. They sleep when the wait is long (see src/gemm/gemm.c), but two threads
 * on two busy cores are still slower than one. Fewer threads help.
 */
#ifndef XLM_GEMM_CROWDING_H
#define XLM_GEMM_CROWDING_H

#include "gemm/processors.h"

/* Number of processors that this process may run on, or fewer if a control group (a container) sets a quota. At least 1. */
int xlm_crowding_own_processors(void);
/* Number of processors that all ranks of this node together may run on, or fewer because of a quota. of_ranks: those of all of
 * them and of their parents (xlm_processors_with_parent). */
int xlm_crowding_node_processors(const xlm_processor_set *of_ranks);
/* Number of threads of other jobs that want one of the node's processors at this moment, besides the `own` threads of this job: the
 * minimum of several samples within a twentieth of a second. 0 if the system does not show it. */
int xlm_crowding_others(int own, int node_processors);

#endif
