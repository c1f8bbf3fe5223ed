/* xlm-mpi: bytes of a file that is plain or gzip, by zlib. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/gzip.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { BLOCK = 1 << 17, GZIP_WINDOW = 15 + 16 /* for zlib: the largest window, and a header of gzip */ };

struct xlm_gzip {
    int descriptor;
    int64_t start, told, taken; /* where the text begins in the file; bytes of text; bytes of the file */
    bool known, plain;          /* it was looked at what the file is */
    bool inside;                /* a member of gzip */
    bool again;                 /* a member was read */
    xlm_gzip_state state;
    int number; /* errno of XLM_GZIP_UNREADABLE */
    z_stream stream;
    unsigned char in[BLOCK];
};

xlm_gzip *xlm_gzip_new(int descriptor)
{
    xlm_gzip *gzip = g_new0(xlm_gzip, 1);
    gzip->descriptor = descriptor;
    gzip->start = MAX(lseek(descriptor, 0, SEEK_CUR), 0);
    return gzip;
}

void xlm_gzip_close(xlm_gzip *gzip)
{
    if (gzip == NULL)
        return;
    if (gzip->known && !gzip->plain)
        inflateEnd(&gzip->stream);
    close(gzip->descriptor);
    g_free(gzip);
}

static ssize_t take(xlm_gzip *gzip, void *bytes, size_t n)
{
    ssize_t got;
    do
        got = read(gzip->descriptor, bytes, n);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        gzip->state = XLM_GZIP_UNREADABLE;
        gzip->number = errno;
    }
    gzip->taken += MAX(got, 0);
    return MAX(got, 0);
}

/* Read behind the bytes that were not yet used. False: there are no more. */
static bool fill(xlm_gzip *gzip)
{
    if (gzip->stream.avail_in > 0)
        memmove(gzip->in, gzip->stream.next_in, gzip->stream.avail_in);
    gzip->stream.next_in = gzip->in;
    const ssize_t got = take(gzip, gzip->in + gzip->stream.avail_in, sizeof gzip->in - gzip->stream.avail_in);
    gzip->stream.avail_in += (uInt)got;
    return got > 0;
}

static void look(xlm_gzip *gzip)
{
    if (gzip->known)
        return;
    gzip->known = true;
    while (gzip->stream.avail_in < 2 && fill(gzip))
        continue;
    gzip->plain = gzip->stream.avail_in < 2 || gzip->in[0] != 0x1f || gzip->in[1] != 0x8b;
    if (!gzip->plain && inflateInit2(&gzip->stream, GZIP_WINDOW) != Z_OK) {
        gzip->state = XLM_GZIP_UNREADABLE;
        gzip->number = ENOMEM;
    }
}

bool xlm_gzip_is_plain(xlm_gzip *gzip)
{
    look(gzip);
    return gzip->plain;
}

static size_t read_plain(xlm_gzip *gzip, char *bytes, size_t n)
{
    const size_t seen = MIN(n, gzip->stream.avail_in);
    if (seen == 0)
        return (size_t)take(gzip, bytes, n);
    memcpy(bytes, gzip->stream.next_in, seen);
    gzip->stream.next_in += seen;
    gzip->stream.avail_in -= (uInt)seen;
    return seen;
}

/* Go to where the next member begins. */
static void begin_member(xlm_gzip *gzip)
{
    z_stream *stream = &gzip->stream;
    while (gzip->again && stream->avail_in > 0 && *stream->next_in == 0) {
        stream->next_in++;
        stream->avail_in--;
    }
    if (stream->avail_in == 0)
        return;
    if (*stream->next_in != 0x1f)
        gzip->state = XLM_GZIP_FOLLOWED;
    else
        gzip->inside = gzip->again = inflateReset(stream) == Z_OK;
}

static size_t read_members(xlm_gzip *gzip, char *bytes, size_t n)
{
    z_stream *stream = &gzip->stream;
    stream->next_out = (unsigned char *)bytes;
    stream->avail_out = (uInt)MIN(n, G_MAXINT);
    const size_t room = stream->avail_out;
    while (stream->avail_out > 0 && gzip->state == XLM_GZIP_GOOD) {
        if (stream->avail_in == 0 && !fill(gzip)) {
            if (gzip->inside && gzip->state == XLM_GZIP_GOOD)
                gzip->state = XLM_GZIP_CUT_SHORT;
            break;
        }
        if (!gzip->inside) {
            begin_member(gzip);
            continue;
        }
        const int code = inflate(stream, Z_NO_FLUSH);
        if (code == Z_STREAM_END)
            gzip->inside = false;
        else if (code != Z_OK && code != Z_BUF_ERROR)
            gzip->state = XLM_GZIP_DAMAGED;
    }
    return room - stream->avail_out;
}

size_t xlm_gzip_read(xlm_gzip *gzip, char *bytes, size_t n, xlm_gzip_state *state)
{
    look(gzip);
    const size_t got = gzip->state != XLM_GZIP_GOOD ? 0 : (gzip->plain ? read_plain : read_members)(gzip, bytes, n);
    gzip->told += (int64_t)got;
    *state = got > 0 ? XLM_GZIP_GOOD : gzip->state; /* what is wrong is said after the bytes before it */
    if (*state == XLM_GZIP_UNREADABLE)
        errno = gzip->number;
    return got;
}

bool xlm_gzip_seek(xlm_gzip *gzip, int64_t place, xlm_gzip_state *state)
{
    look(gzip);
    if (gzip->plain || place < gzip->told) {
        const int64_t to = gzip->plain ? place : 0;
        *state = XLM_GZIP_UNREADABLE;
        if (lseek(gzip->descriptor, gzip->start + to, SEEK_SET) < 0)
            return false;
        gzip->told = gzip->taken = to;
        gzip->stream.avail_in = 0;
        gzip->inside = gzip->again = false;
        gzip->state = XLM_GZIP_GOOD;
    }
    char skipped[1 << 14];
    size_t got = 1;
    while (gzip->told < place && got > 0)
        got = xlm_gzip_read(gzip, skipped, (size_t)MIN((int64_t)sizeof skipped, place - gzip->told), state);
    *state = gzip->told < place ? gzip->state : XLM_GZIP_GOOD;
    return *state == XLM_GZIP_GOOD;
}

int64_t xlm_gzip_told(const xlm_gzip *gzip) { return gzip->told; }
int64_t xlm_gzip_position(const xlm_gzip *gzip) { return gzip->taken - (int64_t)gzip->stream.avail_in; }
