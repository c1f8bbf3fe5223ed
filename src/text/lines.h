/* xlm-mpi: text files, plain or compressed, read line by line. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Programs read all text with these functions: sentences, labelled words, dictionaries, weights. Lines end with LF or CR LF, and
 * a file may begin with a byte order mark (U+FEFF in UTF-8). Neither is part of the lines that callers get, so a file from
 * Windows is the same text as one without them. A byte order mark anywhere else, where such files were joined, is a character of
 * its line: xlm_normaliser_run (text/normalise.h), which cleans lines and checks that they are UTF-8, removes it, and readers of
 * stricter forms refuse the line.
 *
 * A file may be compressed with gzip, xz, bzip2, zstd, lz4, lzip or compress, and a text may be in an archive of zip, tar
 * (compressed or not) or 7-Zip: ARCHIVE/MEMBER, as if the archive were a directory.
 *
 *   xlm_lines_open -> { xlm_lines_next | xlm_lines_skip | xlm_lines_seek } ... -> xlm_lines_close */
#ifndef XLM_TEXT_LINES_H
#define XLM_TEXT_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct xlm_lines xlm_lines;

/* Maximum number of bytes of a line, so that a file without line ends is detected before it fills the memory. */
enum { XLM_LINES_LONGEST = 1 << 24 };

/* Open a file. Its contents decide whether it is compressed, whatever its name is. EX_NOINPUT when it does not exist, cannot be
 * read or is not a regular file; EX_DATAERR when it is named .gz but is not gzip, and when it is an HDF5 file; EX_USAGE when the
 * program writes it. That it is an archive of which no member is named, or named .xz but is not xz, is found by the first function
 * that reads: EX_DATAERR. */
xlm_lines *xlm_lines_open(const char *path, GError **error);
/* The same for a copy of a file: messages call it `name`. */
xlm_lines *xlm_lines_open_as(const char *path, const char *name, GError **error);
/* The same for a file that is known to be plain text, even if it begins as compressed files do. EX_NOINPUT, EX_USAGE. */
xlm_lines *xlm_lines_open_plain(const char *path, const char *name, GError **error);
/* The path of standard input in messages. */
#define XLM_LINES_INPUT "standard input"
/* The same for standard input, plain or gzip, which may be a pipe, once per process. Its path is XLM_LINES_INPUT. */
xlm_lines *xlm_lines_open_input(GError **error);
/* NULL is allowed. */
void xlm_lines_close(xlm_lines *lines);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xlm_lines, xlm_lines_close)

/* Is it a plain file, which is neither compressed nor in an archive? 1, 0, or -1 with *error, as xlm_lines_next. To be called
 * before the first line is read. */
int xlm_lines_is_plain(xlm_lines *lines, GError **error);
/* Return lines as they are in the file, with CR and byte order mark, but without LF. To be called before the first line is
 * read. */
void xlm_lines_keep_bytes(xlm_lines *lines);

/* The next line, without its line end. [out] *text: *length bytes, not terminated, valid until the next call. Returns 1, 0 at
 * the end of the file, or -1 with *error: EX_DATAERR for damaged compressed data or a line that is too long, EX_IOERR. */
int xlm_lines_next(xlm_lines *lines, const char **text, size_t *length, GError **error);
/* For files that are not divided into lines: up to n >= 1 of the next bytes as they are, without a byte order mark at the
 * beginning of the file. They are not counted as lines. Returns how many there were, 0 at the end of the file, or -1 as above. */
int64_t xlm_lines_bytes(xlm_lines *lines, char *bytes, size_t n, GError **error);
/* Skip up to n lines. Returns how many there were, or -1 with *error. */
int64_t xlm_lines_skip(xlm_lines *lines, int64_t n, GError **error);

/* Where the next line begins: bytes from the beginning of the text, which is the uncompressed text of a compressed file. */
int64_t xlm_lines_offset(const xlm_lines *lines);
/* Go to the line for which xlm_lines_offset() returned `offset` when `number` lines had been read; offset 0 and number 0 lead to
 * the first line. This is fast in a plain file; a compressed file is decompressed up to the line, from the beginning if it goes back.
 * Not for standard input. If the file has become shorter than `offset`, its end is reached. EX_IOERR. */
bool xlm_lines_seek(xlm_lines *lines, int64_t offset, int64_t number, GError **error);

/* Is the line that was last returned text, which is UTF-8 without a byte 0? Else EX_DATAERR, with file and line. */
bool xlm_lines_check_text(const xlm_lines *lines, const char *text, size_t length, GError **error);

/* Called with each line, which is 0-terminated and may be changed; returns false with *error to stop reading. */
typedef bool xlm_lines_take(void *data, const xlm_lines *lines, char *line, GError **error);
/* Call `take` for all lines of a file, each of which must be text. Errors of xlm_lines_open, xlm_lines_next, xlm_lines_check_text
 * and take. */
bool xlm_lines_each(const char *path, xlm_lines_take *take, void *data, GError **error);

/* For texts that are not read by xlm_lines: the size of the byte order mark at the beginning of text[size], 3 or 0; and the size
 * without its CR of a line that is given without its LF. */
size_t xlm_lines_mark(const char *text, size_t size);
size_t xlm_lines_end(const char *line, size_t size);

/* A character that separates the fields of a line. */
static inline bool xlm_is_blank(char c) { return c == ' ' || c == '\t'; }

/* Did the line that was last returned end with LF? False only for the last line of a file. */
bool xlm_lines_terminated(const xlm_lines *lines);
const char *xlm_lines_path(const xlm_lines *lines);
/* Number of the line last returned or skipped, from 1; at the end of the file, the number of lines. */
int64_t xlm_lines_number(const xlm_lines *lines);
/* Set an error of the line last read: EX_DATAERR with file and line before the message. Returns false. */
#define XLM_LINES_REFUSE(lines, error, ...) xlm_error_at(error, xlm_lines_path(lines), xlm_lines_number(lines), __VA_ARGS__)
/* Number of bytes read from the file so far (compressed bytes of a compressed file), for progress reports. */
int64_t xlm_lines_position(const xlm_lines *lines);

#endif
