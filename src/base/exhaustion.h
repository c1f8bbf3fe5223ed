/* xlm-mpi: the memory that is left, and the end without memory or threads. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_BASE_EXHAUSTION_H
#define XLM_BASE_EXHAUSTION_H

#include <stddef.h>
#include <stdint.h>

/* From now on, when GLib gets no memory or no thread, the program ends with a message and EX_OSERR instead of aborting. Other
 * ranks are not involved: the launcher ends them. Call it once, before any communication. program: the name in the message,
 * borrowed. */
void xlm_exhaustion_watch(const char *program);

/* End the program in the same way because `size` bytes could not be allocated. */
_Noreturn void xlm_exhaustion_no_memory(size_t size, const char *purpose);

/* Bytes that this process may still map before it reaches its limit on address space (ulimit -v); UINT64_MAX without a limit. */
uint64_t xlm_address_space_left(void);
/* Bytes that processes may still take: of this node, and of the control group of this process (a Slurm step, a container). What
 * the kernel would take back from files that it keeps in memory counts as left. UINT64_MAX when the system does not say. Processes
 * of one node may see different numbers. */
uint64_t xlm_memory_left(void);
/* The part of control groups in it: of a group such as "/a/b" and of those above it, each of which may set a limit, below the
 * directory `root` that they are mounted at; UINT64_MAX without a limit. */
uint64_t xlm_group_memory_left(const char *root, const char *group);
/* The same of all groups that a text as of /proc/self/cgroup names: those of version 2 are mounted at `root`, and those that limit
 * memory in version 1 at its directory `memory`. */
uint64_t xlm_groups_memory_left(const char *root, const char *groups);
/* Bytes of memory that this process has now; 0 when the system does not say. */
uint64_t xlm_memory_resident(void);

#endif
