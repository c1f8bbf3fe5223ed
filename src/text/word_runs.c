/* xlm-mpi: sorted lists of words with their counts, in memory or on disk. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/word_runs.h"

#include <string.h>

#include "base/rng.h"
#include "files/large_array.h"

typedef struct run {
    char *records;        /* in memory, or of `disk` */
    xlm_large_array disk; /* empty: the run is in memory */
    size_t size;          /* bytes */
} run;

/* More runs on disk than this are merged into one: each is a scratch file, of which there may not be too many. */
enum { MAX_RUNS = 256 };

struct xlm_word_runs {
    const char *scratch;
    GArray *runs; /* run */
    size_t on_disk, in_memory; /* bytes */
};

/* ---- records ---- */

static int compare(const xlm_word_record *a, const xlm_word_record *b)
{
    if (a->digest != b->digest)
        return a->digest < b->digest ? -1 : 1;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    const int order = memcmp(xlm_word_record_text(a), xlm_word_record_text(b), a->size);
    return order != 0 ? order : (a->group > b->group) - (a->group < b->group);
}

bool xlm_word_record_same(const xlm_word_record *a, const xlm_word_record *b)
{
    return a->digest == b->digest && a->size == b->size &&
           memcmp(xlm_word_record_text(a), xlm_word_record_text(b), a->size) == 0;
}

static const xlm_word_record *record_at(const char *at) { return (const xlm_word_record *)(const void *)at; }

static size_t write_record(char *out, uint64_t digest, int64_t count, uint32_t group, const char *word, size_t size)
{
    const xlm_word_record record = {digest, count, group, (uint32_t)size};
    const size_t bytes = xlm_word_record_bytes(&record);
    memset(out + bytes - 8, 0, 8);
    memcpy(out, &record, sizeof record);
    memcpy(out + sizeof record, word, size);
    return bytes;
}

/* ---- runs ---- */

static void free_run(gpointer pointer)
{
    run *r = pointer;
    if (r->disk.size == 0)
        g_free(r->records);
    xlm_large_array_free(&r->disk);
}

xlm_word_runs *xlm_word_runs_new(const char *scratch)
{
    xlm_word_runs *runs = g_new0(xlm_word_runs, 1);
    *runs = (xlm_word_runs){.scratch = scratch, .runs = g_array_new(FALSE, FALSE, sizeof(run))};
    g_array_set_clear_func(runs->runs, free_run);
    return runs;
}

void xlm_word_runs_free(xlm_word_runs *runs)
{
    if (runs == NULL)
        return;
    g_array_unref(runs->runs);
    g_free(runs);
}

void xlm_word_runs_add(xlm_word_runs *runs, void *records, size_t size)
{
    const run r = {.records = records, .size = size};
    if (size == 0) {
        g_free(records);
        return;
    }
    g_array_append_val(runs->runs, r);
    runs->in_memory += size;
}

int64_t xlm_word_runs_memory(const xlm_word_runs *runs) { return (int64_t)runs->in_memory; }
int64_t xlm_word_runs_bytes(const xlm_word_runs *runs) { return (int64_t)(runs->in_memory + runs->on_disk); }

/* A word of a table, to be sorted. */
typedef struct place {
    uint64_t digest;
    uint32_t group, number;
} place;

static int compare_places(gconstpointer a, gconstpointer b, gpointer tables)
{
    const place *x = a, *y = b;
    if (x->digest != y->digest)
        return x->digest < y->digest ? -1 : 1;
    size_t m, n;
    const char *s = xlm_word_counts_word(((xlm_word_counts *const *)tables)[x->group], x->number, &m);
    const char *t = xlm_word_counts_word(((xlm_word_counts *const *)tables)[y->group], y->number, &n);
    if (m != n)
        return m < n ? -1 : 1;
    const int order = memcmp(s, t, m);
    return order != 0 ? order : (x->group > y->group) - (x->group < y->group);
}

/* All words of the tables. [out] n: their number; bytes: of their records. */
static place *list_places(xlm_word_counts *const *tables, int groups, size_t *n, size_t *bytes)
{
    size_t all = 0, size;
    for (int g = 0; g < groups; g++)
        all += xlm_word_counts_size(tables[g]);
    place *places = g_new(place, all + 1);
    *n = *bytes = 0;
    for (int g = 0; g < groups; g++)
        for (uint32_t i = 0; i < xlm_word_counts_size(tables[g]); i++) {
            const char *word = xlm_word_counts_word(tables[g], i, &size);
            const xlm_word_record record = {.size = (uint32_t)size};
            places[(*n)++] = (place){xlm_digest(word, size, 0), (uint32_t)g, i};
            *bytes += xlm_word_record_bytes(&record);
        }
    return places;
}

void xlm_word_runs_add_tables(xlm_word_runs *runs, xlm_word_counts *const *tables, int groups)
{
    size_t n, bytes, size;
    g_autofree place *places = list_places(tables, groups, &n, &bytes);
    g_qsort_with_data(places, (gint)n, sizeof *places, compare_places, (gpointer)tables);
    char *records = g_malloc(bytes + 1), *at = records;
    for (size_t i = 0; i < n; i++) {
        const xlm_word_counts *table = tables[places[i].group];
        const char *word = xlm_word_counts_word(table, places[i].number, &size);
        at += write_record(at, places[i].digest, xlm_word_counts_count(table, places[i].number), places[i].group, word, size);
    }
    xlm_word_runs_add(runs, records, bytes);
}

/* Make a run on disk of so many bytes. */
static bool make_on_disk(const xlm_word_runs *runs, size_t size, run *r, GError **error)
{
    *r = (run){.size = size};
    const bool good = xlm_large_array_make(&r->disk, size, runs->scratch, error);
    r->records = r->disk.data;
    return good;
}

enum { HELD = 1 << 20 }; /* bytes of a run on disk that are in memory while it is written or read */

/* Merge all runs, which are on disk, into one. */
static bool merge_on_disk(xlm_word_runs *runs, GError **error)
{
    run merged;
    if (!make_on_disk(runs, runs->on_disk, &merged, error))
        return false;
    xlm_word_merge *merge = xlm_word_merge_new(runs);
    const xlm_word_record *record;
    size_t at = 0, released = 0;
    while ((record = xlm_word_merge_next(merge)) != NULL) {
        at += write_record(merged.records + at, record->digest, record->count, record->group, xlm_word_record_text(record),
                           record->size);
        if (at - released >= HELD) {
            xlm_large_array_release(&merged.disk, released, at - released);
            released = at;
        }
    }
    xlm_word_merge_free(merge);
    merged.size = runs->on_disk = at;
    g_array_set_size(runs->runs, 0);
    g_array_append_val(runs->runs, merged);
    return true;
}

bool xlm_word_runs_spill(xlm_word_runs *runs, GError **error)
{
    for (guint i = 0; i < runs->runs->len; i++) {
        run *r = &g_array_index(runs->runs, run, i), on_disk;
        if (r->disk.size > 0)
            continue;
        if (!make_on_disk(runs, r->size, &on_disk, error))
            return false;
        for (size_t at = 0; at < r->size; at += HELD) {
            const size_t n = MIN(HELD, r->size - at);
            memcpy(on_disk.records + at, r->records + at, n);
            xlm_large_array_release(&on_disk.disk, at, n);
        }
        g_free(r->records);
        *r = on_disk;
        runs->in_memory -= r->size;
        runs->on_disk += r->size;
    }
    return runs->runs->len <= MAX_RUNS || merge_on_disk(runs, error);
}

/* ---- merging ---- */

/* The records of a run from `at` on. */
typedef struct source {
    const char *at, *end;
    const xlm_large_array *disk; /* of the run */
    const char *held;            /* records from here on may take memory */
} source;

struct xlm_word_merge {
    GArray *sources; /* source: a heap, the one with the smallest record first */
    xlm_word_record *sum; /* the last record that was returned */
    size_t room;
};

/* Let the records that were read leave memory. */
static void release(source *s)
{
    const char *data = s->disk->data;
    if (data != NULL)
        xlm_large_array_release(s->disk, (size_t)(s->held - data), (size_t)(s->at - s->held));
    s->held = s->at;
}

static void sift_down(xlm_word_merge *merge, guint i)
{
    source *heap = (source *)(void *)merge->sources->data;
    const guint n = merge->sources->len;
    for (guint child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && compare(record_at(heap[child + 1].at), record_at(heap[child].at)) < 0)
            child++;
        if (compare(record_at(heap[child].at), record_at(heap[i].at)) >= 0)
            return;
        const source other = heap[i];
        heap[i] = heap[child];
        heap[child] = other;
    }
}

xlm_word_merge *xlm_word_merge_new(const xlm_word_runs *runs)
{
    xlm_word_merge *merge = g_new0(xlm_word_merge, 1);
    merge->sources = g_array_new(FALSE, FALSE, sizeof(source));
    for (guint i = 0; i < runs->runs->len; i++) {
        const run *r = &g_array_index(runs->runs, run, i);
        const source s = {r->records, r->records + r->size, &r->disk, r->records};
        g_array_append_val(merge->sources, s);
    }
    for (guint i = merge->sources->len / 2; i-- > 0;)
        sift_down(merge, i);
    return merge;
}

/* The first source continues to its next record, or leaves the heap. */
static void move_on(xlm_word_merge *merge)
{
    source *first = &g_array_index(merge->sources, source, 0);
    first->at += xlm_word_record_bytes(record_at(first->at));
    const bool ended = first->at == first->end;
    if (ended || first->at - first->held >= HELD)
        release(first);
    if (ended)
        g_array_remove_index_fast(merge->sources, 0);
    sift_down(merge, 0);
}

static const xlm_word_record *first_record(const xlm_word_merge *merge)
{
    return merge->sources->len > 0 ? record_at(g_array_index(merge->sources, source, 0).at) : NULL;
}

const xlm_word_record *xlm_word_merge_next(xlm_word_merge *merge)
{
    const xlm_word_record *record = first_record(merge);
    if (record == NULL)
        return NULL;
    const size_t bytes = xlm_word_record_bytes(record);
    if (bytes > merge->room) {
        merge->room = 2 * bytes;
        merge->sum = g_realloc(merge->sum, merge->room);
    }
    memcpy(merge->sum, record, bytes);
    move_on(merge);
    while ((record = first_record(merge)) != NULL && compare(record, merge->sum) == 0) {
        merge->sum->count += record->count;
        move_on(merge);
    }
    return merge->sum;
}

void xlm_word_merge_free(xlm_word_merge *merge)
{
    if (merge == NULL)
        return;
    g_array_unref(merge->sources);
    g_free(merge->sum);
    g_free(merge);
}
