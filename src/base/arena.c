/* xlm-mpi: an arena: blocks of memory that are released all at once. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/arena.h"

#include <glib.h>
#include <stdlib.h>

#include "base/pages.h"

enum { ALIGNMENT = 64, FIRST_BLOCK = 1 << 20 };

typedef struct block {
    struct block *below; /* older block */
    size_t size, used;
    char *bytes;
} block;

struct xlm_arena {
    block *top;
    size_t in_use, peak;
    size_t counted; /* of in_use, without memory */
};

static block *add_block(block *below, size_t size)
{
    block *b = g_new0(block, 1);
    b->bytes = xlm_pages_take(size, "a step; lower the batch or the sequence length");
    xlm_pages_keep_from_children(b->bytes, size, true);
    b->below = below;
    b->size = size;
    return b;
}

static void free_blocks(block *b)
{
    while (b != NULL) {
        block *below = b->below;
        xlm_pages_keep_from_children(b->bytes, b->size, false);
        free(b->bytes);
        g_free(b);
        b = below;
    }
}

xlm_arena *xlm_arena_new(void) { return g_new0(xlm_arena, 1); }

void xlm_arena_free(xlm_arena *arena)
{
    if (arena != NULL)
        free_blocks(arena->top);
    g_free(arena);
}

static size_t aligned(size_t size) { return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static void use(xlm_arena *arena, size_t size)
{
    arena->in_use += size;
    arena->peak = MAX(arena->peak, arena->in_use);
}

void *xlm_arena_take(xlm_arena *arena, size_t size)
{
    size = aligned(size);
    if (arena->top == NULL || arena->top->size - arena->top->used < size) {
        /* Grow by half of what is in use, so that few blocks are made before the first reset joins them. */
        size_t wanted = MAX(MAX(size, (size_t)FIRST_BLOCK), (arena->in_use - arena->counted) / 2);
        arena->top = add_block(arena->top, aligned(wanted));
    }
    void *taken = arena->top->bytes + arena->top->used;
    arena->top->used += size;
    use(arena, size);
    return taken;
}

void *xlm_arena_count(xlm_arena *arena, size_t size)
{
    void *nowhere = (char *)XLM_NOWHERE + arena->in_use;
    arena->counted += aligned(size);
    use(arena, aligned(size));
    return nowhere;
}

void xlm_arena_reserve(xlm_arena *arena, size_t size)
{
    if (arena->top == NULL)
        arena->top = add_block(NULL, aligned(size));
}

void xlm_arena_reset(xlm_arena *arena)
{
    if (arena->top != NULL && arena->top->below != NULL) {
        /* Free the old blocks first: together with the new one they could need twice the memory of the step. Room beyond the peak
         * is not touched, so it takes no memory until a slightly larger step needs it; that step need not touch all pages for the
         * first time again. */
        free_blocks(arena->top);
        const size_t held = arena->in_use - arena->counted; /* more than before, otherwise there would be one block */
        arena->top = add_block(NULL, held + held / 8);
    }
    if (arena->top != NULL)
        arena->top->used = 0;
    arena->in_use = arena->counted = 0;
}

size_t xlm_arena_peak(const xlm_arena *arena) { return arena->peak; }
