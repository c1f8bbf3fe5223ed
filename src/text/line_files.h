/* xlm-mpi: text files that appear all together or not at all. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files whose lines belong together (line i of one is the translation of line i of the other) are worth nothing one
 * without the other. They grow in memory and are written at the end, under other names first. */
#ifndef XLM_TEXT_LINE_FILES_H
#define XLM_TEXT_LINE_FILES_H

#include <stdint.h>

#include "base/error.h"

typedef struct xlm_line_file {
    char *name; /* inside the directory */
    GString *text;
    int64_t lines;
    int64_t words; /* between spaces */
} xlm_line_file;

/* Array of xlm_line_file. g_ptr_array_unref. */
GPtrArray *xlm_line_files_new(void);
/* A file without lines yet. Takes the name (g_free). Borrowed. */
xlm_line_file *xlm_line_files_add(GPtrArray *files, char *name);
/* [in] line: normalised (normalise.h), so without a line end. */
void xlm_line_file_append(xlm_line_file *file, const char *line);

/* Write all files into a directory, which is made if need be, instead of files of the same names. Signals that end the
 * program wait until this is done. On failure files of these names are as they were before, unless it is the very last
 * step that fails, the renaming: then none is left. Errors: EX_CANTCREAT, EX_IOERR. */
bool xlm_line_files_write(const GPtrArray *files, const char *directory, GError **error);

#endif
