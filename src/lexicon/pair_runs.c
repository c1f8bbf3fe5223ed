/* xlm-mpi: sorted counts of pairs of subwords, in memory or on disk. SPDX-License-Identifier: GPL-3.0-or-later */
#include "lexicon/pair_runs.h"

#include <string.h>

#include "files/large_array.h"

/* ---- runs ---- */

struct run {
    uint64_t *words;      /* in memory, or of `disk` */
    xlm_large_array disk; /* empty: the run is in memory */
    int64_t records;
    bool lent;            /* the words are the caller's */
};

/* More runs on disk than this are merged into one: each is a scratch file, of which there may not be too many. */
enum { MAX_RUNS = 256 };

struct xlm_pair_runs {
    int width;
    const char *scratch;
    GArray *runs; /* struct run */
    int64_t on_disk, in_memory; /* records */
};

static size_t record_size(int width) { return sizeof(uint64_t) * (size_t)(1 + width); }

static void free_words(const struct run *run)
{
    if (run->disk.size == 0 && !run->lent)
        g_free(run->words);
}

static void free_run(gpointer pointer)
{
    struct run *run = pointer;
    free_words(run);
    xlm_large_array_free(&run->disk);
}

xlm_pair_runs *xlm_pair_runs_new(int width, const char *scratch)
{
    xlm_pair_runs *runs = g_new0(xlm_pair_runs, 1);
    *runs = (xlm_pair_runs){.width = width, .scratch = scratch, .runs = g_array_new(FALSE, FALSE, sizeof(struct run))};
    g_array_set_clear_func(runs->runs, free_run);
    return runs;
}

void xlm_pair_runs_free(xlm_pair_runs *runs)
{
    if (runs == NULL)
        return;
    g_array_unref(runs->runs);
    g_free(runs);
}

static void add_run(xlm_pair_runs *runs, struct run run)
{
    if (run.records == 0) {
        free_words(&run);
        return;
    }
    g_array_append_val(runs->runs, run);
    runs->in_memory += run.records;
}

void xlm_pair_runs_add(xlm_pair_runs *runs, uint64_t *words, int64_t records)
{
    add_run(runs, (struct run){.words = words, .records = records});
}

void xlm_pair_runs_lend(xlm_pair_runs *runs, const uint64_t *words, int64_t records)
{
    add_run(runs, (struct run){.words = (uint64_t *)words, .records = records, .lent = true});
}

int64_t xlm_pair_runs_bytes(const xlm_pair_runs *runs) { return runs->in_memory * (int64_t)record_size(runs->width); }

int64_t xlm_pair_runs_records(const xlm_pair_runs *runs) { return runs->in_memory + runs->on_disk; }

/* Make a run on disk that has room for so many records. */
static bool make_on_disk(const xlm_pair_runs *runs, int64_t records, struct run *run, GError **error)
{
    *run = (struct run){.records = records};
    const bool good = xlm_large_array_make(&run->disk, record_size(runs->width) * (size_t)records, runs->scratch, error);
    run->words = run->disk.data;
    return good;
}

/* Merge all runs, which are on disk, into one. */
static bool merge_on_disk(xlm_pair_runs *runs, GError **error)
{
    struct run merged;
    if (!make_on_disk(runs, runs->on_disk, &merged, error))
        return false;
    xlm_pair_merge *merge = xlm_pair_merge_new(runs->width);
    xlm_pair_merge_add(merge, runs, 0, 0, INT64_MAX);
    uint64_t *end = merged.words;
    while (xlm_pair_merge_sum(merge, end))
        end += 1 + runs->width;
    xlm_pair_merge_free(merge);
    merged.records = runs->on_disk = (end - merged.words) / (1 + runs->width);
    xlm_large_array_release(&merged.disk, 0, merged.disk.size);
    g_array_set_size(runs->runs, 0);
    g_array_append_val(runs->runs, merged);
    return true;
}

bool xlm_pair_runs_spill(xlm_pair_runs *runs, GError **error)
{
    for (guint i = 0; i < runs->runs->len; i++) {
        struct run *run = &g_array_index(runs->runs, struct run, i), on_disk;
        if (run->disk.size > 0)
            continue;
        if (!make_on_disk(runs, run->records, &on_disk, error))
            return false;
        memcpy(on_disk.words, run->words, on_disk.disk.size);
        xlm_large_array_release(&on_disk.disk, 0, on_disk.disk.size);
        free_words(run);
        *run = on_disk;
        runs->in_memory -= run->records;
        runs->on_disk += run->records;
    }
    return runs->runs->len <= MAX_RUNS || merge_on_disk(runs, error);
}

/* ---- merging ---- */

/* The records of a run from `at` on. */
struct source {
    const uint64_t *at, *end;
    int tag;
    const xlm_large_array *disk; /* of the run */
    const uint64_t *held;        /* records from here on may take memory */
};

struct xlm_pair_merge {
    int width;
    GArray *sources; /* struct source: a heap; the one with the smallest pair, then the smallest tag, is first */
    bool ready;      /* the heap is in order */
    bool moved;      /* the record of the first was returned, and it must continue */
};

/* The first record of a run whose row is at least `row`, or its end. */
static const uint64_t *find_row(const struct run *run, int64_t row, int width)
{
    int64_t low = 0, high = run->records;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (xlm_pair_row(run->words[middle * (1 + width)]) < row)
            low = middle + 1;
        else
            high = middle;
    }
    return run->words + low * (1 + width);
}

xlm_pair_merge *xlm_pair_merge_new(int width)
{
    xlm_pair_merge *merge = g_new0(xlm_pair_merge, 1);
    merge->width = width;
    merge->sources = g_array_new(FALSE, FALSE, sizeof(struct source));
    return merge;
}

void xlm_pair_merge_add(xlm_pair_merge *merge, const xlm_pair_runs *runs, int tag, int64_t first_row, int64_t last_row)
{
    for (guint i = 0; i < runs->runs->len; i++) {
        const struct run *run = &g_array_index(runs->runs, struct run, i);
        const uint64_t *at = find_row(run, first_row, runs->width), *end = find_row(run, last_row, runs->width);
        const struct source source = {at, end, tag, &run->disk, at};
        if (at < end)
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

/* Let the records that were read leave memory. */
static void release(struct source *source)
{
    const char *data = source->disk->data;
    if (data != NULL)
        xlm_large_array_release(source->disk, (size_t)((const char *)source->held - data),
                                (size_t)((const char *)source->at - (const char *)source->held));
    source->held = source->at;
}

/* The first source continues to its next record, or leaves the heap. */
static void move_on(xlm_pair_merge *merge)
{
    enum { HELD = 1 << 17 }; /* words */
    struct source *first = &g_array_index(merge->sources, struct source, 0);
    first->at += 1 + merge->width;
    if (first->at == first->end || first->at - first->held >= HELD)
        release(first);
    if (first->at == first->end)
        g_array_remove_index_fast(merge->sources, 0);
    sift_down(merge, 0);
}

const uint64_t *xlm_pair_merge_next(xlm_pair_merge *merge, int *tag)
{
    if (!merge->ready)
        for (guint i = merge->sources->len / 2; i-- > 0;)
            sift_down(merge, i);
    merge->ready = true;
    if (merge->moved)
        move_on(merge);
    merge->moved = merge->sources->len > 0;
    if (!merge->moved)
        return NULL;
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
    while ((found = xlm_pair_merge_next(merge, NULL)) != NULL && found[0] == record[0])
        for (int i = 1; i <= merge->width; i++)
            record[i] += found[i];
    merge->moved = false; /* what was found is still to come */
    return true;
}

void xlm_pair_merge_free(xlm_pair_merge *merge)
{
    g_array_unref(merge->sources);
    g_free(merge);
}
