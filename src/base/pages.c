/* xlm-mpi: large arrays on large pages. SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* madvise */
#include "base/pages.h"

#include <glib.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/exhaustion.h"

static const size_t LINE = 64, LARGE = (size_t)2 << 20;

void *xlm_pages_take(size_t size, const char *purpose)
{
    const size_t alignment = size >= LARGE ? LARGE : LINE;
    void *taken = NULL;
    if (posix_memalign(&taken, alignment, MAX(size, LINE)) != 0)
        xlm_exhaustion_no_memory(size, purpose);
#ifdef MADV_HUGEPAGE
    /* Ask for whole large pages only, or the last one would be allocated in full for the sake of its first bytes. A system that
     * cannot do this returns an error and leaves the pages as they are. */
    if (size >= LARGE)
        (void)madvise(taken, size / LARGE * LARGE, MADV_HUGEPAGE);
#endif
    return taken;
}

void xlm_pages_release(void *part, size_t size)
{
#ifdef MADV_DONTNEED
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (page - (uintptr_t)part % page) % page;
    if (size > before)
        (void)madvise((char *)part + before, (size - before) / page * page, MADV_DONTNEED);
#else
    (void)part;
    (void)size;
#endif
}

void xlm_pages_keep_from_children(void *taken, size_t size, bool keep)
{
#ifdef MADV_DONTFORK
    static const size_t OWN_MAPPING = (size_t)64 << 20; /* malloc() maps and unmaps an array of 32 MiB or more by itself */
    if (size >= OWN_MAPPING)
        (void)madvise(taken, size / LARGE * LARGE, keep ? MADV_DONTFORK : MADV_DOFORK);
#else
    (void)taken;
    (void)size;
    (void)keep;
#endif
}
