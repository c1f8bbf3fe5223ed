/* xlm-mpi: an arena: blocks of memory that are released all at once. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The memory of a training step lives in one arena: the first step grows it, later steps reuse the same pages. */
#ifndef XLM_BASE_ARENA_H
#define XLM_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct xlm_arena xlm_arena;

xlm_arena *xlm_arena_new(void);
void xlm_arena_free(xlm_arena *arena);
/* size bytes at an address divisible by 64, not cleared, valid until the next reset. Never NULL: when the machine has no more
 * memory, the program ends with a message. */
void *xlm_arena_take(xlm_arena *arena, size_t size);
/* Like xlm_arena_take, but takes no memory: returns an address that cannot be read or written, and that nothing else gets until
 * the next reset. Its bytes count towards the peak. */
void *xlm_arena_count(xlm_arena *arena, size_t size);
/* Make room for size bytes in one block. Call it before anything is taken. Pages that are never used take no memory. */
void xlm_arena_reserve(xlm_arena *arena, size_t size);
/* Release everything. The arena keeps the pages, joined into one block if there were several. */
void xlm_arena_reset(xlm_arena *arena);
/* Maximum number of bytes ever in use between two resets, including those that were only counted. */
size_t xlm_arena_peak(const xlm_arena *arena);

/* The first address of bytes that are only counted. No machine with addresses of 48 or 57 bits has memory there. */
#define XLM_NOWHERE ((void *)(uintptr_t)UINT64_C(0x4200000000000000))

#define XLM_TAKE(arena, type, n) ((type *)xlm_arena_take((arena), sizeof(type) * (size_t)(n)))

#endif
