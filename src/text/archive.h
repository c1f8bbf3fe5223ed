/* xlm-mpi: compressed files and files in archives, by libarchive. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file's first bytes say what it is. Files of xz, bzip2, zstd, lz4, lzip and compress hold one text; archives of zip, tar
 * (compressed or not) and 7-Zip hold several, and a text is named ARCHIVE/MEMBER, as if the archive were a directory. gzip is not
 * here: zlib, which compares the checksum of what it has decompressed, reads it (text/gzip.h), also for libarchive where it has
 * archives in it. */
#ifndef XLM_TEXT_ARCHIVE_H
#define XLM_TEXT_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct xlm_archive_kind {
    const char *name;   /* "xz" */
    const char *suffix; /* ".xz" */
    const char *reader; /* the command that decompresses it to standard output; NULL for an archive of several files */
} xlm_archive_kind;

/* What begins with these bytes; NULL: none of these kinds. Up to XLM_ARCHIVE_SEEN bytes matter. */
enum { XLM_ARCHIVE_SEEN = 512 };
const xlm_archive_kind *xlm_archive_kind_of(const char *bytes, size_t n);
/* The kind that a name claims by its suffix; NULL: none. */
const xlm_archive_kind *xlm_archive_kind_claimed(const char *path);

/* A name without the suffix of these kinds or of gzip: "text.en" of "text.en.xz" and of "text.en". g_free. */
char *xlm_archive_plain_name(const char *path);

typedef struct xlm_archive xlm_archive;

/* Open a compressed file, or a file in an archive, which messages call `name`. member: its name in the archive; NULL: the file is
 * compressed. EX_NOINPUT if it cannot be opened, or the archive has no such member, with the names that it has; EX_DATAERR if it
 * is damaged, or an archive and no member is named. */
xlm_archive *xlm_archive_open(const char *path, const char *name, const char *member, GError **error);
/* Does libarchive know how the file is compressed? If not, it takes the bytes for the text. */
bool xlm_archive_decompresses(const xlm_archive *archive);
/* Sets EX_DATAERR with the names of the files in an archive that was given where a text is read; or says why it cannot be read.
 * Returns false. */
bool xlm_archive_refuse(const char *path, const xlm_archive_kind *kind, GError **error);
/* NULL is allowed. */
void xlm_archive_close(xlm_archive *archive);

/* Up to n of the next bytes of the text; 0 at its end, -1 with *error: EX_DATAERR if it is damaged or cut short, EX_IOERR. */
int64_t xlm_archive_read(xlm_archive *archive, char *bytes, size_t n, GError **error);
/* Number of bytes of the text that were read. */
int64_t xlm_archive_told(const xlm_archive *archive);
/* Go to a place in the text, or to its end if that is before: decompressed up to there, from the beginning to go back. */
bool xlm_archive_seek(xlm_archive *archive, int64_t place, GError **error);
/* Number of bytes read from the file so far. */
int64_t xlm_archive_position(const xlm_archive *archive);

#endif
