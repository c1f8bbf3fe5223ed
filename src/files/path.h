/* xlm-mpi: names of files that a program will write, checked before it starts its work. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_FILES_PATH_H
#define XLM_FILES_PATH_H

#include <stdint.h>

#include "base/error.h"

/* Do both names lead to the same file? Neither needs to exist. */
bool xlm_path_same_file(const char *a, const char *b);
/* What a link leads to now, through further links; NULL: it is no link. Links of its directory stay, as they may be of this node.
 * g_free. */
char *xlm_path_target(const char *path);
/* Can a regular file be created under this name, or replace an older one? EX_CANTCREAT. */
bool xlm_path_check_output(const char *path, GError **error);
/* Check that each of outputs[n] can be created and is the same file as none of inputs[m] and no other output. Elements may be
 * NULL. EX_USAGE, EX_CANTCREAT. */
bool xlm_path_check_outputs(const char *const *outputs, size_t n, const char *const *inputs, size_t m, GError **error);
/* Can files be created in this directory? what: the file to be created, with which the message begins. EX_CANTCREAT. */
bool xlm_path_check_directory(const char *directory, const char *what, GError **error);

/* Names of all that a directory has, in no order; none if it does not exist. g_strfreev. NULL with EX_NOPERM or EX_NOINPUT if it
 * cannot be listed, or not to its end: then nothing is known of it. */
char **xlm_path_list(const char *directory, GError **error);

/* A path of a file, or of a member of an archive, ARCHIVE/MEMBER. [out] file: the file on disk, g_free. Returns the member's name,
 * a part of path; NULL: the path is that of a file, or of nothing that is there. */
const char *xlm_path_member(const char *path, char **file);
/* Size of the file, or of the archive that it is in; 0 if it is no regular file. */
int64_t xlm_path_bytes(const char *path);

#endif
