/* xlm-mpi: names of files that a program is to write, checked before it works. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_FILES_PATH_H
#define XLM_FILES_PATH_H

#include "base/error.h"

/* True when both names lead to the same file; one or both need not exist. */
bool xlm_path_same_file(const char *a, const char *b);
/* Can a regular file be made under this name, or replace the one that has it? EX_CANTCREAT. */
bool xlm_path_check_output(const char *path, GError **error);
/* For files that a program is to write, outputs[n], and those that it reads, inputs[m], NULL for none: can each output be made,
 * and has it the name of no input and of no other output? EX_USAGE, EX_CANTCREAT. */
bool xlm_path_check_outputs(const char *const *outputs, size_t n, const char *const *inputs, size_t m, GError **error);
/* Can files be made in this directory? what: what they are for the sake of, which begins the message. EX_CANTCREAT. */
bool xlm_path_check_directory(const char *directory, const char *what, GError **error);

#endif
