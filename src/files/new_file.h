/* xlm-mpi: a file that gets its name when it is complete. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * It is written under a temporary name beside its own and renamed at the end: a file that has its final name is complete, and an
 * older file of that name stays until then. HDF5 files are written in the same way (store/store.h).
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

/* Create a file with the usual permissions of a new file; calls xlm_new_file_heed_limit(). EX_CANTCREAT, EX_USAGE (errors of
 * xlm_files_check_output); then there is nothing to discard. */
bool xlm_new_file_create(xlm_new_file *file, const char *path, GError **error);
/* Bring all data to the disk and give the file its name. EX_IOERR, also when an earlier write has failed; EX_CANTCREAT. *file is
 * cleared, also on failure, when the unfinished file is removed. */
bool xlm_new_file_commit(xlm_new_file *file, GError **error);
/* The text becomes the contents of a file of the program's own, which it may have read: xlm_files_check_output is the caller's.
 * EX_CANTCREAT, EX_IOERR. */
bool xlm_new_file_replace(const char *path, const char *text, GError **error);
/* Remove the unfinished file, and clear *file. */
void xlm_new_file_discard(xlm_new_file *file);

/* fsync, also when signals interrupt it. Returns 0 or an errno. */
int xlm_new_file_sync(int descriptor);
/* Make sure that the name of a file, a link or a directory is on the disk, in the directory that it is in. Returns 0 or an errno;
 * also 0 where this cannot be asked for: in a directory that may be written to but not read, and by file systems without it. */
int xlm_new_file_sync_name(const char *path);

/* From now on, exceeding a limit on file sizes (ulimit -f) makes writing fail instead of ending the program. */
void xlm_new_file_heed_limit(void);
/* Set an error for a system call on a file that has failed, with the reason and advice. what: "cannot be written"; number: errno.
 * EX_CANTCREAT if no file can be created in this place, else EX_IOERR. Returns false. */
bool xlm_new_file_failed(const char *path, const char *what, int number, GError **error);
/* The same on a rank that cannot open the file that rank 0 has made: names this host, since rank 0 prints the message. */
bool xlm_new_file_unseen(const char *path, int number, GError **error);

#endif
