/* xlm-mpi: files that are being written, and what a signal does to them. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whatever is written has another name until it is whole: its path, XLM_UNFINISHED and six characters. These names are noted
 * here, so that a signal that ends the program removes them first (base/signals.h). By the main thread alone. */
#ifndef XLM_BASE_UNFINISHED_H
#define XLM_BASE_UNFINISHED_H

#include <stdbool.h>

#define XLM_UNFINISHED ".unfinished-"

/* Make a file for `path` under such a name, with the rights that a new file has, open as flags say (O_WRONLY or O_RDWR).
 * [out] *name: g_free. Returns the descriptor, or -1 with errno; then *name is NULL. */
int xlm_unfinished_make(const char *path, int flags, char **name);
/* The same for a directory. Files that are finished in it are removed with it. False with errno. */
bool xlm_unfinished_make_directory(const char *path, char **name);
/* Give it its final name and forget it. False with errno; then it still has its old name. */
bool xlm_unfinished_rename(const char *name, const char *path);
/* Remove a file, or a directory that is empty, and forget it. */
void xlm_unfinished_remove(const char *name);

/* What this process has not finished is removed. Allowed in the handler of a signal, in the main thread. */
void xlm_unfinished_remove_all(void);

#endif
