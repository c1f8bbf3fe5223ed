/* xlm-mpi: text files a line at a time, plain or gzip. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The reader of all text that the programs take: sentences, labelled words, dictionaries, weights. Lines end with LF or CR LF,
 * and a file may begin with a byte order mark (U+FEFF in UTF-8): readers of one form or another see neither, so that a file from
 * Windows is the same text as one without. A mark anywhere else, as where such files were joined, is a character of its line:
 * xlm_normaliser_run (text/normalise.h), which makes clean text of lines and checks that they are UTF-8, drops it; readers of
 * stricter forms refuse the line.
 *
 *   xlm_lines_open -> { xlm_lines_next | xlm_lines_skip | xlm_lines_seek } ... -> xlm_lines_close */
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
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xlm_lines, xlm_lines_close)

/* Give lines as they are in the file but for the LF: with CR and byte order mark. To be called before the first is read. */
void xlm_lines_keep_bytes(xlm_lines *lines);

/* The next line, without its line end. [out] *text: *length bytes, not terminated, valid until the next call. Returns 1, 0 at
 * the end of the file, or -1 with *error: EX_DATAERR for damaged gzip data or a line too long, EX_IOERR. */
int xlm_lines_next(xlm_lines *lines, const char **text, size_t *length, GError **error);
/* For files whose lines mean nothing: up to n of the next bytes as they are, but for the byte order mark that the file begins
 * with. They count as no lines. Returns how many there were, 0 at the end of the file, or -1 as above. n >= 3. */
int64_t xlm_lines_bytes(xlm_lines *lines, char *bytes, size_t n, GError **error);
/* Pass over up to n lines. Returns how many there were, or -1 with *error. */
int64_t xlm_lines_skip(xlm_lines *lines, int64_t n, GError **error);

/* Where the next line begins: bytes of text, uncompressed for gzip. */
int64_t xlm_lines_offset(const xlm_lines *lines);
/* Go to a line whose place was asked for with xlm_lines_offset() when `number` lines were read; offset 0 and number 0 lead back
 * to the first. At once in a plain file; a gzip file is decompressed up to there, from its beginning to go back. Not for standard
 * input. A file that has become shorter ends there. EX_IOERR. */
bool xlm_lines_seek(xlm_lines *lines, int64_t offset, int64_t number, GError **error);

/* Is the line last returned text, UTF-8 without a byte 0? Else EX_DATAERR, with file and line. */
bool xlm_lines_check_text(const xlm_lines *lines, const char *text, size_t length, GError **error);

/* What is made of a line of text, terminated by 0 and its own to change; false with *error ends the reading. */
typedef bool xlm_lines_take(void *data, const xlm_lines *lines, char *line, GError **error);
/* Give all lines of a file to `take`, each of which must be text: xlm_lines_open, xlm_lines_check_text. */
bool xlm_lines_each(const char *path, xlm_lines_take *take, void *data, GError **error);

/* For texts that are not read by xlm_lines: bytes of the byte order mark that a file of these bytes begins with, 3 or 0; and the
 * size of a line, given without its LF, without its CR. */
size_t xlm_lines_mark(const char *text, size_t size);
size_t xlm_lines_end(const char *line, size_t size);

/* Between the fields of a line. */
static inline bool xlm_is_blank(char c) { return c == ' ' || c == '\t'; }

/* False when the line last returned is the last of the file and has no LF. */
bool xlm_lines_terminated(const xlm_lines *lines);
const char *xlm_lines_path(const xlm_lines *lines);
/* Number of the line last returned or skipped, from 1; at the end of the file, the number of lines. */
int64_t xlm_lines_number(const xlm_lines *lines);
/* Bytes read from the file so far (compressed bytes for gzip): for progress. */
int64_t xlm_lines_position(const xlm_lines *lines);

#endif
