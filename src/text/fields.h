/* xlm-mpi: files whose lines are fields between spaces. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The form of codes and vocabulary files: LF or CR LF at line ends, fields between spaces, the last one a count. */
#ifndef XLM_TEXT_FIELDS_H
#define XLM_TEXT_FIELDS_H

#include <stdint.h>

#include "base/error.h"

typedef struct xlm_field {
    const char *text;
    size_t size;
} xlm_field;

typedef struct xlm_fields {
    const char *name, *at;
    size_t left;  /* bytes from `at` on */
    int64_t line; /* the one last read, from 1 */
} xlm_fields;

/* Longest line taken, bytes. Words come from lines of text of at most half of that (XLM_LINE_MAX), and tables of strings take no
 * more than XLM_STRING_MAX. */
enum { XLM_FIELDS_LONGEST = 1 << 27 };

/* Begin to read text[size]; name: for messages. Both are borrowed. */
xlm_fields xlm_fields_begin(const char *name, const char *text, size_t size);

/* Read a line of `n` fields, the last of which is a whole number. Returns 1, 0 at the end, or -1 with *error
 * (EX_DATAERR: file, line, and that a line should have the form `form`). */
int xlm_fields_next(xlm_fields *fields, int n, const char *form, xlm_field *field, int64_t *count, GError **error);

/* For files of other forms: the fields of a line, 0-terminated, between its tabs, or between blanks where it has none; without
 * blanks around them. Empty ones between tabs stay when keep_empty. g_strfreev. */
char **xlm_fields_split(const char *line, bool keep_empty);

/* The whole of a file. EX_NOINPUT when it cannot be read. g_free. */
char *xlm_fields_load(const char *path, size_t *size, GError **error);
/* Write the text under another name and rename it. EX_CANTCREAT when that fails. Frees text. */
bool xlm_fields_write(const char *path, GString *text, GError **error);

/* Append a field of csv, in quotes where it has to be. */
void xlm_fields_append_csv(GString *csv, const char *field);

#endif
