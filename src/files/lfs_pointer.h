/* xlm-mpi: what git leaves of a large file where git-lfs is missing. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Models are published in repositories whose large files git-lfs fetches. Without it a clone has three lines of text under each
 * of their names, which say where the file is. */
#ifndef XLM_FILES_LFS_POINTER_H
#define XLM_FILES_LFS_POINTER_H

#include "base/error.h"

/* The first bytes of a file; path: for the message. EX_DATAERR when they are such a text. */
bool xlm_lfs_pointer_refuse(const char *path, const char *bytes, size_t size, GError **error);

#endif
