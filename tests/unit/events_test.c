/* xlm-mpi: tests of event files for TensorBoard. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The files are read by a decoder that shares nothing with the writer: its CRC goes bit by bit through the polynomial. With
 * arguments it decodes these files in their order, for other tests: a line "step<tab>name<tab>value" for each value, and
 * "step<tab>start" where earlier values from that step on are dropped. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files_fixture.h"
#include "run/events.h"

/* ---- the decoder: every surprise ends the program ---- */

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "not a file of events: %s\n", what);
    exit(65);
}

/* CRC-32C by division by x^32 + x^28 + x^27 + x^26 + x^25 + x^23 + x^22 + x^20 + x^19 + x^18 + x^14 + x^13 + x^11 + x^10 + x^9 +
 * x^8 + x^6 + 1, bits of each byte from the lowest on. */
static uint32_t crc_by_division(const uint8_t *bytes, size_t n)
{
    uint32_t remainder = UINT32_MAX;
    for (size_t i = 0; i < 8 * n; i++) {
        const uint32_t out = remainder >> 31, in = bytes[i / 8] >> i % 8 & 1;
        remainder <<= 1;
        if (out != in)
            remainder ^= 0x1edc6f41;
    }
    uint32_t reflected = 0;
    for (int i = 0; i < 32; i++)
        reflected |= (remainder >> i & 1) << (31 - i);
    return ~reflected;
}

static uint64_t number(const uint8_t *bytes, int n)
{
    uint64_t value = 0;
    for (int i = n; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

static bool has_crc(const uint8_t *bytes, size_t n, const uint8_t *masked)
{
    const uint32_t rotated = (uint32_t)number(masked, 4) - 0xa282ead8;
    return (rotated << 15 | rotated >> 17) == crc_by_division(bytes, n);
}

/* The next field of a message. [out] value: a number, or the length of the bytes at *at. */
static int next_field(const uint8_t **at, const uint8_t *end, int *encoding, uint64_t *value)
{
    uint64_t key[2] = {0, 0};
    for (int part = 0; part < 2; part++) {
        int shift = 0;
        do {
            must(*at < end && shift < 64, "a message is cut short");
            key[part] |= (uint64_t)(**at & 0x7f) << shift;
            shift += 7;
        } while (*(*at)++ & 0x80);
        const int n = (key[0] & 7) == 1 ? 8 : (key[0] & 7) == 5 ? 4 : 0;
        if (part == 0 && n > 0) {
            must(end - *at >= n, "a number is cut short");
            key[1] = number(*at, n);
            *at += n;
            break;
        }
    }
    *encoding = (int)(key[0] & 7);
    *value = key[1];
    must(*encoding == 0 || *encoding == 1 || *encoding == 5 || (*encoding == 2 && *value <= (uint64_t)(end - *at)),
         "an encoding");
    return (int)(key[0] >> 3);
}

static void read_value(const uint8_t *at, const uint8_t *end, int64_t step, GString *lines)
{
    g_autofree char *tag = NULL;
    float simple = 0;
    while (at < end) {
        int encoding;
        uint64_t value;
        const int field = next_field(&at, end, &encoding, &value);
        if (field == 1 && encoding == 2) {
            tag = g_strndup((const char *)at, value);
            at += value;
        } else {
            must(field == 2 && encoding == 5 && tag != NULL, "a value");
            const uint32_t bits = (uint32_t)value;
            memcpy(&simple, &bits, sizeof simple);
        }
    }
    g_string_append_printf(lines, "%" G_GINT64_FORMAT "\t%s\t%.9g\n", step, tag, (double)simple);
}

static void read_event(const uint8_t *at, const uint8_t *end, bool first, GString *lines)
{
    int64_t step = 0;
    double time = 0;
    while (at < end) {
        int encoding;
        uint64_t value;
        const int field = next_field(&at, end, &encoding, &value);
        const uint8_t *inner = at, *inner_end = encoding == 2 ? at + value : at;
        if (field == 1)
            memcpy(&time, &value, sizeof time);
        else if (field == 2)
            step = (int64_t)value;
        else if (field == 3)
            must(first && value == 13 && memcmp(at, "brain.Event:2", 13) == 0, "a version");
        else if (field == 7 && value == 2 && memcmp(at, "\x08\x01", 2) == 0)
            g_string_append_printf(lines, "%" G_GINT64_FORMAT "\tstart\n", step);
        else
            must(field == 5 && encoding == 2, "a field");
        while (field == 5 && inner < inner_end) {
            must(next_field(&inner, inner_end, &encoding, &value) == 1 && encoding == 2, "a summary");
            read_value(inner, inner + value, step, lines);
            inner += value;
        }
        at = inner_end;
        must(!first || field <= 3, "the first record has no version");
    }
    must(time > 1.7e9 && time < 1e11, "a time"); /* from 2023 on */
}

static void decode(const char *path, GString *lines)
{
    g_autofree char *text = NULL;
    gsize size = 0;
    must(g_file_get_contents(path, &text, &size, NULL), path);
    const uint8_t *at = (const uint8_t *)text, *end = at + size;
    for (bool first = true; at < end; first = false) {
        must(end - at >= 16 && has_crc(at, 8, at + 8), "the CRC of a length");
        const uint64_t n = number(at, 8);
        must(n <= (uint64_t)(end - at) - 16 && has_crc(at + 12, n, at + 12 + n), "the CRC of a message");
        read_event(at + 12, at + 12 + n, first, lines);
        at += 16 + n;
    }
}

/* ---- tests ---- */

static void known_checksum(void **state)
{
    (void)state;
    assert_int_equal(crc_by_division((const uint8_t *)"123456789", 9), 0xe3069283);
}

static void values_come_back(void **state)
{
    (void)state;
    static const char *const expected =
        "9\tstart\n"
        "9\ttrain/total/loss\t4.25\n9\ttrain/total/tokens\t16777216\n"
        "300\tdev/bleu/en-de\tnan\n1099511627776\ttrain/total/loss\t-0.100000001\n";
    g_autofree char *folder = g_build_filename(directory, "a", "b", NULL);
    bool others = true;
    xlm_events *events = xlm_events_open(folder, 9, &others, NULL);
    assert_non_null(events);
    assert_false(others);
    xlm_events_add(events, 9, "train/total/loss", 4.25);
    xlm_events_add(events, 9, "train/total/tokens", 16777216);
    xlm_events_add(events, 300, "dev/bleu/en-de", NAN);
    xlm_events_add(events, INT64_C(1) << 40, "train/total/loss", -0.1);
    assert_true(xlm_events_flush(events));
    /* A reader may come at any time after that. */
    g_autoptr(GString) lines = g_string_new(NULL);
    decode(xlm_events_path(events), lines);
    assert_string_equal(lines->str, expected);
    /* The next file is read after it, also within the same second. */
    xlm_events *next = xlm_events_open(folder, 1, &others, NULL);
    assert_non_null(next);
    assert_true(others);
    assert_true(strcmp(xlm_events_path(events), xlm_events_path(next)) < 0);
    xlm_events_close(events);
    xlm_events_close(next);
    /* There is no later time than this one. */
    g_autofree char *last = g_build_filename("a", "b", "events.out.tfevents.9223372036854775807", NULL),
                    *last_path = write_file(last, "");
    xlm_events *after = xlm_events_open(folder, 1, &others, NULL);
    assert_non_null(after);
    assert_null(strstr(xlm_events_path(after), "tfevents.-"));
    xlm_events_close(after);
}

static void refused_by_name(void **state)
{
    (void)state;
    GError *error = NULL;
    g_autofree char *file = write_file("file", "text\n"), *inside = g_build_filename(file, "events", NULL);
    assert_null(xlm_events_open(inside, 0, NULL, &error));
    assert_int_equal(error->code, EX_CANTCREAT);
    assert_non_null(strstr(error->message, inside));
    g_clear_error(&error);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_checksum),
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(refused_by_name),
    };
    if (argc == 1)
        return cmocka_run_group_tests(tests, make_directory, remove_directory);
    g_autoptr(GString) lines = g_string_new(NULL);
    for (int i = 1; i < argc; i++)
        decode(argv[i], lines);
    fputs(lines->str, stdout);
    return 0;
}
