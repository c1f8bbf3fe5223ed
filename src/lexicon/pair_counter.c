/* xlm-mpi: counting pairs of subwords that occur near one another. SPDX-License-Identifier: GPL-3.0-or-later */
#include "lexicon/pair_counter.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

/* A key is (min << id_bits | max) << distance_bits | r - 1. Pairs of two ids below `frequent`, which in our own
 * vocabularies are the most frequent subwords and make up a third of all pairs, have counters instead, which need no
 * sorting. */
struct xlm_pair_counter {
    int window, id_bits, distance_bits;
    xlm_pair_runs *runs;
    int32_t frequent;
    int threads;            /* that may count at once */
    uint32_t *counters;     /* [threads][frequent x frequent x window, and one more that is never read] */
    int64_t counted;        /* no counter is greater than this */
    uint64_t *keys, *other; /* [capacity]; other: where sorting moves them */
    int64_t capacity, n;
};

static int bits_of(uint64_t values) /* of the numbers 0 … values - 1 */
{
    int bits = 0;
    while (bits < 64 && (values - 1) >> bits != 0)
        bits++;
    return bits;
}

/* The size of one thread's counters: as many as fit into a second-level cache. */
enum { COUNTERS = 1 << 19 };

static int32_t choose_frequent(int64_t vocabulary, int window)
{
    int32_t n = 1;
    while (4 * (int64_t)n * n * window <= COUNTERS && 2 * n <= vocabulary)
        n *= 2;
    return n;
}

static size_t counters_of_thread(const xlm_pair_counter *counter)
{
    return (size_t)counter->frequent * (size_t)counter->frequent * (size_t)counter->window + 1;
}

int xlm_pair_counter_bits(int64_t vocabulary, int window)
{
    return 2 * bits_of((uint64_t)vocabulary) + bits_of((uint64_t)window);
}

/* A pair takes a key, room to sort it to, and a record if no other pair is equal. More keys than LARGEST at once would only mean
 * more pages to clear; with fewer than SMALLEST runs would be too short. */
static int64_t choose_capacity(int window, int64_t pairs, int64_t bytes)
{
    static const int64_t SMALLEST = 1 << 16, LARGEST = 1 << 23;
    const int64_t affordable = bytes / ((int64_t)sizeof(uint64_t) * (2 + 1 + window));
    return CLAMP(MIN(pairs + window + 1, affordable), SMALLEST, LARGEST);
}

xlm_pair_counter *xlm_pair_counter_new(int64_t vocabulary, int window, int64_t pairs, int64_t bytes, xlm_pair_runs *runs)
{
    xlm_pair_counter *counter = g_new0(xlm_pair_counter, 1);
    counter->window = window;
    counter->id_bits = bits_of((uint64_t)vocabulary);
    counter->distance_bits = bits_of((uint64_t)window);
    counter->runs = runs;
    counter->capacity = choose_capacity(window, pairs, bytes);
    counter->frequent = choose_frequent(vocabulary, window);
    counter->threads = omp_get_max_threads();
    counter->counters = g_new0(uint32_t, counters_of_thread(counter) * (size_t)counter->threads);
    counter->keys = xlm_pages_take(sizeof(uint64_t) * (size_t)counter->capacity, "pairs to be counted");
    counter->other = xlm_pages_take(sizeof(uint64_t) * (size_t)counter->capacity, "pairs to be counted");
    return counter;
}

void xlm_pair_counter_free(xlm_pair_counter *counter)
{
    if (counter == NULL)
        return;
    g_free(counter->counters);
    free(counter->keys);
    free(counter->other);
    g_free(counter);
}

/* ---- collecting ---- */

/* Collect the pairs whose second token is one of ids[begin … end): as keys in `keys`, or in the counters of a thread. Returns the
 * number of keys. */
static int64_t collect(const xlm_pair_counter *counter, const int32_t *ids, int64_t begin, int64_t end, uint64_t *keys,
                       int thread)
{
    const int id_bits = counter->id_bits, distance_bits = counter->distance_bits, window = counter->window;
    const int32_t frequent = counter->frequent;
    const size_t unread = counters_of_thread(counter) - 1;
    uint32_t *counters = counter->counters + (size_t)thread * (unread + 1);
    int64_t n = 0;
    for (int64_t q = begin; q < end; q++) {
        const int32_t b = ids[q];
        if (b < 0)
            continue;
        const int64_t reach = MIN(window, q);
        for (int64_t r = 1; r <= reach; r++) {
            const int32_t a = ids[q - r];
            if (a < 0)
                continue;
            /* Without a branch, which could not be predicted: either the key is overwritten or the counter is never read. */
            const uint64_t low = (uint64_t)MIN(a, b), high = (uint64_t)MAX(a, b);
            const bool both = high < (uint64_t)frequent;
            keys[n] = (low << id_bits | high) << distance_bits | (uint64_t)(r - 1);
            n += !both;
            counters[both ? (low * (uint64_t)frequent + high) * (uint64_t)window + (uint64_t)(r - 1) : unread]++;
        }
    }
    return n;
}

/* Only count the keys. */
static int64_t count_keys(const xlm_pair_counter *counter, const int32_t *ids, int64_t begin, int64_t end)
{
    int64_t n = 0;
    for (int64_t q = begin; q < end; q++)
        for (int64_t r = 1, reach = ids[q] < 0 ? 0 : MIN(counter->window, q); r <= reach; r++)
            n += ids[q - r] >= 0 && MAX(ids[q], ids[q - r]) >= counter->frequent;
    return n;
}

/* Where a part of n elements begins. */
static int64_t part_begin(int64_t n, int part, int parts) { return n * part / parts; }

static int64_t collect_by_threads(const xlm_pair_counter *counter, const int32_t *ids, int64_t first, int64_t n, uint64_t *keys)
{
    const int parts = counter->threads;
    if (parts == 1)
        return collect(counter, ids, first, n, keys, 0);
    int64_t *number = g_new(int64_t, parts), total = 0;
#pragma omp parallel for schedule(static, 1)
    for (int p = 0; p < parts; p++) {
        const int64_t begin = first + part_begin(n - first, p, parts), end = first + part_begin(n - first, p + 1, parts);
        number[p] = count_keys(counter, ids, begin, end);
    }
    for (int p = 0; p < parts; p++) {
        const int64_t here = number[p];
        number[p] = total;
        total += here;
    }
    /* Collecting writes one key too many, which must not overwrite the next thread's first: each has memory of its own. */
#pragma omp parallel for schedule(static, 1)
    for (int p = 0; p < parts; p++) {
        const int64_t begin = first + part_begin(n - first, p, parts), end = first + part_begin(n - first, p + 1, parts);
        g_autofree uint64_t *own = g_new(uint64_t, (end - begin) * counter->window + 1);
        const int64_t found = collect(counter, ids, begin, end, own, p);
        memcpy(keys + number[p], own, sizeof(uint64_t) * (size_t)found);
    }
    g_free(number);
    return total;
}

/* Make a run of the counters of all threads, and set them to 0. */
static void flush_counters(xlm_pair_counter *counter)
{
    const int width = counter->window;
    const size_t each = counters_of_thread(counter);
    GArray *words = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    g_autofree uint64_t *record = g_new(uint64_t, 1 + width);
    int64_t records = 0;
    for (int32_t row = 0; row < counter->frequent; row++)
        for (int32_t column = row; column < counter->frequent; column++) {
            uint64_t any = 0;
            for (int r = 0; r < width; r++) {
                const size_t at = ((size_t)row * (size_t)counter->frequent + (size_t)column) * (size_t)width + (size_t)r;
                record[1 + r] = 0;
                for (int t = 0; t < counter->threads; t++)
                    record[1 + r] += counter->counters[(size_t)t * each + at];
                record[1 + r] *= row == column ? 2 : 1;
                any |= record[1 + r];
            }
            if (any == 0)
                continue;
            record[0] = xlm_pair((uint32_t)row, (uint32_t)column);
            g_array_append_vals(words, record, (guint)(1 + width));
            records++;
        }
    xlm_pair_runs_add(counter->runs, (uint64_t *)(void *)g_array_free(words, FALSE), records);
    memset(counter->counters, 0, sizeof(uint32_t) * each * (size_t)counter->threads);
    counter->counted = 0;
}

/* ---- sorting ---- */

enum { MAX_DIGIT_BITS = 11 }; /* that many places to write to at once fit into a first-level cache */

/* One digit: keys[n] to `to`, stably, by `bits` bits from `shift` on. at: [parts x 2^bits], for the positions of each thread's
 * part. */
static void sort_digit(const uint64_t *keys, uint64_t *to, int64_t n, int shift, int bits, int parts, int64_t *at)
{
    const int64_t digits = (int64_t)1 << bits;
    const uint64_t mask = (uint64_t)digits - 1;
    memset(at, 0, sizeof(int64_t) * (size_t)(parts * digits));
#pragma omp parallel for schedule(static, 1)
    for (int p = 0; p < parts; p++) {
        int64_t *count = at + p * digits;
        for (int64_t i = part_begin(n, p, parts); i < part_begin(n, p + 1, parts); i++)
            count[keys[i] >> shift & mask]++;
    }
    int64_t sum = 0;
    for (int64_t digit = 0; digit < digits; digit++)
        for (int p = 0; p < parts; p++) {
            int64_t *position = &at[p * digits + digit];
            const int64_t here = *position;
            *position = sum;
            sum += here;
        }
#pragma omp parallel for schedule(static, 1)
    for (int p = 0; p < parts; p++) {
        int64_t *position = at + p * digits;
        for (int64_t i = part_begin(n, p, parts); i < part_begin(n, p + 1, parts); i++)
            to[position[keys[i] >> shift & mask]++] = keys[i];
    }
}

/* By pair; the distances of a pair are in any order. */
static void sort_keys(xlm_pair_counter *counter)
{
    const int parts = omp_get_max_threads(), begin = counter->distance_bits, end = begin + 2 * counter->id_bits;
    const int passes = MAX((end - begin + MAX_DIGIT_BITS - 1) / MAX_DIGIT_BITS, 1), bits = (end - begin + passes - 1) / passes;
    g_autofree int64_t *at = g_new(int64_t, (int64_t)parts << bits);
    for (int bit = begin; bit < end; bit += bits) {
        sort_digit(counter->keys, counter->other, counter->n, bit, bits, parts, at);
        uint64_t *sorted = counter->other;
        counter->other = counter->keys;
        counter->keys = sorted;
    }
}

/* Make records of the sorted keys [begin, end). Returns their number. words NULL: only count. */
static int64_t make_records(const xlm_pair_counter *counter, int64_t begin, int64_t end, uint64_t *words)
{
    const int id_bits = counter->id_bits, distance_bits = counter->distance_bits, width = counter->window;
    const uint64_t ids = ((uint64_t)1 << id_bits) - 1, distances = ((uint64_t)1 << distance_bits) - 1;
    int64_t n = 0;
    for (int64_t i = begin; i < end; n++) {
        const uint64_t pair = counter->keys[i] >> distance_bits;
        if (words == NULL) {
            while (i < end && counter->keys[i] >> distance_bits == pair)
                i++;
            continue;
        }
        uint64_t *record = words + n * (1 + width);
        const uint32_t row = (uint32_t)(pair >> id_bits), column = (uint32_t)(pair & ids);
        record[0] = xlm_pair(row, column);
        memset(record + 1, 0, sizeof(uint64_t) * (size_t)width);
        for (const uint64_t times = row == column ? 2 : 1; i < end && counter->keys[i] >> distance_bits == pair; i++)
            record[1 + (counter->keys[i] & distances)] += times;
    }
    return n;
}

static void flush_keys(xlm_pair_counter *counter)
{
    if (counter->n == 0)
        return;
    sort_keys(counter);
    const int parts = omp_get_max_threads();
    g_autofree int64_t *begin = g_new(int64_t, parts + 1), *number = g_new0(int64_t, parts + 1);
    begin[0] = 0;
    begin[parts] = counter->n;
    for (int p = 1; p < parts; p++) { /* no pair in two parts */
        int64_t i = MAX(part_begin(counter->n, p, parts), begin[p - 1]);
        const int bits = counter->distance_bits;
        while (i > 0 && i < counter->n && counter->keys[i] >> bits == counter->keys[i - 1] >> bits)
            i++;
        begin[p] = i;
    }
#pragma omp parallel for schedule(static, 1)
    for (int p = 0; p < parts; p++)
        number[p + 1] = make_records(counter, begin[p], begin[p + 1], NULL);
    for (int p = 0; p < parts; p++)
        number[p + 1] += number[p];
    uint64_t *words = g_new(uint64_t, number[parts] * (1 + counter->window));
#pragma omp parallel for schedule(static, 1)
    for (int p = 0; p < parts; p++)
        make_records(counter, begin[p], begin[p + 1], words + number[p] * (1 + counter->window));
    xlm_pair_runs_add(counter->runs, words, number[parts]);
    counter->n = 0;
}

bool xlm_pair_counter_add(xlm_pair_counter *counter, const int32_t *ids, int64_t first, int64_t n, int64_t max_bytes,
                          GError **error)
{
    while (first < n) {
        /* One place more than there are keys, because collecting writes there. */
        const int64_t room = (counter->capacity - counter->n - 1) / counter->window, end = MIN(n, first + room);
        if (end < n && counter->n > counter->capacity / 2) {
            flush_keys(counter);
            if (xlm_pair_runs_bytes(counter->runs) > max_bytes && !xlm_pair_runs_spill(counter->runs, error))
                return false;
            continue;
        }
        if (counter->counted + end - first > UINT32_MAX)
            flush_counters(counter);
        counter->counted += end - first;
        counter->n += collect_by_threads(counter, ids, first, end, counter->keys + counter->n);
        first = end;
    }
    return true;
}

void xlm_pair_counter_flush(xlm_pair_counter *counter)
{
    flush_keys(counter);
    flush_counters(counter);
}
