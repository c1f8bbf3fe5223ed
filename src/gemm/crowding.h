/* xlm-mpi: do threads have cores of their own? SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The threads of a rank wait for one another at the end of each operator. Where one of them has to wait for a core, because other
 * ranks or other processes run there, all others have to wait for it: they sleep when that lasts (src/gemm/gemm.c says what was
 * done for it), but two threads on two busy cores are still slower than one. Fewer threads help.
 */
#ifndef XLM_GEMM_CROWDING_H
#define XLM_GEMM_CROWDING_H

/* Processors that this process may run on, or fewer where a control group (a container) sets a quota. At least 1. */
int xlm_crowding_own_processors(void);
/* Those that all ranks of this node together may run on: the launcher's, which deals them out. */
int xlm_crowding_node_processors(void);
/* Threads of others that want one of these processors at this moment, beside `own` of this job: the least of some looks within a
 * twentieth of a second. 0 where the system does not show it. */
int xlm_crowding_others(int own);

#endif
