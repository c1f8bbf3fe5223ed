/* xlm-mpi: what aligners read and write, over ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <zlib.h>

#include <glib/gstdio.h>

#include "check.h"

#include "aligners/link_file.h"
#include "aligners/sentence_pairs.h"

static char directory[4096];

static const char *path_of(const char *name)
{
    static char path[8][5000];
    static int at;
    at = (at + 1) % 8;
    g_snprintf(path[at], sizeof path[at], "%s/%s", directory, name);
    return path[at];
}

/* A new file on rank 0, plain or gzip; the others wait. */
static void make(const xlm_comm *comm, const char *name, const GString *text)
{
    if (comm->rank == 0 && g_str_has_suffix(name, ".gz")) {
        gzFile file = gzopen(path_of(name), "wb");
        CHECK(file != NULL && gzwrite(file, text->str, (unsigned)text->len) == (int)text->len && gzclose(file) == Z_OK);
    } else if (comm->rank == 0)
        CHECK(g_file_set_contents(path_of(name), text->str, (gssize)text->len, NULL));
    xlm_comm_barrier(comm);
}

static void make_text(const xlm_comm *comm, const char *name, const char *text)
{
    const GString given = {.str = (char *)text, .len = strlen(text)};
    make(comm, name, &given);
}

/* Sentence i of a side: long ones at the end, some empty. */
static void append_sentence(GString *line, int side, int64_t i)
{
    const int64_t words = i % 17 == 3 ? 0 : 1 + i % 5 + i / 50;
    for (int64_t w = 0; w < words; w++)
        g_string_append_printf(line, "%s%c%" G_GINT64_FORMAT, w > 0 ? " " : "", side == 0 ? 's' : 't', i + w);
}

static void make_sides(const xlm_comm *comm, int64_t n)
{
    GString *side[2] = {g_string_new("\xef\xbb\xbf"), g_string_new("")}, *both = g_string_new("");
    for (int64_t i = 0; i < n; i++) {
        for (int s = 0; s < 2; s++)
            append_sentence(side[s], s, i);
        g_string_append(side[0], "\r\n");
        if (i + 1 < n)
            g_string_append_c(side[1], '\n');
        append_sentence(both, 0, i);
        g_string_append(both, i % 3 == 0 ? " ||| " : "\t||| ");
        append_sentence(both, 1, i);
        g_string_append_c(both, '\n');
    }
    make(comm, "source", side[0]);
    make(comm, "source.gz", side[0]);
    make(comm, "target", side[1]);
    make(comm, "target.gz", side[1]);
    make(comm, "both", both);
    make(comm, "both.gz", both);
    for (int s = 0; s < 2; s++)
        g_string_free(side[s], TRUE);
    g_string_free(both, TRUE);
}

static bool is_sentence(int side, int64_t i, const char *text, size_t size)
{
    GString *expected = g_string_new("");
    append_sentence(expected, side, i);
    const bool same = expected->len == size && memcmp(expected->str, text, size) == 0;
    g_string_free(expected, TRUE);
    return same;
}

/* This rank's pairs, up to `max_pairs`, are those of their numbers. Returns their work. */
static double read_own(const xlm_comm *comm, xlm_sentence_pairs *pairs, int64_t max_pairs)
{
    const char *text[2];
    size_t size[2];
    double work = 0;
    int64_t number = -1, n = 0;
    while (n < max_pairs) {
        int got = 0;
        GOOD((got = xlm_sentence_pairs_next(pairs, text, size, &number, &error)) >= 0);
        if (got == 0)
            break;
        CHECK(number == xlm_sentence_pairs_first(pairs) + n);
        CHECK(is_sentence(0, number, text[0], size[0]) && is_sentence(1, number, text[1], size[1]));
        work += (double)(size[0] + 1) * (double)(size[1] + 1);
        n++;
    }
    CHECK(n == MIN(max_pairs, xlm_sentence_pairs_count(pairs)));
    return work;
}

static void check_pairs(const xlm_comm *comm, const char *source, const char *target, int64_t n)
{
    const char *const files[] = {path_of(source), target != NULL ? path_of(target) : NULL};
    xlm_sentence_pairs *pairs = NULL;
    GOOD((pairs = xlm_sentence_pairs_open(comm, files, target != NULL ? 2 : 1, XLM_PAIR_WORK_PRODUCT, 1, &error)) != NULL);
    int64_t all = xlm_sentence_pairs_count(pairs);
    CHECK(xlm_sentence_pairs_total(pairs) == n);
    CHECK(xlm_sentence_pairs_first(pairs) == xlm_comm_sum_below(comm, all));
    xlm_comm_sum_int64(comm, &all, 1);
    CHECK(all == n);
    CHECK(strcmp(xlm_sentence_pairs_path(pairs, 1), files[target != NULL]) == 0);
    double work = read_own(comm, pairs, G_MAXINT64), sum = work;
    GOOD(xlm_sentence_pairs_rewind(pairs, &error));
    read_own(comm, pairs, 5);
    GOOD(xlm_sentence_pairs_rewind(pairs, &error));
    CHECK(read_own(comm, pairs, G_MAXINT64) == work);
    xlm_comm_sum_double(comm, &sum, 1);
    /* Its share, but for a pair at each end. */
    if (n >= 500)
        CHECK(work > 0.9 * sum / comm->ranks && work < 1.1 * sum / comm->ranks);
    xlm_sentence_pairs_close(pairs);
}

/* More pairs than there are blocks to note. */
static void check_many(const xlm_comm *comm)
{
    const int64_t n = 600001;
    GString *text = g_string_new("");
    for (int64_t i = 0; i < n; i++)
        g_string_append(text, i < n / 2 ? "a\n" : "aaa\n");
    make(comm, "many", text);
    g_string_free(text, TRUE);
    const char *const files[] = {path_of("many"), path_of("many")};
    xlm_sentence_pairs *pairs = NULL;
    GOOD((pairs = xlm_sentence_pairs_open(comm, files, 2, XLM_PAIR_WORK_PRODUCT, 1, &error)) != NULL);
    const char *side[2];
    size_t size[2];
    int64_t number = -1, read = 0, work = 0;
    while (xlm_sentence_pairs_next(pairs, side, size, &number, NULL) == 1) {
        CHECK(number == xlm_sentence_pairs_first(pairs) + read++ && size[0] == (number < n / 2 ? 1 : 3) && size[1] == size[0]);
        work += number < n / 2 ? 4 : 16;
    }
    int64_t sum = work;
    xlm_comm_sum_int64(comm, &sum, 1);
    xlm_comm_sum_int64(comm, &read, 1);
    CHECK(read == n && xlm_sentence_pairs_total(pairs) == n);
    CHECK(ABS((double)work - (double)sum / comm->ranks) < 0.001 * (double)sum);
    xlm_sentence_pairs_close(pairs);
}

/* By bytes added up, and in units: one long pair, most work as a product, is not half of it. */
static void check_units(const xlm_comm *comm)
{
    const int64_t n = 1000, unit = 32;
    GString *text = g_string_new("");
    for (int64_t i = 0; i < n; i++) {
        for (int k = 0; k < (i == 0 ? 400 : 9); k++)
            g_string_append_c(text, 'a');
        g_string_append_c(text, '\n');
    }
    make(comm, "units", text);
    g_string_free(text, TRUE);
    const char *const files[] = {path_of("units"), path_of("units")};
    xlm_sentence_pairs *pairs = NULL;
    GOOD((pairs = xlm_sentence_pairs_open(comm, files, 2, XLM_PAIR_WORK_SUM, unit, &error)) != NULL);
    const int64_t own = xlm_sentence_pairs_count(pairs);
    int64_t all = own;
    xlm_comm_sum_int64(comm, &all, 1);
    CHECK(all == n && xlm_sentence_pairs_first(pairs) % unit == 0);
    CHECK(own > n / comm->ranks - 3 * unit && own < n / comm->ranks + 3 * unit);
    xlm_sentence_pairs_close(pairs);
}

static bool opens(const xlm_comm *comm, const char *first, const char *second, GError **error)
{
    const char *const files[] = {first, second};
    xlm_sentence_pairs *pairs = xlm_sentence_pairs_open(comm, files, second != NULL ? 2 : 1, XLM_PAIR_WORK_PRODUCT, 1, error);
    xlm_sentence_pairs_close(pairs);
    return pairs != NULL;
}

static void check_refusals(const xlm_comm *comm)
{
    make_text(comm, "three", "a\nb\n\n");
    make_text(comm, "two", "a\nb");
    make_text(comm, "none", "");
    make_text(comm, "nowhere", "a ||| b\nc |||d\n");
    make_text(comm, "twice", "a ||| b\nc ||| d\ne ||| f ||| g\n");
    BAD(opens(comm, path_of("three"), path_of("two"), &error), EX_DATAERR, "three has 3 lines", "two 2;");
    BAD(opens(comm, path_of("two"), path_of("three"), &error), EX_DATAERR, "two has 2 lines", "three 3;");
    BAD(opens(comm, path_of("none"), path_of("none"), &error), EX_DATAERR, "none", "empty");
    BAD(opens(comm, path_of("none"), NULL, &error), EX_DATAERR, "none", "empty");
    BAD(opens(comm, path_of("nowhere"), NULL, &error), EX_DATAERR, "nowhere:2:", "has no");
    BAD(opens(comm, path_of("twice"), NULL, &error), EX_DATAERR, "twice:3:", "more than one");
    BAD(opens(comm, path_of("two"), path_of("absent"), &error), EX_NOINPUT, "absent", "");
    BAD(opens(comm, path_of("two"), "-", &error), EX_NOINPUT, "standard input", "");

    /* A side may be empty, and `|||` is a word of its own. */
    make_text(comm, "edges", "||| b\na |||\na||| | ||| |||| x\n|||");
    const char *const files[] = {path_of("edges")};
    static const char *const expected[][2] = {{"", "b"}, {"a", ""}, {"a||| |", "|||| x"}, {"", ""}};
    xlm_sentence_pairs *pairs = NULL;
    GOOD((pairs = xlm_sentence_pairs_open(comm, files, 1, XLM_PAIR_WORK_PRODUCT, 1, &error)) != NULL);
    const char *text[2];
    size_t size[2];
    for (int64_t number; xlm_sentence_pairs_next(pairs, text, size, &number, NULL) == 1;)
        for (int s = 0; s < 2; s++)
            CHECK(size[s] == strlen(expected[number][s]) && memcmp(text[s], expected[number][s], size[s]) == 0);

    /* The rank with the last pair finds them gone. */
    GOOD(xlm_sentence_pairs_rewind(pairs, &error));
    make_text(comm, "edges", "");
    GError *error = NULL;
    int got;
    while ((got = xlm_sentence_pairs_next(pairs, text, size, NULL, &error)) == 1)
        ;
    CHECK(got == 0 || (error != NULL && error->code == EX_DATAERR));
    g_clear_error(&error);
    xlm_sentence_pairs_close(pairs);
}

/* ---- links ---- */

static int files_with(const char *prefix)
{
    GDir *dir = g_dir_open(directory, 0, NULL);
    int n = 0;
    for (const char *name; (name = g_dir_read_name(dir)) != NULL;)
        n += g_str_has_prefix(name, prefix);
    g_dir_close(dir);
    return n;
}

/* Lines of pairs [rank * each, (rank + 1) * each): pair i has links k-i for k < i % 4; rank 1 has none. */
static GString *own_lines(int rank, int each)
{
    GString *lines = g_string_new("");
    for (int i = rank * each; i < (rank + 1) * each && rank != 1; i++) {
        xlm_link links[4];
        for (int k = 0; k < i % 4; k++)
            links[k] = (xlm_link){.source = k, .target = i};
        xlm_link_file_append(lines, links, i % 4);
    }
    return lines;
}

static void check_links(const xlm_comm *comm)
{
    enum { EACH = 10000 };
    GString *own = own_lines(comm->rank, EACH);
    for (int again = 0; again < 2; again++)
        GOOD(xlm_link_file_write(comm, path_of("links"), own->str, own->len, &error));
    if (comm->rank == 0) {
        GString *expected = g_string_new("");
        for (int r = 0; r < comm->ranks; r++) {
            GString *lines = own_lines(r, EACH);
            g_string_append_len(expected, lines->str, (gssize)lines->len);
            g_string_free(lines, TRUE);
        }
        char *written = NULL;
        gsize size = 0;
        CHECK(g_file_get_contents(path_of("links"), &written, &size, NULL));
        CHECK(size == expected->len && memcmp(written, expected->str, size) == 0);
        g_free(written);
        g_string_free(expected, TRUE);
        CHECK(files_with("links") == 1);
    }
    BAD(xlm_link_file_write(comm, path_of("absent/links"), own->str, own->len, &error), EX_CANTCREAT, "absent/links", "");

    /* One rank alone meets a limit; the file that was there stays. */
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 1000;
    if (comm->rank == comm->ranks - 1)
        setrlimit(RLIMIT_FSIZE, &limit);
    GString *more = own_lines(2, EACH);
    BAD(xlm_link_file_write(comm, path_of("links"), more->str, more->len, &error), EX_IOERR, "links: cannot be written", "limit");
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(files_with("links") == 1);
    g_string_free(more, TRUE);
    g_string_free(own, TRUE);
    xlm_comm_barrier(comm);
}

int main(int argc, char **argv)
{
    xlm_comm mine;
    xlm_comm_open(&mine, "aligner_files_test", &argc, &argv);
    const xlm_comm *comm = &mine;
    if (comm->rank == 0) {
        char *made = g_dir_make_tmp("aligner-files-XXXXXX", NULL);
        g_strlcpy(directory, made, sizeof directory);
        g_free(made);
    }
    xlm_comm_broadcast(comm, 0, directory, sizeof directory);
    static const int64_t sizes[] = {1, 3, 500};
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        make_sides(comm, sizes[i]);
        check_pairs(comm, "source", "target", sizes[i]);
        check_pairs(comm, "source.gz", "target", sizes[i]);
        check_pairs(comm, "source", "target.gz", sizes[i]);
        check_pairs(comm, "both", NULL, sizes[i]);
        check_pairs(comm, "both.gz", NULL, sizes[i]);
    }
    check_many(comm);
    check_units(comm);
    check_refusals(comm);
    check_links(comm);
    xlm_comm_barrier(comm);
    if (comm->rank == 0) {
        GDir *dir = g_dir_open(directory, 0, NULL);
        for (const char *name; (name = g_dir_read_name(dir)) != NULL;)
            g_unlink(path_of(name));
        g_dir_close(dir);
        g_rmdir(directory);
    }
    int64_t all = failures;
    xlm_comm_sum_int64(comm, &all, 1);
    return xlm_comm_close(&mine, NULL) != 0 || all > 0;
}
