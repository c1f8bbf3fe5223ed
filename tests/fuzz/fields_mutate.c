/* xlm-mpi: inputs of text changed by fields and numbers. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What libFuzzer does to bytes seldom makes a line with one field more, or a number one too large. Half of the inputs are left to
 * it. */
#include <string.h>

#include "fuzz.h"

/* A function of libFuzzer, if linked. */
#pragma weak LLVMFuzzerMutate
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);

typedef struct part {
    size_t from, to;
} part;

static bool is_between(uint8_t byte) { return byte <= ' ' || strchr(",;:|-/[]{}()\"'=@", byte) != NULL; }

/* A run of bytes between two separators, around a place. */
static part field_at(const uint8_t *data, size_t size, size_t place)
{
    part p = {place, place};
    while (p.from > 0 && !is_between(data[p.from - 1]))
        p.from--;
    while (p.to < size && !is_between(data[p.to]))
        p.to++;
    return p;
}

static part line_at(const uint8_t *data, size_t size, size_t place)
{
    part p = {place, place};
    while (p.from > 0 && data[p.from - 1] != '\n')
        p.from--;
    while (p.to < size && data[p.to++] != '\n')
        ;
    return p;
}

static void put(GString *out, part p, const char *text, gssize length)
{
    g_string_erase(out, (gssize)p.from, (gssize)(p.to - p.from));
    g_string_insert_len(out, (gssize)p.from, text, length);
}

/* A number near the one that is there, or at the limit of a type. */
static void change_number(GRand *draw, GString *out, part p)
{
    static const char *const limits[] = {"0", "1", "-1", "2", "2147483647", "2147483648", "4294967295", "4294967296",
                                         "9223372036854775807", "9223372036854775808", "18446744073709551615", "-2147483648",
                                         "nan", "inf", "1e39", "1e400", "0.5", "", "00", "+1", "1.0"};
    char near[32], *end, *text = g_strndup(out->str + p.from, p.to - p.from);
    const gint64 number = g_ascii_strtoll(text, &end, 10);
    g_snprintf(near, sizeof near, "%" G_GINT64_FORMAT, (gint64)((guint64)number + (guint64)(g_rand_boolean(draw) ? 1 : -1)));
    const bool is_number = end != text && g_rand_boolean(draw);
    put(out, p, is_number ? near : limits[g_rand_int_range(draw, 0, G_N_ELEMENTS(limits))], -1);
    g_free(text);
}

static void change(GRand *draw, GString *out)
{
    const uint8_t *data = (const uint8_t *)out->str;
    const size_t place = (size_t)g_rand_int_range(draw, 0, (gint32)out->len);
    const part field = field_at(data, out->len, place), line = line_at(data, out->len, place);
    const part other = field_at(data, out->len, (size_t)g_rand_int_range(draw, 0, (gint32)out->len));
    char *text = g_strndup(out->str + line.from, line.to - line.from);
    char *word = g_strndup(out->str + other.from, other.to - other.from);
    switch (g_rand_int_range(draw, 0, 8)) {
    case 0: put(out, (part){line.from, line.from}, text, (gssize)(line.to - line.from)); break; /* the line twice */
    case 1: put(out, line, "", 0); break;
    case 2: put(out, (part){field.from, MIN(field.to + 1, out->len)}, "", 0); break; /* without a field */
    case 3: /* a field twice, with what separates it */
        g_free(word);
        word = g_strndup(out->str + field.from, MIN(field.to + 1, out->len) - field.from);
        put(out, (part){field.from, field.from}, word, -1);
        break;
    case 4: put(out, field, word, -1); break; /* one in place of another */
    case 5: put(out, field, "", 0); break;
    default: change_number(draw, out, field);
    }
    g_free(text);
    g_free(word);
}

size_t fuzz_fields_mutate(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    if (size < 2 || seed % 2 == 0)
        return LLVMFuzzerMutate != NULL ? LLVMFuzzerMutate(data, size, room) : size;
    GRand *draw = g_rand_new_with_seed(seed);
    /* The first byte is a choice of the target's, often. */
    const size_t keep = g_rand_boolean(draw) ? 1 : 0;
    GString *out = g_string_new_len((const char *)data + keep, (gssize)(size - keep));
    for (int n = g_rand_int_range(draw, 1, 3); n > 0 && out->len > 0; n--)
        change(draw, out);
    size = MIN(out->len, room - keep);
    memcpy(data + keep, out->str, size);
    g_string_free(out, TRUE);
    g_rand_free(draw);
    return size + keep;
}
