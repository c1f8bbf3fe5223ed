/* xlm-mpi: arrays too large for the heap, in memory or in a scratch file. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An array that is read and written repeatedly from its beginning to its end may be larger than memory: it is mapped from a
 * scratch file, of which the system keeps as much in memory as there is room for. The file has no name and disappears when the
 * process ends. */
#ifndef XLM_FILES_LARGE_ARRAY_H
#define XLM_FILES_LARGE_ARRAY_H

#include <stddef.h>

#include "base/error.h"

typedef struct xlm_large_array {
    void *data; /* initially zeros; NULL for an empty array */
    size_t size; /* bytes */
    bool in_file;
} xlm_large_array;

/* Make an array of `size` bytes. scratch: the directory for a scratch file, for which room on the disk is reserved at once; NULL:
 * no file, but memory. EX_OSERR when there is not enough memory, EX_CANTCREAT, EX_IOERR when the disk is full. On failure *array
 * is empty. */
bool xlm_large_array_make(xlm_large_array *array, size_t size, const char *scratch, GError **error);
/* Bytes [first, first + size) will not be needed for a while, so those of an array in a file may leave memory. */
void xlm_large_array_release(const xlm_large_array *array, size_t first, size_t size);
/* An empty array is allowed. */
void xlm_large_array_free(xlm_large_array *array);

#endif
