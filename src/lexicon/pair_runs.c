/* xlm-mpi: sorted counts of pairs of subwords, in memory or on disk. SPDX-License-Identifier: GPL-3.0-or-later */
#include "lexicon/pair_runs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "files/large_array.h"

/* ---- runs ---- */

struct run {
    uint64_t *words; /* NULL: on disk */
    int64_t begin;   /* on disk: its first record among those of the file */
    int64_t records;
    uint64_t first_pair, last_pair;
};

/* How many runs on disk a merge reads at once, and how many bytes of each: 32 MiB together. */
enum { MAX_RUNS = 256, BUFFER = 1 << 17 };

struct xlm_pair_runs {
    int width;
    const char *scratch;
    GArray *runs; /* struct run */
    int file;     /* -1: none yet */
    int64_t on_disk, in_memory; /* records */
};

static size_t record_size(int width) { return sizeof(uint64_t) * (size_t)(1 + width); }

/* Records of a run on disk that are read at once. */
static int64_t buffer_records(int width) { return MAX(BUFFER / (int64_t)record_size(width), 1); }

xlm_pair_runs *xlm_pair_runs_new(int width, const char *scratch)
{
    xlm_pair_runs *runs = g_new0(xlm_pair_runs, 1);
    *runs = (xlm_pair_runs){.width = width, .scratch = scratch, .file = -1};
    runs->runs = g_array_new(FALSE, FALSE, sizeof(struct run));
    return runs;
}

void xlm_pair_runs_free(xlm_pair_runs *runs)
{
    if (runs == NULL)
        return;
    for (guint i = 0; i < runs->runs->len; i++)
        g_free(g_array_index(runs->runs, struct run, i).words);
    g_array_unref(runs->runs);
    if (runs->file >= 0)
        close(runs->file);
    g_free(runs);
}

void xlm_pair_runs_add(xlm_pair_runs *runs, uint64_t *words, int64_t records)
{
    if (records == 0) {
        g_free(words);
        return;
    }
    const struct run run = {.words = words, .records = records, .first_pair = words[0],
                            .last_pair = words[(records - 1) * (1 + runs->width)]};
    g_array_append_val(runs->runs, run);
    runs->in_memory += records;
}

int64_t xlm_pair_runs_bytes(const xlm_pair_runs *runs) { return runs->in_memory * (int64_t)record_size(runs->width); }

int64_t xlm_pair_runs_records(const xlm_pair_runs *runs) { return runs->in_memory + runs->on_disk; }

static bool write_all(int file, const char *bytes, size_t size, off_t at)
{
    while (size > 0) {
        const ssize_t n = pwrite(file, bytes, size, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        size -= (size_t)n;
        at += n;
    }
    return true;
}

static bool read_all(int file, char *bytes, size_t size, off_t at)
{
    while (size > 0) {
        const ssize_t n = pread(file, bytes, size, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n == 0 ? EIO : errno;
            return false;
        }
        bytes += n;
        size -= (size_t)n;
        at += n;
    }
    return true;
}

/* Append records to the scratch file, which is created if necessary. */
static bool append(xlm_pair_runs *runs, const uint64_t *words, int64_t records, GError **error)
{
    const size_t size = record_size(runs->width);
    if (runs->file < 0 && (runs->file = xlm_scratch_open(runs->scratch)) < 0)
        return xlm_error_set(error, EX_CANTCREAT, "%s: no scratch file can be made there: %s; name another directory with "
                             "--scratch", runs->scratch, g_strerror(errno));
    if (!write_all(runs->file, (const char *)words, size * (size_t)records, (off_t)(size * (size_t)runs->on_disk)))
        return xlm_error_set(error, EX_IOERR, "%s: writing a scratch file: %s; give more --memory, or name another directory "
                             "with --scratch", runs->scratch, g_strerror(errno));
    runs->on_disk += records;
    return true;
}

/* Join runs that follow each other on disk if all pairs of the second are greater. */
static void join_neighbours(xlm_pair_runs *runs)
{
    struct run *all = (struct run *)(void *)runs->runs->data;
    guint n = MIN(runs->runs->len, 1);
    for (guint i = 1; i < runs->runs->len; i++) {
        struct run *last = &all[n - 1];
        if (last->begin + last->records == all[i].begin && last->last_pair < all[i].first_pair) {
            last->records += all[i].records;
            last->last_pair = all[i].last_pair;
        } else {
            all[n++] = all[i];
        }
    }
    g_array_set_size(runs->runs, n);
}

/* Merge all runs, which are on disk, into one in a new scratch file. */
static bool merge_on_disk(xlm_pair_runs *runs, GError **error)
{
    const int64_t capacity = buffer_records(runs->width);
    xlm_pair_runs *merged = xlm_pair_runs_new(runs->width, runs->scratch);
    xlm_pair_merge *merge = xlm_pair_merge_new(runs->width);
    xlm_pair_merge_add(merge, runs, 0, 0, INT64_MAX);
    uint64_t *words = g_malloc(record_size(runs->width) * (size_t)capacity);
    struct run run = {.words = NULL};
    bool good = true;
    for (int64_t n = capacity; n == capacity && good;) {
        for (n = 0; n < capacity && xlm_pair_merge_sum(merge, words + n * (1 + runs->width)); n++)
            run.last_pair = words[n * (1 + runs->width)];
        if (run.records == 0)
            run.first_pair = words[0];
        run.records += n;
        good = append(merged, words, n, error);
    }
    g_free(words);
    good = xlm_pair_merge_free(merge, good ? error : NULL) && good;
    if (good) {
        g_array_set_size(runs->runs, 0);
        g_array_append_val(runs->runs, run);
        runs->on_disk = merged->on_disk;
        const int file = runs->file;
        runs->file = merged->file;
        merged->file = file;
    }
    xlm_pair_runs_free(merged);
    return good;
}

bool xlm_pair_runs_spill(xlm_pair_runs *runs, GError **error)
{
    for (guint i = 0; i < runs->runs->len; i++) {
        struct run *run = &g_array_index(runs->runs, struct run, i);
        if (run->words == NULL)
            continue;
        run->begin = runs->on_disk;
        if (!append(runs, run->words, run->records, error))
            return false;
        g_clear_pointer(&run->words, g_free);
        runs->in_memory -= run->records;
    }
    join_neighbours(runs);
    return runs->runs->len <= MAX_RUNS || merge_on_disk(runs, error);
}

/* ---- merging ---- */

/* The records of a run from `at` on; those on disk are read into a buffer. */
struct source {
    const uint64_t *at, *end;
    int tag;
    uint64_t *buffer;           /* NULL: in memory */
    const xlm_pair_runs *runs;
    int64_t next, last;         /* records of the file that are still to be read */
};

struct xlm_pair_merge {
    int width;
    GArray *sources; /* struct source: a heap; the one with the smallest pair, then the smallest tag, is first */
    bool ready;      /* the heap is in order */
    bool moved;      /* the record of the first was returned, and it must continue */
    GError *error;
};

static const uint64_t *record_of(const struct run *run, int64_t i, int width) { return run->words + i * (1 + width); }

/* The first record of a run whose row is at least `row`; -1 with an error. */
static int64_t find_row(const xlm_pair_runs *runs, const struct run *run, int64_t row, GError **error)
{
    const size_t size = record_size(runs->width);
    int64_t low = 0, high = run->records;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        uint64_t pair;
        if (run->words != NULL) {
            pair = *record_of(run, middle, runs->width);
        } else if (!read_all(runs->file, (char *)&pair, sizeof pair, (off_t)(size * (size_t)(run->begin + middle)))) {
            xlm_error_set(error, EX_IOERR, "%s: reading a scratch file: %s", runs->scratch, g_strerror(errno));
            return -1;
        }
        if (xlm_pair_row(pair) < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

xlm_pair_merge *xlm_pair_merge_new(int width)
{
    xlm_pair_merge *merge = g_new0(xlm_pair_merge, 1);
    merge->width = width;
    merge->sources = g_array_new(FALSE, FALSE, sizeof(struct source));
    return merge;
}

/* Read more of a run on disk into the buffer. */
static bool refill(struct source *source, int width, GError **error)
{
    const size_t size = record_size(width);
    const int64_t n = MIN(source->last - source->next, buffer_records(width));
    if (n > 0 && !read_all(source->runs->file, (char *)source->buffer, size * (size_t)n, (off_t)(size * (size_t)source->next)))
        return xlm_error_set(error, EX_IOERR, "%s: reading a scratch file: %s", source->runs->scratch, g_strerror(errno));
    source->next += n;
    source->at = source->buffer;
    source->end = source->buffer + n * (1 + width);
    return true;
}

void xlm_pair_merge_add(xlm_pair_merge *merge, const xlm_pair_runs *runs, int tag, int64_t first_row, int64_t last_row)
{
    for (guint i = 0; i < runs->runs->len && merge->error == NULL; i++) {
        const struct run *run = &g_array_index(runs->runs, struct run, i);
        const int64_t first = find_row(runs, run, first_row, &merge->error);
        const int64_t last = first < 0 ? -1 : find_row(runs, run, last_row, &merge->error);
        if (first >= last)
            continue;
        struct source source = {.tag = tag, .runs = runs};
        if (run->words != NULL) {
            source.at = record_of(run, first, runs->width);
            source.end = record_of(run, last, runs->width);
        } else {
            source.next = run->begin + first;
            source.last = run->begin + last;
            source.buffer = g_malloc(record_size(runs->width) * (size_t)buffer_records(runs->width));
            refill(&source, runs->width, &merge->error);
        }
        g_array_append_val(merge->sources, source);
    }
}

static bool before(const struct source *a, const struct source *b)
{
    return *a->at != *b->at ? *a->at < *b->at : a->tag < b->tag;
}

static void sift_down(xlm_pair_merge *merge, guint i)
{
    struct source *heap = (struct source *)(void *)merge->sources->data;
    const guint n = merge->sources->len;
    for (guint child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &heap[i]))
            return;
        const struct source other = heap[i];
        heap[i] = heap[child];
        heap[child] = other;
    }
}

/* The first source continues to its next record, or leaves the heap. */
static void move_on(xlm_pair_merge *merge)
{
    struct source *first = &g_array_index(merge->sources, struct source, 0);
    first->at += 1 + merge->width;
    if (first->at == first->end && first->next < first->last && !refill(first, merge->width, &merge->error))
        return;
    if (first->at == first->end) {
        g_free(first->buffer);
        g_array_remove_index_fast(merge->sources, 0);
    }
    sift_down(merge, 0);
}

const uint64_t *xlm_pair_merge_next(xlm_pair_merge *merge, int *tag)
{
    if (!merge->ready && merge->error == NULL)
        for (guint i = merge->sources->len / 2; i-- > 0;)
            sift_down(merge, i);
    merge->ready = true;
    if (merge->moved && merge->error == NULL)
        move_on(merge);
    merge->moved = true;
    if (merge->error != NULL || merge->sources->len == 0) {
        merge->moved = false;
        return NULL;
    }
    const struct source *first = &g_array_index(merge->sources, struct source, 0);
    if (tag != NULL)
        *tag = first->tag;
    return first->at;
}

bool xlm_pair_merge_sum(xlm_pair_merge *merge, uint64_t *record)
{
    const uint64_t *found = xlm_pair_merge_next(merge, NULL);
    if (found == NULL)
        return false;
    memcpy(record, found, record_size(merge->width));
    while (merge->sources->len > 0) {
        move_on(merge);
        merge->moved = false;
        if (merge->error != NULL)
            return false;
        if (merge->sources->len == 0)
            break;
        found = g_array_index(merge->sources, struct source, 0).at;
        if (found[0] != record[0])
            break;
        for (int i = 1; i <= merge->width; i++)
            record[i] += found[i];
    }
    return true;
}

bool xlm_pair_merge_free(xlm_pair_merge *merge, GError **error)
{
    for (guint i = 0; i < merge->sources->len; i++)
        g_free(g_array_index(merge->sources, struct source, i).buffer);
    g_array_unref(merge->sources);
    const bool good = merge->error == NULL;
    if (!good)
        g_propagate_error(error, merge->error);
    g_free(merge);
    return good;
}
