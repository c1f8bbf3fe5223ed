/* xlm-mpi: directories that get their names when they are complete. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_FOREIGN_NEW_DIRECTORY_H
#define XLM_FOREIGN_NEW_DIRECTORY_H

#include "base/error.h"

/* Let write(data, directory) write files into a directory beside `output`, and rename it at the end; after an error nothing is
 * left, and messages name the final directory. output: must not exist yet, or be empty. EX_CANTCREAT, and what `write` says. */
bool xlm_new_directory_write(const char *output, bool (*write)(void *data, const char *directory, GError **error), void *data,
                             GError **error);

#endif
