/* xlm-mpi: where the text is in the lines of a file. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file is given as one of
 *   FILE                 each line is text
 *   lines:FILE           the same, whatever it looks like
 *   jsonl:FIELD:FILE     each line is a JSON object, and the text is its member FIELD, a string; null or no member is no text
 *   tsv:COLUMN:FILE      each line has fields between tabs, and the text is field COLUMN, from 1; a line without any field is no
 *                        text
 *   tmx:LANG:FILE        a translation memory, and the text is that in LANG of each unit (formats/tmx.h)
 *   wet:FILE             records of WARC, of which the lines of web pages are text (formats/wet.h)
 * The last two are first made into files of lines, one for each unit, or for each line of the WET file, that is empty where there
 * is no text. Without `lines:`, a file that begins as a known format with more than text in it is refused: JSON, XML (TMX,
 * XLIFF), WARC (WET), CoNLL-U, UTF-16 and UTF-32, and fields between tabs in a file named .tsv, plain or compressed. */
#ifndef XLM_FORMATS_LINE_FORM_H
#define XLM_FORMATS_LINE_FORM_H

#include "text/lines.h"

typedef enum { XLM_FORM_TEXT, XLM_FORM_LINES, XLM_FORM_JSON, XLM_FORM_FIELDS, XLM_FORM_TMX, XLM_FORM_WET } xlm_line_form_kind;

typedef struct xlm_line_form {
    xlm_line_form_kind kind;
    char *field;    /* FIELD, COLUMN or LANG, or NULL */
    int64_t column; /* COLUMN */
} xlm_line_form;

/* Take the form from what was given. [out] form: xlm_line_form_clear; path: FILE, part of `given`. EX_USAGE if a part is missing or
 * COLUMN is no number of at least 1. */
bool xlm_line_form_parse(const char *given, xlm_line_form *form, const char **path, GError **error);
void xlm_line_form_clear(xlm_line_form *form);

/* Is the first line that of a format which is refused? EX_DATAERR, with the form to give instead. */
bool xlm_line_form_check(const xlm_line_form *form, const xlm_lines *lines, const char *line, size_t length, GError **error);
/* The text of a line that xlm_lines_next has given. [out] text: [*size], part of the line, or of `storage`, which the caller
 * provides; it may have line ends if it is a member of JSON. EX_DATAERR, with file and line: not JSON, no string, too few
 * fields; then the text is the whole line. */
bool xlm_line_form_text(const xlm_line_form *form, const xlm_lines *lines, const char *line, size_t length, GString *storage,
                        const char **text, size_t *size, GError **error);

#endif
