/* xlm-mpi: names of files that a program will write, checked before it starts its work. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_FILES_PATH_H
#define XLM_FILES_PATH_H

#include "base/error.h"

/* Do both names lead to the same file? Neither needs to exist. */
bool xlm_path_same_file(const char *a, const char *b);
/* Can a regular file be created under this name, or replace an older one? EX_CANTCREAT. */
bool xlm_path_check_output(const char *path, GError **error);
/* Check that each of outputs[n] can be created and is the same file as none of inputs[m] and no other output. Elements may be
 * NULL. EX_USAGE, EX_CANTCREAT. */
bool xlm_path_check_outputs(const char *const *outputs, size_t n, const char *const *inputs, size_t m, GError **error);
/* Can files be created in this directory? what: the file to be created, with which the message begins. EX_CANTCREAT. */
bool xlm_path_check_directory(const char *directory, const char *what, GError **error);

#endif
