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
/* size bytes at an address divisible by 64, not cleared, valid until the next reset. Never NULL: the program ends with
 * a message when the machine has no more memory. */
void *xlm_arena_take(xlm_arena *arena, size_t size);
/* As xlm_arena_take, but without memory: an address that cannot be read or written, and that nothing else has until the next
 * reset. It is in the peak. */
void *xlm_arena_count(xlm_arena *arena, size_t size);
/* Before anything is taken: room for size bytes in one block. Pages that are never used take no memory. */
void xlm_arena_reserve(xlm_arena *arena, size_t size);
/* Give everything back; the pages stay with the arena, joined into one block if there were several. */
void xlm_arena_reset(xlm_arena *arena);
/* Most bytes ever in use between two resets, counted ones among them. */
size_t xlm_arena_peak(const xlm_arena *arena);

/* Where no memory is, on any machine with addresses of 48 or 57 bits: the first address that is counted. */
#define XLM_NOWHERE ((void *)(uintptr_t)UINT64_C(0x4200000000000000))

#define XLM_TAKE(arena, type, n) ((type *)xlm_arena_take((arena), sizeof(type) * (size_t)(n)))

#endif
