/* xlm-mpi: where the lines of a plain text file begin. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text/line_index.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/progress.h"
#include "files/files.h"
#include "text/lines.h"

/* Places are that far from each other, or farther, so that there are not too many. */
enum { MIN_DISTANCE = 1 << 17, MAX_PLACES = 1 << 19, BUFFER = 1 << 18 };

/* ---- the share of a rank: the lines that begin in a range of bytes ---- */

/* What is known of the share, as if it were a file. */
struct share {
    int64_t begin, end; /* bytes */
    int64_t lines, units;
    int64_t joined; /* 1: its first sentence may have begun before it, since no blank line comes before its words */
    int64_t blank;  /* 1: it has a blank line */
    int64_t inside; /* 1: it ends inside a sentence that has words */
};

struct counter {
    xlm_index_unit unit;
    int64_t bytes, distance;
    struct share share;
    int64_t noted; /* where the last place is, or the next one would be too near */
    GArray *places; /* xlm_line_place, counted from the beginning of the share */
    /* The present line. */
    int64_t line; /* where it begins; -1: it began before the share */
    bool words;   /* it has more than white space */
    char first;   /* its first character, 0 if it has none yet */
};

/* A line begins at `offset`. In an index of sentences a place is noted only behind a blank line. */
static void begin_line(struct counter *c, int64_t offset, bool after_blank)
{
    c->line = offset;
    c->words = false;
    c->first = 0;
    if (offset >= c->share.end || offset - c->noted < c->distance || (c->unit == XLM_INDEX_SENTENCES && !after_blank))
        return;
    const xlm_line_place place = {offset, c->share.lines, c->share.units};
    g_array_append_val(c->places, place);
    c->noted = offset;
}

/* The present line has ended. Returns whether it was blank. */
static bool end_line(struct counter *c)
{
    if (c->line < 0)
        return false;
    struct share *s = &c->share;
    s->lines++;
    if (c->unit == XLM_INDEX_LINES) {
        s->units++;
        return false;
    }
    if (!c->words) {
        s->blank = 1;
        s->inside = 0;
    } else if (c->first != '#' && !s->inside) {
        s->inside = 1;
        s->units++;
        s->joined = s->joined || (s->units == 1 && !s->blank);
    }
    return !c->words;
}

/* Look at a part of the present line that is at `offset` in the file. */
static void see_part(struct counter *c, const char *text, size_t size, int64_t offset)
{
    if (c->unit == XLM_INDEX_LINES || c->words || c->line < 0)
        return;
    const size_t mark = offset == 0 ? xlm_lines_mark(text, size) : 0;
    for (size_t i = mark; i < size && !c->words; i++) {
        c->first = c->first == 0 ? text[i] : c->first;
        c->words = !g_ascii_isspace(text[i]);
    }
}

/* Bytes that are at `offset`. Returns false when the share has ended. */
static bool see(struct counter *c, const char *text, size_t size, int64_t offset)
{
    for (const char *at = text, *end = text + size; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        see_part(c, at, (size_t)((stop != NULL ? stop : end) - at), offset + (at - text));
        if (stop == NULL)
            break;
        at = stop + 1;
        const bool blank = end_line(c);
        begin_line(c, offset + (at - text), blank);
        if (c->line >= c->share.end)
            return false;
    }
    return true;
}

static bool read_share(struct counter *c, int file, const char *name, GError **error)
{
    g_autofree char *buffer = g_malloc(BUFFER);
    /* The byte before the share tells whether a line begins with it. */
    int64_t at = MAX(c->share.begin - 1, 0);
    c->line = c->share.begin > 0 ? -1 : 0;
    c->noted = c->share.begin > 0 ? c->share.begin - c->distance : 0;
    if (c->share.begin >= c->share.end)
        return true;
    xlm_progress progress = xlm_progress_begin("looking for lines", (double)(c->share.end - at), "B");
    for (const int64_t first = at;;) {
        xlm_progress_show(&progress, (double)(at - first));
        const ssize_t got = pread(file, buffer, BUFFER, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return xlm_error_set(error, EX_IOERR, "%s: cannot be read: %s", name, g_strerror(errno));
        if (got > 0 && !see(c, buffer, (size_t)got, at))
            break;
        at += got;
        /* A line that is longer than allowed is an error wherever it is read; no other share needs its end. */
        if (got == 0 || at > c->share.end + XLM_LINES_LONGEST)
            break;
    }
    xlm_progress_end(&progress);
    if (c->line >= 0 && c->line < MIN(c->share.end, at))
        end_line(c);
    return true;
}

static int open_file(const char *path, const char *name, int64_t *bytes, GError **error)
{
    struct stat status;
    const int file = xlm_files_check_input(path, error) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0 && fstat(file, &status) == 0) {
        *bytes = (int64_t)status.st_size;
        return file;
    }
    if (error == NULL || *error == NULL)
        xlm_error_set(error, EX_NOINPUT, "%s: %s", name, g_strerror(errno));
    if (file >= 0)
        close(file);
    return -1;
}

/* ---- all shares together ---- */

/* Set the share of this rank, in whole distances. */
static void divide(struct counter *c, const xlm_comm *comm)
{
    c->distance = MAX(MIN_DISTANCE, c->bytes / MAX_PLACES);
    const int64_t n = c->bytes / c->distance + 1, ranks = comm->ranks, r = comm->rank;
    const int64_t first = n / ranks * r + MIN(r, n % ranks), own = n / ranks + (r < n % ranks);
    c->share.begin = MIN(first * c->distance, c->bytes);
    c->share.end = MIN((first + own) * c->distance, c->bytes);
}

/* Add the places of a rank, which has `count`, to those of the ranks before it. inside: the share before ended inside a sentence;
 * [out] whether this one does. */
static bool join(xlm_line_index *index, const struct share *share, const xlm_line_place *places, int64_t count, bool inside)
{
    const int64_t less = inside && share->joined;
    for (int64_t i = 0; i < count; i++)
        index->place[index->count++] =
            (xlm_line_place){places[i].offset, places[i].lines + index->lines, places[i].units + index->units - less};
    index->lines += share->lines;
    index->units += share->units - less;
    return share->inside || (inside && !share->blank);
}

static xlm_line_index *gather(const xlm_comm *comm, const struct counter *c)
{
    g_autofree size_t *sizes = g_new(size_t, comm->ranks);
    g_autofree struct share *shares = NULL;
    g_autofree xlm_line_place *places = NULL;
    void *all;
    xlm_comm_gather_all(comm, &c->share, sizeof c->share, &all, sizes);
    shares = all;
    xlm_comm_gather_all(comm, c->places->data, c->places->len * sizeof(xlm_line_place), &all, sizes);
    places = all;
    xlm_line_index *index = g_new0(xlm_line_index, 1);
    *index = (xlm_line_index){.unit = c->unit, .bytes = c->bytes};
    size_t n = 0;
    for (int r = 0; r < comm->ranks; r++)
        n += sizes[r] / sizeof(xlm_line_place);
    index->place = g_new(xlm_line_place, n);
    bool inside = false;
    for (int r = 0; r < comm->ranks; r++)
        inside = join(index, &shares[r], places + index->count, (int64_t)(sizes[r] / sizeof(xlm_line_place)), inside);
    return index;
}

xlm_line_index *xlm_line_index_make(const xlm_comm *comm, const char *path, const char *name, xlm_index_unit unit,
                                    GError **error)
{
    GError *failure = NULL;
    struct counter c = {.unit = unit, .places = g_array_new(FALSE, FALSE, sizeof(xlm_line_place))};
    const int file = open_file(path, name, &c.bytes, &failure);
    /* One size for all, even if the file grows. */
    xlm_comm_broadcast(comm, 0, &c.bytes, sizeof c.bytes);
    divide(&c, comm);
    if (file >= 0)
        read_share(&c, file, name, &failure);
    if (file >= 0)
        close(file);
    xlm_line_index *index = xlm_comm_agree_on(comm, failure, error) ? gather(comm, &c) : NULL;
    g_array_unref(c.places);
    return index;
}

/* Number of places with at most `most` of a member of xlm_line_place, by which they ascend, at this offset in it. */
static int64_t count_places(const xlm_line_index *index, size_t member, int64_t most)
{
    int64_t low = 0, high = index->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (G_STRUCT_MEMBER(int64_t, &index->place[middle], member) <= most)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Place number n − 1; for n = 0, the beginning of the file. */
static xlm_line_place place_before(const xlm_line_index *index, int64_t n)
{
    return n > 0 ? index->place[n - 1] : (xlm_line_place){0};
}

xlm_line_place xlm_line_index_find(const xlm_line_index *index, int64_t unit)
{
    const int64_t most = index->unit == XLM_INDEX_SENTENCES ? unit - 1 : unit;
    return place_before(index, count_places(index, offsetof(xlm_line_place, units), most));
}

int64_t xlm_line_index_divide(const xlm_line_index *index, int64_t part, int64_t parts)
{
    const int64_t byte = index->bytes / parts * part + index->bytes % parts * part / parts;
    const int64_t n = count_places(index, offsetof(xlm_line_place, offset), byte);
    const xlm_line_place begin = place_before(index, n);
    const xlm_line_place end =
        n < index->count ? index->place[n] : (xlm_line_place){index->bytes, index->lines, index->units};
    if (byte >= end.offset)
        return end.units;
    const double share = (double)(byte - begin.offset) / (double)(end.offset - begin.offset);
    return begin.units + (int64_t)(share * (double)(end.units - begin.units));
}

void xlm_line_index_free(xlm_line_index *index)
{
    if (index == NULL)
        return;
    g_free(index->place);
    g_free(index);
}
