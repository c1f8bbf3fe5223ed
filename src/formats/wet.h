/* xlm-mpi: text of web pages in WET, as Common Crawl has it. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file is a list of WARC records (ISO 28500): a line `WARC/1.0`, headers, a blank line, as many bytes as the header
 * Content-Length says, and two blank lines. The lines in records of the type conversion are text. */
#ifndef XLM_FORMATS_WET_H
#define XLM_FORMATS_WET_H

#include "text/lines.h"

typedef struct xlm_wet {
    xlm_lines *lines; /* borrowed */
    enum { XLM_WET_BETWEEN, XLM_WET_HEADERS, XLM_WET_CONTENT } place;
    int64_t record;   /* number of the present record, from 1 */
    int64_t left;     /* bytes of its content that are still to come; -1: not known yet */
    bool typed, text; /* its type is known; it is conversion */
} xlm_wet;

/* Begin a file of which nothing has been read. */
void xlm_wet_begin(xlm_wet *wet, xlm_lines *lines);
/* The next line of the file. [out] *text: *size bytes, empty if the line is not text. Returns 1, 0 at the end of the file, or -1
 * with *error: those of xlm_lines_next, or EX_DATAERR with file and line: no record where one must begin, a header without a
 * colon, a record without a type or a length, a length that is no number or does not end with a line, a record that is cut short. */
int xlm_wet_next(xlm_wet *wet, const char **text, size_t *size, GError **error);

#endif
