/* xlm-mpi: a file that has its name when it is whole. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * It is written under another name beside its own and renamed at the end: a file that has its final name is complete, and one
 * that was there before stays until then. HDF5 files do the same (store/store.h).
 *
 *   xlm_new_file_create -> write to its stream, or its descriptor -> xlm_new_file_commit | xlm_new_file_discard */
#ifndef XLM_FILES_NEW_FILE_H
#define XLM_FILES_NEW_FILE_H

#include <stdio.h>

#include "base/error.h"
#include "base/unfinished.h"

typedef struct xlm_new_file {
    char *path, *unfinished;
    FILE *stream;
} xlm_new_file;

/* With the rights that a new file has; xlm_new_file_heed_limit() is called. EX_CANTCREAT; then there is nothing to discard. */
bool xlm_new_file_create(xlm_new_file *file, const char *path, GError **error);
/* Bring all to the disk and give the file its name. EX_IOERR: also when something was not written before. The file is gone
 * afterwards, also on failure, when nothing is left on disk. */
bool xlm_new_file_commit(xlm_new_file *file, GError **error);
/* Remove what was written. */
void xlm_new_file_discard(xlm_new_file *file);

/* From here on a limit on file sizes (ulimit -f) is an error of what is written, not the end of the program. */
void xlm_new_file_heed_limit(void);
/* The error of a system call on a file, what: "cannot be written": why, and what to do. EX_CANTCREAT for a place where no file
 * can be made, EX_IOERR. Returns false. */
bool xlm_new_file_failed(const char *path, const char *what, int number, GError **error);

#endif
