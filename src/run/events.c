/* xlm-mpi: event files that TensorBoard shows. SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/events.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files/files.h"

static const char PREFIX[] = "events.out.tfevents.";

struct xlm_events {
    char *path;
    FILE *file;
    int64_t step;        /* of the values that are not written yet */
    GByteArray *summary; /* their message Summary */
};

/* ---- records ---- */

/* CRC-32C, the CRC with Castagnoli's polynomial, reflected: 0x82f63b78. zlib has only that of Ethernet. */
static uint32_t crc32c(const uint8_t *bytes, size_t n)
{
    static uint32_t table[256];
    if (table[1] == 0)
        for (uint32_t i = 0; i < 256; i++) {
            table[i] = i;
            for (int bit = 0; bit < 8; bit++)
                table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82f63b78 : 0);
        }
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < n; i++)
        crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 0xff];
    return ~crc;
}

/* A CRC of bytes that have CRCs in them says less; so those in the file are masked. */
static uint32_t masked_crc(const uint8_t *bytes, size_t n)
{
    const uint32_t crc = crc32c(bytes, n);
    return (crc >> 15 | crc << 17) + 0xa282ead8;
}

static void append_little_endian(GByteArray *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        const uint8_t byte = (uint8_t)(value >> 8 * i);
        g_byte_array_append(out, &byte, 1);
    }
}

static void write_record(xlm_events *events, const GByteArray *message)
{
    g_autoptr(GByteArray) record = g_byte_array_new();
    append_little_endian(record, message->len, 8);
    append_little_endian(record, masked_crc(record->data, 8), 4);
    g_byte_array_append(record, message->data, message->len);
    append_little_endian(record, masked_crc(message->data, message->len), 4);
    fwrite(record->data, 1, record->len, events->file);
}

/* ---- messages ---- */

/* How the value of a field is encoded: in groups of 7 bits; 8 bytes; a length and bytes; 4 bytes. */
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

static void append_varint(GByteArray *out, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        append_little_endian(out, (value & 0x7f) | 0x80, 1);
    append_little_endian(out, value, 1);
}

static void append_key(GByteArray *out, int field, int encoding) { append_varint(out, (uint64_t)(field << 3 | encoding)); }

static void append_bytes(GByteArray *out, int field, const void *bytes, size_t n)
{
    append_key(out, field, BYTES);
    append_varint(out, n);
    g_byte_array_append(out, bytes, (guint)n);
}

/* The beginning of a message Event. */
static GByteArray *begin_event(int64_t step)
{
    GByteArray *event = g_byte_array_new();
    const double now = (double)g_get_real_time() * 1e-6;
    uint64_t bits;
    memcpy(&bits, &now, sizeof bits);
    append_key(event, 1, FIXED64);
    append_little_endian(event, bits, 8);
    append_key(event, 2, VARINT);
    append_varint(event, (uint64_t)step);
    return event;
}

void xlm_events_add(xlm_events *events, int64_t step, const char *tag, double value)
{
    g_autoptr(GByteArray) message = g_byte_array_new();
    const float simple = (float)value;
    uint32_t bits;
    if (step != events->step)
        xlm_events_flush(events);
    events->step = step;
    memcpy(&bits, &simple, sizeof bits);
    append_bytes(message, 1, tag, strlen(tag));
    append_key(message, 2, FIXED32);
    append_little_endian(message, bits, 4);
    append_bytes(events->summary, 1, message->data, message->len);
}

bool xlm_events_flush(xlm_events *events)
{
    if (events->summary->len > 0) {
        g_autoptr(GByteArray) event = begin_event(events->step);
        append_bytes(event, 5, events->summary->data, events->summary->len);
        write_record(events, event);
        g_byte_array_set_size(events->summary, 0);
    }
    return fflush(events->file) == 0 && !ferror(events->file);
}

/* ---- files ---- */

/* The time in the name of a new file: now, or later than that of all files that are there, so that it is read after them. */
static int64_t time_of_name(const char *directory, bool *others)
{
    int64_t time = g_get_real_time() / G_USEC_PER_SEC;
    const char *entry;
    g_autoptr(GDir) folder = g_dir_open(directory, 0, NULL);
    *others = false;
    while (folder != NULL && (entry = g_dir_read_name(folder)) != NULL) {
        if (!g_str_has_prefix(entry, PREFIX))
            continue;
        *others = true;
        const int64_t other = g_ascii_strtoll(entry + strlen(PREFIX), NULL, 10);
        if (other >= time && other < G_MAXINT64)
            time = other + 1;
    }
    return time;
}

static bool write_first_records(xlm_events *events, int64_t first_step)
{
    static const char version[] = "brain.Event:2";
    static const uint8_t start[] = {1 << 3 | VARINT, 1};
    g_autoptr(GByteArray) first = begin_event(0), second = begin_event(first_step);
    append_bytes(first, 3, version, strlen(version));
    append_bytes(second, 7, start, sizeof start);
    write_record(events, first);
    write_record(events, second);
    return xlm_events_flush(events);
}

xlm_events *xlm_events_open(const char *directory, int64_t first_step, bool *others, GError **error)
{
    bool there;
    if (g_mkdir_with_parents(directory, 0777) != 0) {
        xlm_error_set(error, EX_CANTCREAT, "%s: cannot be made: %s", directory, g_strerror(errno));
        return NULL;
    }
    xlm_events *events = g_new0(xlm_events, 1);
    g_autofree char *name = g_strdup_printf("%s%010" G_GINT64_FORMAT ".%s.%d", PREFIX, time_of_name(directory, &there),
                                            g_get_host_name(), (int)getpid());
    events->path = g_build_filename(directory, name, NULL);
    events->summary = g_byte_array_new();
    if (others != NULL)
        *others = there;
    if (xlm_files_check_output(events->path, false, error)) {
        events->file = fopen(events->path, "wbx");
        if (events->file != NULL && write_first_records(events, first_step))
            return events;
        xlm_error_set(error, EX_CANTCREAT, "%s: cannot be written: %s", events->path, g_strerror(errno));
        if (events->file != NULL)
            g_unlink(events->path);
    }
    xlm_events_close(events);
    return NULL;
}

void xlm_events_close(xlm_events *events)
{
    if (events == NULL)
        return;
    if (events->file != NULL)
        fclose(events->file);
    g_byte_array_unref(events->summary);
    g_free(events->path);
    g_free(events);
}

const char *xlm_events_path(const xlm_events *events) { return events->path; }
