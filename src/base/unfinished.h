/* xlm-mpi: files that are being written, which a signal removes. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file has a temporary name until it is complete: its path, XLM_UNFINISHED and six characters. This module keeps a list of
 * these names, so that a signal that ends the program removes the files first (base/signals.h). Only the main thread may use
 * it. */
#ifndef XLM_BASE_UNFINISHED_H
#define XLM_BASE_UNFINISHED_H

#include <stdbool.h>

#define XLM_UNFINISHED ".unfinished-"

/* Create a file for `path` under such a name with the permissions of a new file, and open it. flags: O_WRONLY or O_RDWR. [out]
 * *name: g_free. Returns the descriptor, or -1 with errno; then *name is NULL. */
int xlm_unfinished_make(const char *path, int flags, char **name);
/* The same for a directory. Files that are already finished in it are removed with it. On failure false with errno. */
bool xlm_unfinished_make_directory(const char *path, char **name);
/* Give it its final name and forget it. On failure false with errno; then it still has its temporary name. */
bool xlm_unfinished_rename(const char *name, const char *path);
/* Remove a file, or a directory that is empty, and forget it. */
void xlm_unfinished_remove(const char *name);

/* Remove everything that this process has not finished. Allowed in a signal handler that runs in the main thread. */
void xlm_unfinished_remove_all(void);

#endif
