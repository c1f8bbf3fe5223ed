/* xlm-mpi: large arrays on large pages. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_BASE_PAGES_H
#define XLM_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* Allocate size bytes at an address divisible by 64, not cleared, on pages of 2 MiB where the system has them: matrix products
 * walk down columns, and with pages of 4 KiB every row of a wide matrix is on another page. free() it. Never NULL: without memory
 * the program ends with a message that says what it was for ("the parameters"). */
void *xlm_pages_take(size_t size, const char *purpose);

/* keep true: child processes that this process forks do not get a copy of this array of xlm_pages_take(), and must not touch it;
 * so writing to it does not copy its pages while a child has a copy of the other memory (checkpoint/snapshot.h). keep false: they
 * get a copy again; call this before the array is freed. Does nothing for arrays of less than 64 MiB, whose pages malloc() may
 * use again. */
void xlm_pages_keep_from_children(void *taken, size_t size, bool keep);

/* Part of such memory is not needed for now: its contents are lost, and its whole pages go back to the system until they are
 * touched again. */
void xlm_pages_release(void *part, size_t size);

#endif
