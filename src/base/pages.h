/* xlm-mpi: large arrays on large pages. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_BASE_PAGES_H
#define XLM_BASE_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* size bytes at an address divisible by 64, not cleared, on pages of 2 MiB as far as the system has them to give: matrix
 * products walk down columns, and on pages of 4 KiB every row of a wide matrix is another page. free() it. Never NULL: the
 * program ends with a message that says what the memory was for ("the parameters"). */
void *xlm_pages_take(size_t size, const char *purpose);

/* keep: leave an array of xlm_pages_take() out of processes that this one forks, which must not touch it; else no more, as it
 * should be before it is freed. A child that has a copy of other memory (checkpoint/snapshot.h) then costs none of the copying that
 * writing to this array would mean. Arrays of less than 64 MiB, whose pages malloc() may use again, always stay as they are. */
void xlm_pages_keep_from_children(void *taken, size_t size, bool keep);

#endif
