/* xlm-mpi: text files a line at a time, plain or gzip. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The reader of all text that the programs take, one sentence a line. It gives lines as they stand in the file;
 * xlm_normaliser_run (text/normalise.h) makes clean text of them and checks that they are UTF-8.
 *
 *   xlm_lines_open -> { xlm_lines_next | xlm_lines_skip } ... -> xlm_lines_close */
#ifndef XLM_TEXT_LINES_H
#define XLM_TEXT_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct xlm_lines xlm_lines;

/* Longest line taken, bytes: a file without line ends is found before it fills the memory. */
enum { XLM_LINES_LONGEST = 1 << 24 };

/* EX_NOINPUT when there is no such file, it cannot be read or is not a regular file; EX_DATAERR when its name says
 * gzip (.gz) and its content does not. A gzip file is known by its content, whatever its name. */
xlm_lines *xlm_lines_open(const char *path, GError **error);
/* The same from standard input, which may be a pipe; only once. Its path is "standard input". */
xlm_lines *xlm_lines_open_input(GError **error);
/* NULL is allowed. */
void xlm_lines_close(xlm_lines *lines);

/* The next line, without its LF. [out] *text: *length bytes, not terminated, valid until the next call. Returns 1, 0 at
 * the end of the file, or -1 with *error: EX_DATAERR for damaged gzip data or a line too long, EX_IOERR. */
int xlm_lines_next(xlm_lines *lines, const char **text, size_t *length, GError **error);
/* Pass over up to n lines. Returns how many there were, or -1 with *error. */
int64_t xlm_lines_skip(xlm_lines *lines, int64_t n, GError **error);

/* False when the line last returned is the last of the file and has no LF. */
bool xlm_lines_terminated(const xlm_lines *lines);
const char *xlm_lines_path(const xlm_lines *lines);
/* Number of the line last returned or skipped, from 1; at the end of the file, the number of lines. */
int64_t xlm_lines_number(const xlm_lines *lines);
/* Bytes read from the file so far (compressed bytes for gzip): for progress. */
int64_t xlm_lines_position(const xlm_lines *lines);

#endif
