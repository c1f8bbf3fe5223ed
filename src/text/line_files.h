/* xlm-mpi: text files that appear all together or not at all. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files whose lines belong together (line i of one is the translation of line i of the other) are useless without one another.
 * They grow in memory and are written at the end, first under temporary names. */
#ifndef XLM_TEXT_LINE_FILES_H
#define XLM_TEXT_LINE_FILES_H

#include <stdint.h>

#include "base/error.h"

typedef struct xlm_line_file {
    char *name; /* inside the directory */
    GString *text;
    int64_t lines;
    int64_t words; /* separated by spaces */
} xlm_line_file;

/* Array of xlm_line_file. g_ptr_array_unref. */
GPtrArray *xlm_line_files_new(void);
/* Add a file without lines, and return it; the array owns it. Takes ownership of name. */
xlm_line_file *xlm_line_files_add(GPtrArray *files, char *name);
/* Append a line. [in] line: normalised (normalise.h), so it has no line end. */
void xlm_line_file_append(xlm_line_file *file, const char *line);

/* Write all files into a directory, which is created if necessary. They replace files of the same names. Signals that end the
 * program wait until this is done. On failure, files of these names are as they were before; only if the last step fails, the
 * renaming, none of them is left. Errors: EX_CANTCREAT, EX_IOERR, EX_USAGE (xlm_files_check_output). */
bool xlm_line_files_write(const GPtrArray *files, const char *directory, GError **error);

#endif
