/* xlm-mpi: bytes of a file that is plain or gzip, by zlib. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Not by zlib's gzread: where a member of a file is followed by what is not one, it takes that for the end of the file. Half a
 * text would be lost without a word when the header of its second member is damaged, or plain text was appended. */
#ifndef XLM_TEXT_GZIP_H
#define XLM_TEXT_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct xlm_gzip xlm_gzip;

typedef enum {
    XLM_GZIP_GOOD,
    XLM_GZIP_UNREADABLE, /* errno */
    XLM_GZIP_CUT_SHORT,
    XLM_GZIP_DAMAGED,
    XLM_GZIP_FOLLOWED, /* by bytes that are not gzip; zeros, with which tapes are filled up, are none */
} xlm_gzip_state;

/* What `descriptor` gives from where it is. The descriptor is closed with the reader. */
xlm_gzip *xlm_gzip_new(int descriptor);
/* NULL is allowed. */
void xlm_gzip_close(xlm_gzip *gzip);

/* Is it not gzip? Then it is read as it is. */
bool xlm_gzip_is_plain(xlm_gzip *gzip);
/* Up to n >= 1 of the next bytes of the text; 0 at its end, and when it cannot be read further: [out] *state. */
size_t xlm_gzip_read(xlm_gzip *gzip, char *bytes, size_t n, xlm_gzip_state *state);
/* Go to a place in the text, or to its end if that is before: decompressed up to there, from the beginning to go back. False:
 * *state. */
bool xlm_gzip_seek(xlm_gzip *gzip, int64_t place, xlm_gzip_state *state);
/* Number of bytes of the text that were read, and of those of the file that they took. */
int64_t xlm_gzip_told(const xlm_gzip *gzip);
int64_t xlm_gzip_position(const xlm_gzip *gzip);

#endif
