/* xlm-mpi: files of JSON, plain or gzip. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files are read whole, by Jansson: RFC 8259 in UTF-8, with or without a byte order mark. An object that has a key twice is
 * refused, and so are strings with a character 0, and values that are nested deeper than Jansson reads (2,048). */
#ifndef XLM_FORMATS_JSON_FILE_H
#define XLM_FORMATS_JSON_FILE_H

#include <jansson.h>

#include "base/error.h"

/* json_decref. Errors of xlm_lines_open; EX_DATAERR with file, line and column if it is not JSON. */
json_t *xlm_json_read(const char *path, GError **error);

/* The line, from 1, on which a value of a file begins, for messages; the file is read again. place: members and elements from the
 * root on, "data[0].paragraphs[3].id". 0 if there is no such value, a key on the way is written with escapes, or the file
 * cannot be read. */
int64_t xlm_json_line(const char *path, const char *place);

/* Is it a whole number? Also one with a fraction of zeros, as spreadsheets and data frames write them: 4.0. */
bool xlm_json_whole(const json_t *value, int64_t *number);
/* What a value is, for messages: "an object", "a string", ...; NULL: "missing". */
const char *xlm_json_kind(const json_t *value);

#endif
