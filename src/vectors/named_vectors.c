/* xlm-mpi: reading files of words with their vectors. SPDX-License-Identifier: GPL-3.0-or-later */
#include "vectors/named_vectors.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "files/files.h"
#include "text/lines.h"
#include "text/normalise.h"
#include "vectors/vector_file.h"

enum { WIDEST = 1 << 20, ROOM = 1 << 18 }; /* maximum width; numbers for which memory is taken at first */

/* A file that is being read. */
typedef struct reader {
    xlm_named_vectors *to;
    int64_t room;               /* number of vectors for which `to` has memory, when text is read */
    int64_t said, max_words;    /* numbers of words: in the first line of text, −1: none there; wanted, 0: all */
    int64_t repeated, unreadable;
} reader;

/* Add a word. False if it is already there or is not text. */
static bool add_name(reader *r, const char *name, size_t size)
{
    if (memchr(name, '\0', size) != NULL || xlm_utf8_check(name, size) < size) {
        r->unreadable++;
        return false;
    }
    g_autofree char *copy = g_strndup(name, size);
    if (g_hash_table_contains(r->to->numbers, copy)) {
        r->repeated++;
        return false;
    }
    g_hash_table_insert(r->to->numbers, copy, GSIZE_TO_POINTER((gsize)r->to->names->len + 1));
    g_ptr_array_add(r->to->names, g_steal_pointer(&copy));
    r->to->n++;
    return true;
}

/* ---- text ---- */

/* The number of fields between blanks. */
static int64_t count_fields(const char *line, size_t size)
{
    int64_t n = 0;
    for (size_t i = 0; i < size; i++)
        n += !xlm_is_blank(line[i]) && (i == 0 || xlm_is_blank(line[i - 1]));
    return n;
}

/* Where the last n fields of a line begin, which may have no blank at its end. */
static size_t last_fields(const char *line, size_t size, int64_t n)
{
    size_t at = size;
    for (int64_t k = 0; k < n; k++) {
        while (at > 0 && xlm_is_blank(line[at - 1]))
            at--;
        while (at > 0 && !xlm_is_blank(line[at - 1]))
            at--;
    }
    return at;
}

/* "N d"? */
static bool read_head(reader *r, const char *line)
{
    char *end;
    if (!g_ascii_isdigit(*line))
        return false;
    const gint64 n = g_ascii_strtoll(line, &end, 10);
    if (!xlm_is_blank(*end))
        return false;
    while (xlm_is_blank(*end))
        end++;
    const gint64 width = g_ascii_isdigit(*end) ? g_ascii_strtoll(end, &end, 10) : 0;
    if (*end != '\0' || width < 1 || width > WIDEST)
        return false;
    r->said = n;
    r->to->width = width;
    return true;
}

/* Append the numbers of a vector, which begin at `at`. */
static bool add_numbers(reader *r, const xlm_lines *lines, const char *at, GError **error)
{
    const int64_t width = r->to->width;
    if (r->to->n > r->room) {
        r->room = MAX(ROOM / width + 1, r->room + r->room / 2 + 1);
        r->to->values = g_realloc_n(r->to->values, (gsize)r->room, sizeof(float) * (gsize)width);
    }
    float *to = r->to->values + (r->to->n - 1) * width;
    for (int64_t c = 0; c < width; c++) {
        char *end;
        to[c] = (float)g_ascii_strtod(at, &end);
        if (end == at || (*end != '\0' && !xlm_is_blank(*end)))
            return XLM_LINES_REFUSE(lines, error, "number %" G_GINT64_FORMAT " of its %" G_GINT64_FORMAT " is none; a line is a "
                                    "word and as many numbers as in the first", c + 1, width);
        if (!isfinite(to[c]))
            return XLM_LINES_REFUSE(lines, error, "has a number that is not finite");
        at = end;
    }
    return true;
}

/* line: 0-terminated after its `size` bytes, without blanks at its end. */
static bool add_line(reader *r, const xlm_lines *lines, const char *line, size_t size, GError **error)
{
    if (r->to->width == 0) { /* the first that is not empty */
        if (count_fields(line, size) == 2 && read_head(r, line))
            return true;
        r->to->width = count_fields(line, size) - 1;
        if (r->to->width < 1 || r->to->width > WIDEST)
            return XLM_LINES_REFUSE(lines, error, "is neither \"N d\" nor a word and its numbers");
    }
    size_t begin = last_fields(line, size, r->to->width), end = begin;
    while (end > 0 && xlm_is_blank(line[end - 1]))
        end--;
    if (end == 0)
        return XLM_LINES_REFUSE(lines, error, "has no word and %" G_GINT64_FORMAT " numbers", r->to->width);
    return !add_name(r, line, end) || add_numbers(r, lines, line + begin, error);
}

static bool read_text(reader *r, const char *path, GError **error)
{
    g_autoptr(xlm_lines) lines = xlm_lines_open(path, error);
    if (lines == NULL)
        return false;
    g_autoptr(GString) copy = g_string_new(NULL);
    const char *line;
    size_t size;
    int more = 0;
    bool good = true;
    xlm_progress progress = xlm_progress_begin("reading vectors", 0, "words");
    while (good && (r->max_words == 0 || r->to->n < r->max_words) && (more = xlm_lines_next(lines, &line, &size, error)) > 0) {
        while (size > 0 && xlm_is_blank(line[size - 1]))
            size--;
        g_string_truncate(copy, 0);
        g_string_append_len(copy, line, (gssize)size);
        good = size == 0 || add_line(r, lines, copy->str, size, error);
        xlm_progress_show(&progress, (double)r->to->n);
    }
    xlm_progress_end(&progress);
    good = good && more >= 0;
    const int64_t all = r->to->n + r->repeated + r->unreadable;
    if (good && more == 0 && r->said >= 0 && all < r->said && (r->max_words == 0 || r->to->n < r->max_words))
        good = xlm_error_set(error, EX_DATAERR, "%s: its first line says %" G_GINT64_FORMAT " words, and there are %"
                             G_GINT64_FORMAT "; it is cut short", path, r->said, all);
    return good;
}

/* ---- HDF5 ---- */

static bool check_finite(const xlm_named_vectors *v, const char *path, GError **error)
{
    for (int64_t i = 0; i < v->n * v->width; i++)
        if (!isfinite(v->values[i]))
            return xlm_error_set(error, EX_DATAERR, "%s: /vectors, row %" G_GINT64_FORMAT ": has a number that is not finite",
                                 path, i / v->width);
    return true;
}

static bool read_store(reader *r, const char *path, GError **error)
{
    xlm_named_vectors *v = r->to;
    xlm_array array;
    g_auto(GStrv) words = NULL;
    g_autoptr(xlm_store) store = xlm_vector_store_open(path, &array, &words, error);
    if (store == NULL)
        return false;
    if (words == NULL)
        return xlm_error_set(error, EX_DATAERR, "%s: its vectors are of sentences, which have no names; words are needed", path);
    const int64_t n = r->max_words > 0 ? MIN((int64_t)array.rows, r->max_words) : (int64_t)array.rows;
    v->width = (int64_t)array.columns;
    v->values = g_new(float, MAX(n * v->width, 1));
    if (!xlm_store_read(store, "/vectors", array, 0, (uint64_t)n, v->values, error))
        return false;
    for (int64_t i = 0; i < n; i++)
        if (add_name(r, words[i], strlen(words[i])))
            memmove(v->values + (v->n - 1) * v->width, v->values + i * v->width, sizeof(float) * (size_t)v->width);
    return check_finite(v, path, error);
}

/* ---- all ---- */

xlm_named_vectors *xlm_named_vectors_read(const char *path, int64_t max_words, GError **error)
{
    xlm_named_vectors *v = g_new0(xlm_named_vectors, 1);
    v->names = g_ptr_array_new_with_free_func(g_free);
    v->numbers = g_hash_table_new(g_str_hash, g_str_equal);
    reader r = {.to = v, .said = -1, .max_words = max_words};
    bool good = (xlm_files_is_hdf5(path) ? read_store : read_text)(&r, path, error);
    if (good && v->n == 0)
        good = xlm_error_set(error, EX_DATAERR, "%s: there is no word with a vector", path);
    if (good && r.repeated > 0)
        xlm_log_warn("%s: %" G_GINT64_FORMAT " words occur there again; the first vector of each is taken", path, r.repeated);
    if (good && r.unreadable > 0)
        xlm_log_warn("%s: %" G_GINT64_FORMAT " words are not UTF-8, and skipped", path, r.unreadable);
    if (!good)
        g_clear_pointer(&v, xlm_named_vectors_free);
    return v;
}

void xlm_named_vectors_free(xlm_named_vectors *vectors)
{
    if (vectors == NULL)
        return;
    g_hash_table_unref(vectors->numbers);
    g_ptr_array_unref(vectors->names);
    g_free(vectors->values);
    g_free(vectors);
}

int64_t xlm_named_vectors_find(const xlm_named_vectors *vectors, const char *name)
{
    return (int64_t)GPOINTER_TO_SIZE(g_hash_table_lookup(vectors->numbers, name)) - 1;
}
