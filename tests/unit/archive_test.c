/* xlm-mpi: text in compressed files and archives. SPDX-License-Identifier: GPL-3.0-or-later */
#include <archive.h>
#include <archive_entry.h>
#include <glib/gstdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "files/files.h"
#include "files/path.h"
#include "text/lines.h"

static char *directory;

/* Lines of all lengths, more of them than one read gives. */
enum { LINES = 12000 };
static GString *make_text(int seed)
{
    GString *text = g_string_new(NULL);
    for (int i = 0; i < LINES; i++)
        g_string_append_printf(text, "%d:%.*s\n", i * 7 + seed, i % 41, "a line that is longer in some places than in others");
    return text;
}

static char *path_of(const char *name) { return g_build_filename(directory, name, NULL); }

typedef int set_up(struct archive *to);

/* A file with members[n], written as libarchive writes them. */
static char *write_archive(const char *name, set_up *format, set_up *filter, int n, const char *const *members,
                           GString *const *texts)
{
    char *path = path_of(name);
    struct archive *to = archive_write_new();
    assert_int_equal(format(to), ARCHIVE_OK);
    assert_true(filter == NULL || filter(to) == ARCHIVE_OK);
    assert_int_equal(archive_write_open_filename(to, path), ARCHIVE_OK);
    for (int i = 0; i < n; i++) {
        struct archive_entry *entry = archive_entry_new();
        archive_entry_set_pathname(entry, members[i]);
        archive_entry_set_filetype(entry, g_str_has_suffix(members[i], "/") ? AE_IFDIR : AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, (la_int64_t)texts[i]->len);
        assert_int_equal(archive_write_header(to, entry), ARCHIVE_OK);
        assert_int_equal(archive_write_data(to, texts[i]->str, texts[i]->len), texts[i]->len);
        archive_entry_free(entry);
    }
    assert_int_equal(archive_write_close(to), ARCHIVE_OK);
    archive_write_free(to);
    return path;
}

static void expect_line(xlm_lines *lines, const GString *text, int64_t *place)
{
    const char *line, *end = strchr(text->str + *place, '\n');
    size_t length;
    GError *error = NULL;
    assert_int_equal(xlm_lines_offset(lines), *place);
    assert_int_equal(xlm_lines_next(lines, &line, &length, &error), 1);
    assert_int_equal(length, end - (text->str + *place));
    assert_memory_equal(line, text->str + *place, length);
    *place = end + 1 - text->str;
}

static void expect_end(xlm_lines *lines)
{
    const char *line;
    size_t length;
    GError *error = NULL;
    assert_int_equal(xlm_lines_next(lines, &line, &length, &error), 0);
    assert_null(error);
}

/* From the beginning to the end; then from places before and after. */
static void expect_text(const char *path, const GString *text)
{
    GError *error = NULL;
    xlm_lines *lines = xlm_lines_open(path, &error);
    if (lines == NULL)
        fail_msg("%s", error->message);
    int64_t place = 0, half = 0;
    for (int i = 0; i < LINES; i++) {
        half = i == LINES / 2 ? place : half;
        expect_line(lines, text, &place);
    }
    expect_end(lines);
    assert_in_range(xlm_lines_position(lines), 1, xlm_path_bytes(path));
    const int64_t places[] = {half, 0, half};
    for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
        place = places[i];
        assert_true(xlm_lines_seek(lines, place, place == 0 ? 0 : LINES / 2, &error));
        expect_line(lines, text, &place);
        assert_int_equal(xlm_lines_number(lines), places[i] == 0 ? 1 : LINES / 2 + 1);
    }
    xlm_lines_close(lines);
    /* The first thing that is done with it. */
    lines = xlm_lines_open(path, &error);
    assert_true(xlm_lines_seek(lines, half, LINES / 2, &error));
    expect_line(lines, text, &half);
    assert_int_equal(xlm_lines_skip(lines, LINES, &error), LINES / 2 - 1);
    xlm_lines_close(lines);
}

static const struct compression {
    const char *name;
    set_up *filter;
} compressions[] = {
    {"text.xz", archive_write_add_filter_xz},   {"text.bz2", archive_write_add_filter_bzip2},
    {"text.zst", archive_write_add_filter_zstd}, {"text.lz4", archive_write_add_filter_lz4},
    {"text.lz", archive_write_add_filter_lzip}, {"text.Z", archive_write_add_filter_compress},
    {"text.gz", archive_write_add_filter_gzip}, {"text", NULL},
};
static const char *const alone[] = {"data"};

static void test_compressed(void **state)
{
    (void)state;
    GString *text = make_text(1);
    for (size_t i = 0; i < G_N_ELEMENTS(compressions); i++) {
        g_autofree char *path = write_archive(compressions[i].name, archive_write_set_format_raw, compressions[i].filter, 1, alone,
                                              &text);
        expect_text(path, text);
        /* Its contents decide, not its name. */
        g_autofree char *other = path_of("other");
        assert_int_equal(g_rename(path, other), 0);
        expect_text(other, text);
    }
    g_string_free(text, TRUE);
}

/* Reading to the end fails, and the message has these words. */
static void refused(const char *path, int code, const char *words)
{
    GError *error = NULL;
    xlm_lines *lines = xlm_lines_open(path, &error);
    const int64_t got = lines != NULL ? xlm_lines_skip(lines, 10 * LINES, &error) : -1;
    if (got >= 0 || xlm_error_exit_code(error) != code || strstr(error->message, words) == NULL)
        fail_msg("%s: %s", path, got >= 0 ? "it was read" : error->message);
    g_clear_error(&error);
    xlm_lines_close(lines);
}

static void keep_bytes(const char *path, gsize n)
{
    char *bytes;
    gsize size;
    assert_true(g_file_get_contents(path, &bytes, &size, NULL));
    assert_true(n < size && g_file_set_contents(path, bytes, (gssize)n, NULL));
    g_free(bytes);
}

static void test_damaged(void **state)
{
    (void)state;
    GString *text = make_text(2), *nothing = g_string_new(NULL);
    for (size_t i = 0; i + 1 < G_N_ELEMENTS(compressions); i++) {
        const char *name = compressions[i].name;
        g_autofree char *path = write_archive(name, archive_write_set_format_raw, compressions[i].filter, 1, alone, &text);
        if (strcmp(name, "text.Z") != 0) { /* its form has no end */
            keep_bytes(path, (gsize)xlm_path_bytes(path) / 2);
            refused(path, EX_DATAERR, "cut short");
        }
        g_string_assign(nothing, "not compressed\n");
        assert_true(g_file_set_contents(path, nothing->str, (gssize)nothing->len, NULL));
        refused(path, EX_DATAERR, "named ");
        g_string_truncate(nothing, 0);
        if (strcmp(name, "text.Z") != 0 && strcmp(name, "text.lz4") != 0) { /* libarchive 3.6 cannot write these empty */
            g_autofree char *empty = write_archive(name, archive_write_set_format_raw, compressions[i].filter, 1, alone, &nothing);
            g_autoptr(xlm_lines) lines = xlm_lines_open(empty, NULL);
            expect_end(lines);
        }
    }
    g_string_free(text, TRUE);
    g_string_free(nothing, TRUE);
}

static void append(const char *path, const char *bytes, gsize n)
{
    char *before;
    gsize size;
    assert_true(g_file_get_contents(path, &before, &size, NULL));
    before = g_realloc(before, size + n);
    memcpy(before + size, bytes, n);
    assert_true(g_file_set_contents(path, before, (gssize)(size + n), NULL));
    g_free(before);
}

/* A file of zstd may begin with a frame that is skipped: pzstd writes one before each frame with data. */
static void test_skipped_frame(void **state)
{
    (void)state;
    GString *text = make_text(3);
    for (int kind = 0x50; kind < 0x60; kind += 5) {
        g_autofree char *path = write_archive("text.zst", archive_write_set_format_raw, archive_write_add_filter_zstd, 1, alone,
                                              &text);
        const char frame[] = {(char)kind, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 'a', 'b', 'c', 'd'};
        char *bytes;
        gsize size;
        assert_true(g_file_get_contents(path, &bytes, &size, NULL));
        g_autoptr(GString) whole = g_string_new_len(frame, sizeof frame);
        g_string_append_len(whole, bytes, (gssize)size);
        assert_true(g_file_set_contents(path, whole->str, (gssize)whole->len, NULL));
        g_free(bytes);
        expect_text(path, text);
    }
    g_string_free(text, TRUE);
}

/* libarchive takes the bytes of what it does not know for text. */
static void test_unknown_form(void **state)
{
    (void)state;
    static const char blocks_of_no_size[] = "BZh01AY&SY and more\n";
    g_autofree char *path = path_of("text.bz2");
    assert_true(g_file_set_contents(path, blocks_of_no_size, -1, NULL));
    refused(path, EX_DATAERR, "cannot read; decompress it first, with bzip2 -dc");
}

/* What follows a compressed text is another one, or an error: not an end before which half a text is left out. */
static void test_followed(void **state)
{
    (void)state;
    static const char zeros[1000];
    GString *text = make_text(5);
    for (size_t i = 0; i + 1 < G_N_ELEMENTS(compressions); i++) {
        const char *name = compressions[i].name;
        if (strcmp(name, "text.Z") == 0) /* its form has no end */
            continue;
        g_autofree char *path = write_archive(name, archive_write_set_format_raw, compressions[i].filter, 1, alone, &text);
        g_autofree char *bytes = NULL;
        gsize size;
        assert_true(g_file_get_contents(path, &bytes, &size, NULL));
        append(path, bytes, size);
        g_autoptr(xlm_lines) lines = xlm_lines_open(path, NULL);
        assert_int_equal(xlm_lines_skip(lines, 3 * LINES, NULL), 2 * LINES);
        if (strcmp(name, "text.gz") == 0) { /* as on tapes */
            append(path, zeros, sizeof zeros);
            g_autoptr(xlm_lines) padded = xlm_lines_open(path, NULL);
            assert_int_equal(xlm_lines_skip(padded, 3 * LINES, NULL), 2 * LINES);
        }
        append(path, "not compressed\n", 15);
        refused(path, EX_DATAERR, "get or make the file again");
    }
    g_string_free(text, TRUE);
}

/* gzip has the checksum of an archive at the end of the file, behind the member that is read. */
static void test_checksum(void **state)
{
    (void)state;
    static const char *const members[] = {"en", "xx"};
    GString *en = make_text(6), *xx = make_text(7), *const texts[] = {en, xx};
    g_autofree char *path = write_archive("sum.tar.gz", archive_write_set_format_ustar, archive_write_add_filter_gzip, 2, members,
                                          texts);
    g_autofree char *member = g_strconcat(path, "/en", NULL), *bytes = NULL;
    gsize size;
    expect_text(member, en);
    assert_true(g_file_get_contents(path, &bytes, &size, NULL));
    bytes[size - 6] ^= 1;
    assert_true(g_file_set_contents(path, bytes, (gssize)size, NULL));
    refused(member, EX_DATAERR, "sum.tar.gz: damaged");
    g_string_free(en, TRUE);
    g_string_free(xx, TRUE);
}

static void test_archives(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        set_up *format, *filter;
    } archives[] = {
        {"all.zip", archive_write_set_format_zip, NULL},
        {"all.tar", archive_write_set_format_pax_restricted, NULL},
        {"all.tar.gz", archive_write_set_format_gnutar, archive_write_add_filter_gzip},
        {"all.tar.xz", archive_write_set_format_ustar, archive_write_add_filter_xz},
        {"all.7z", archive_write_set_format_7zip, NULL},
    };
    static const char *const members[] = {"data/", "data/en", "./data/xx"};
    GString *nothing = g_string_new(NULL), *en = make_text(3), *xx = make_text(4), *const texts[] = {nothing, en, xx};
    for (size_t i = 0; i < G_N_ELEMENTS(archives); i++) {
        g_autofree char *path = write_archive(archives[i].name, archives[i].format, archives[i].filter, 3, members, texts);
        g_autofree char *first = g_strconcat(path, "/data/en", NULL), *second = g_strconcat(path, "/data/xx", NULL);
        expect_text(first, en);
        expect_text(second, xx);
        refused(path, EX_DATAERR, "as ");
        refused(path, EX_DATAERR, "/NAME: data/en, data/xx");
        g_autofree char *third = g_strconcat(path, "/data/yy", NULL), *folder = g_strconcat(path, "/data", NULL);
        refused(third, EX_NOINPUT, "there is no file data/yy in this archive; it has data/en, data/xx");
        refused(folder, EX_NOINPUT, "there is no file data in");
        char digest[2][XLM_SHA256_TEXT];
        assert_true(xlm_file_sha256(path, digest[0], NULL, NULL, NULL) && xlm_file_sha256(first, digest[1], NULL, NULL, NULL));
        assert_string_equal(digest[0], digest[1]);
        keep_bytes(path, (gsize)xlm_path_bytes(path) / 3);
        refused(first, EX_DATAERR, path);
    }
    /* A file that is no archive has no members. */
    g_autofree char *plain = path_of("plain"), *member = path_of("plain/en"), *missing = path_of("missing/en");
    assert_true(g_file_set_contents(plain, "a\nb\n", -1, NULL));
    refused(member, EX_DATAERR, "plain: ");
    refused(missing, EX_NOINPUT, "missing/en: ");
    for (int i = 0; i < 3; i++)
        g_string_free(texts[i], TRUE);
}

int main(void)
{
    directory = g_dir_make_tmp("xlm-archive-XXXXXX", NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_damaged), cmocka_unit_test(test_followed),
        cmocka_unit_test(test_skipped_frame), cmocka_unit_test(test_unknown_form),
        cmocka_unit_test(test_checksum), cmocka_unit_test(test_archives),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    g_autofree char *remove = g_strdup_printf("rm -rf '%s'", directory);
    return system(remove) != 0 ? 1 : failed;
}
