/* xlm-mpi: arrays too large for the heap, in memory or in a scratch file. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An array that is read and written from its beginning to its end, again and again, may be larger than memory: in a scratch file
 * the system keeps as much of it in memory as there is room for. The file has no name, and goes with the process. */
#ifndef XLM_FILES_LARGE_ARRAY_H
#define XLM_FILES_LARGE_ARRAY_H

#include <stddef.h>

#include "base/error.h"

typedef struct xlm_large_array {
    void *data; /* zeros at first; NULL: none */
    size_t size; /* bytes */
    bool in_file;
} xlm_large_array;

/* scratch: a directory for the file; NULL for memory. Room on the disk is set aside at once. EX_OSERR when there is no more
 * memory, EX_CANTCREAT, EX_IOERR when the disk is full. Then *array is empty. */
bool xlm_large_array_make(xlm_large_array *array, size_t size, const char *scratch, GError **error);
/* Bytes [first, first + size) are not needed for a while: those of an array in a file may leave memory. */
void xlm_large_array_release(const xlm_large_array *array, size_t first, size_t size);
/* An empty array is allowed. */
void xlm_large_array_free(xlm_large_array *array);

#endif
