/* xlm-mpi: memory and threads that the system does not give. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_BASE_EXHAUSTION_H
#define XLM_BASE_EXHAUSTION_H

#include <stddef.h>
#include <stdint.h>

/* From now on a program for which GLib gets no memory or no thread ends with a message and EX_OSERR instead of being aborted.
 * Other ranks are not involved: the launcher ends them. To be called once, before any communication; program: the name in the
 * message, borrowed. */
void xlm_exhaustion_watch(const char *program);

/* End the program in the same way, for `size` bytes that it did not get. */
_Noreturn void xlm_exhaustion_no_memory(size_t size, const char *purpose);

/* Bytes that this process may still map below its limit on address space (ulimit -v); UINT64_MAX without one. */
uint64_t xlm_address_space_left(void);

#endif
