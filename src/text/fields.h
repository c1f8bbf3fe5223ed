/* xlm-mpi: files whose lines are fields between spaces. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * This is the form of code files and vocabulary files: lines end with LF or CR LF, fields are separated by spaces, and the last
 * field is a count. */
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
    size_t left;  /* number of bytes from `at` on */
    int64_t line; /* number of the line last read, from 1 */
} xlm_fields;

/* Maximum number of bytes of a line. Words come from lines of text of at most half this length (XLM_LINE_MAX), and tables of
 * strings take strings of up to XLM_STRING_MAX bytes. */
enum { XLM_FIELDS_LONGEST = 1 << 27 };

/* Begin to read text[size]; name: for messages. Both are borrowed. */
xlm_fields xlm_fields_begin(const char *name, const char *text, size_t size);

/* Read a line of n >= 1 fields, the last of which is a whole number. [out] field: [n], in the text; count: the last field.
 * Returns 1, 0 at the end, or -1 with EX_DATAERR, file and line; form: what a line should be, for the message. */
int xlm_fields_next(xlm_fields *fields, int n, const char *form, xlm_field *field, int64_t *count, GError **error);

/* For files of other forms: the fields of a 0-terminated line, which are separated by tabs or, if it has no tab, by spaces.
 * Blanks around a field are removed. keep_empty: keep empty fields between tabs. g_strfreev. */
char **xlm_fields_split(const char *line, bool keep_empty);

/* Read a whole file of text. [out] size: its bytes. EX_NOINPUT when it cannot be read, EX_DATAERR when it is an HDF5 file.
 * g_free. */
char *xlm_fields_load(const char *path, size_t *size, GError **error);
/* Write a file as xlm_new_file_create and xlm_new_file_commit do, with their errors. Frees text. */
bool xlm_fields_write(const char *path, GString *text, GError **error);

/* Has a word neither white space (xlm_is_white_space) nor control characters, so that readers of files whose fields are separated
 * by blanks find it again? */
bool xlm_fields_is_word(const char *word);
/* Append a word that such readers find: each byte of its white space and control characters is written as "<0x0A>". */
void xlm_fields_append_word(GString *text, const char *word, size_t size);

/* Append a field to a line of csv, in quotation marks if it needs them. */
void xlm_fields_append_csv(GString *csv, const char *field);

#endif
