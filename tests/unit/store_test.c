/* xlm-mpi: HDF5 files written and read by one process without MPI. SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* memmem */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <glib/gstdio.h>
#include <hdf5.h>

#include "files/files.h"
#include "files/path.h"
#include "store/store.h"

static char *directory, *path;

static int set_up(void **state)
{
    (void)state;
    directory = g_dir_make_tmp("xlm-store-XXXXXX", NULL);
    path = g_build_filename(directory, "test.h5", NULL);
    return directory == NULL;
}

/* Files in the directory; removes them. */
static int clear_directory(void)
{
    GDir *dir = g_dir_open(directory, 0, NULL);
    int files = 0;
    for (const char *name; (name = g_dir_read_name(dir)) != NULL; files++) {
        char *file = g_build_filename(directory, name, NULL);
        g_unlink(file);
        g_free(file);
    }
    g_dir_close(dir);
    return files;
}

static int tear_down(void **state)
{
    (void)state;
    clear_directory();
    g_rmdir(directory);
    g_free(directory);
    g_free(path);
    return 0;
}

#define GOOD(call)                                                                                                    \
    do {                                                                                                              \
        GError *error = NULL;                                                                                         \
        bool good = (call);                                                                                           \
        if (!good || error != NULL)                                                                                   \
            fail_msg("%s: %s", #call, error != NULL ? error->message : "failed without a message");                 \
    } while (0)

/* The call fails with this exit code, and its message has both texts in it. */
#define BAD(call, exit_code, text, text2)                                                                             \
    do {                                                                                                              \
        GError *error = NULL;                                                                                         \
        bool good = (call);                                                                                           \
        assert_false(good);                                                                                           \
        assert_non_null(error);                                                                                       \
        if (error->code != (exit_code) || strstr(error->message, text) == NULL || strstr(error->message, text2) == NULL) \
            fail_msg("code %d: %s", error->code, error->message);                                                    \
        g_error_free(error);                                                                                          \
    } while (0)

static xlm_store *create(void)
{
    GError *error = NULL;
    xlm_store *store = xlm_store_create(NULL, path, &error);
    if (store == NULL)
        fail_msg("%s", error->message);
    return store;
}

static xlm_store *open_again(void)
{
    GError *error = NULL;
    xlm_store *store = xlm_store_open(path, &error);
    if (store == NULL)
        fail_msg("%s", error->message);
    return store;
}

/* n numbers of a dataset, checked, whose values are i * 3. */
static void write_numbers(xlm_store *store, const char *name, uint64_t n)
{
    uint32_t *values = g_new(uint32_t, n);
    for (uint64_t i = 0; i < n; i++)
        values[i] = (uint32_t)(i * 3);
    GOOD(xlm_store_dataset(store, name, XLM_U32, 1, &n, XLM_STORE_CHECKED, &error));
    GOOD(xlm_store_write(store, name, 0, n, values, &error));
    g_free(values);
}

static void every_type_comes_back(void **state)
{
    (void)state;
    static const uint8_t u8[] = {0, 255}; static const uint16_t u16[] = {1, 65535};
    static const uint32_t u32[] = {2, UINT32_MAX}; static const uint64_t u64[] = {3, UINT64_MAX};
    static const int32_t i32[] = {INT32_MIN, INT32_MAX}; static const int64_t i64[] = {INT64_MIN, INT64_MAX};
    static const float f32[] = {-1.5f, 3e38f}; static const double f64[] = {0.1, -1e300};
    const void *const data[] = {u8, u16, u32, u64, i32, i64, f32, f64};
    const uint64_t two = 2;
    xlm_store *store = create();
    for (int t = XLM_U8; t <= XLM_F64; t++) {
        for (int flags = 0; flags < 8; flags++) {
            char *name = g_strdup_printf("/types/%d/flags %d", t, flags);
            GOOD(xlm_store_dataset(store, name, t, 1, &two, flags, &error));
            GOOD(xlm_store_write(store, name, 0, 2, data[t], &error));
            g_free(name);
        }
    }
    GOOD(xlm_store_commit(store, &error));

    store = open_again();
    for (int t = XLM_U8; t <= XLM_F64; t++) {
        for (int flags = 0; flags < 8; flags++) {
            char *name = g_strdup_printf("/types/%d/flags %d", t, flags);
            char back[16];
            xlm_type there;
            GOOD(xlm_store_type(store, name, &there, &error));
            assert_int_equal(there, t);
            GOOD(xlm_store_read(store, name, (xlm_array){t, 2, 0}, 0, 2, back, &error));
            assert_memory_equal(back, data[t], 2 * xlm_type_size(t));
            g_free(name);
        }
    }
    xlm_type none;
    BAD(xlm_store_type(store, "/none", &none, &error), EX_DATAERR, "/none", "");
    xlm_store_close(store);
}

static void types_are_converted_on_reading(void **state)
{
    (void)state;
    const uint16_t values[] = {1, 40000, 200};
    const uint64_t n = 3;
    const double real[] = {1.25, 1e30, 7};
    xlm_store *store = create();
    GOOD(xlm_store_dataset(store, "/u16", XLM_U16, 1, &n, 0, &error));
    GOOD(xlm_store_write(store, "/u16", 0, 3, values, &error));
    GOOD(xlm_store_dataset(store, "/f64", XLM_F64, 1, &n, 0, &error));
    GOOD(xlm_store_write(store, "/f64", 0, 3, real, &error));
    GOOD(xlm_store_commit(store, &error));

    store = open_again();
    int64_t wide[3];
    GOOD(xlm_store_read(store, "/u16", (xlm_array){XLM_I64, 3, 0}, 0, 3, wide, &error));
    assert_int_equal(wide[1], 40000);
    float single[3];
    GOOD(xlm_store_read(store, "/f64", (xlm_array){XLM_F32, 3, 0}, 0, 3, single, &error));
    assert_true(single[0] == 1.25f && single[1] == 1e30f);
    uint8_t narrow[3];
    GOOD(xlm_store_read(store, "/u16", (xlm_array){XLM_U8, 3, 0}, 2, 1, narrow, &error));
    assert_int_equal(narrow[0], 200);
    BAD(xlm_store_read(store, "/u16", (xlm_array){XLM_U8, 3, 0}, 0, 3, narrow, &error), EX_DATAERR, "/u16", "too large");
    GOOD(xlm_store_read(store, "/u16", (xlm_array){XLM_U8, 3, 0}, 2, 1, narrow, &error));
    xlm_store_close(store);
}

static void shapes_and_parts_of_rows(void **state)
{
    (void)state;
    /* Rows of 120 KB: longer than a chunk. */
    enum { A = 5, B = 30000 };
    const uint64_t dims[2] = {A, B};
    float *values = g_new(float, A * B), *back = g_new0(float, A * B);
    for (int i = 0; i < A * B; i++)
        values[i] = (float)i;
    xlm_store *store = create();
    for (int flags = 0; flags < 3; flags++) {
        const char *name = ((const char *const[]){"/plain", "/chunked", "/checked"})[flags];
        GOOD(xlm_store_dataset(store, name, XLM_F32, 2, dims, flags, &error));
        GOOD(xlm_store_write(store, name, 3, 2, values + 3 * B, &error));
        GOOD(xlm_store_write(store, name, 0, 3, values, &error));
        BAD(xlm_store_write(store, name, 4, 2, values, &error), EX_SOFTWARE, name, "rows 4 to 6");
    }
    GOOD(xlm_store_commit(store, &error));

    store = open_again();
    for (int flags = 0; flags < 3; flags++) {
        const char *name = ((const char *const[]){"/plain", "/chunked", "/checked"})[flags];
        const xlm_array array = {XLM_F32, A, B};
        xlm_array found = {XLM_F32, XLM_ANY, XLM_ANY};
        GOOD(xlm_store_shape(store, name, &found, &error));
        assert_true(found.rows == A && found.columns == B);
        float *all;
        GOOD((all = xlm_store_read_all(store, name, &(xlm_array){XLM_F32, XLM_UP_TO(A), B}, &error)) != NULL);
        assert_memory_equal(all, values, sizeof *values * A * B);
        g_free(all);
        GOOD(xlm_store_read(store, name, array, 0, A, back, &error));
        assert_memory_equal(back, values, sizeof *values * A * B);
        GOOD(xlm_store_read(store, name, array, 2, 2, back, &error));
        assert_memory_equal(back, values + 2 * B, sizeof *values * 2 * B);
        GOOD(xlm_store_read(store, name, array, A, 0, back, &error));
        BAD(xlm_store_read(store, name, array, 3, 3, back, &error), EX_DATAERR, name, "there are 5");
        BAD(xlm_store_read(store, name, array, UINT64_MAX, 2, back, &error), EX_DATAERR, name, "there are 5");
    }
    xlm_store_close(store);
    g_free(values);
    g_free(back);
}

static void datasets_grow(void **state)
{
    (void)state;
    uint64_t dims[2] = {0, 3};
    xlm_store *store = create();
    GOOD(xlm_store_dataset(store, "/pairs", XLM_U16, 2, dims, XLM_STORE_GROWING | XLM_STORE_CHECKED, &error));
    uint64_t rows = 0;
    for (uint64_t add = 1; add < 20000; rows += add, add *= 7) {
        uint16_t *values = g_new(uint16_t, add * 3);
        for (uint64_t i = 0; i < add * 3; i++)
            values[i] = (uint16_t)(rows * 3 + i);
        GOOD(xlm_store_extend(store, "/pairs", rows + add, &error));
        GOOD(xlm_store_write(store, "/pairs", rows, add, values, &error));
        g_free(values);
    }
    GOOD(xlm_store_commit(store, &error));

    store = open_again();
    xlm_array array = {XLM_U16, XLM_ANY, 3};
    uint16_t *back;
    GOOD((back = xlm_store_read_all(store, "/pairs", &array, &error)) != NULL);
    assert_int_equal(array.rows, rows);
    for (uint64_t i = 0; i < rows * 3; i++)
        assert_int_equal(back[i], (uint16_t)i);
    g_free(back);
    xlm_store_close(store);
}

static void nothing_is_allowed(void **state)
{
    (void)state;
    const uint64_t shape[2] = {0, 5};
    xlm_store *store = create();
    for (int flags = 0; flags < 8; flags++) {
        char *name = g_strdup_printf("/empty/%d", flags);
        GOOD(xlm_store_dataset(store, name, XLM_F32, 2, shape, flags, &error));
        GOOD(xlm_store_write(store, name, 0, 0, "", &error));
        g_free(name);
    }
    GOOD(xlm_store_write_strings(store, "/none", 0, NULL, &error));
    GOOD(xlm_store_set_text(store, "/", "empty", "", &error));
    GOOD(xlm_store_commit(store, &error));

    store = open_again();
    for (int flags = 0; flags < 8; flags++) {
        char *name = g_strdup_printf("/empty/%d", flags);
        float *none;
        GOOD((none = xlm_store_read_all(store, name, &(xlm_array){XLM_F32, 0, 5}, &error)) != NULL);
        g_free(none);
        g_free(name);
    }
    uint64_t n = 9;
    char **strings;
    GOOD((strings = xlm_store_read_strings(store, "/none", 0, &n, &error)) != NULL);
    assert_true(n == 0 && strings[0] == NULL);
    g_strfreev(strings);
    char *text;
    GOOD((text = xlm_store_get_text(store, "/", "empty", &error)) != NULL);
    assert_string_equal(text, "");
    g_free(text);
    xlm_store_close(store);
}

static void strings_and_attributes(void **state)
{
    (void)state;
    const char *const words[] = {"the", "", "Straße", "猫", "unaufhörlich"};
    char *job = g_malloc(200001);
    for (int i = 0; i < 200000; i++)
        job[i] = (char)('a' + i % 23);
    job[200000] = '\0';
    xlm_store *store = create();
    GOOD(xlm_store_write_strings(store, "/vocabulary/words", 5, words, &error));
    GOOD(xlm_store_set_text(store, "/job", "text", job, &error));
    GOOD(xlm_store_set_text(store, "/", "title", "first", &error));
    GOOD(xlm_store_set_text(store, "/", "title", "a longer second", &error));
    GOOD(xlm_store_set_int(store, "/vocabulary/words", "count", INT64_MIN, &error));
    GOOD(xlm_store_set_real(store, "/a/b/c", "rate", 0.1, &error));
    GOOD(xlm_store_commit(store, &error));

    store = open_again();
    uint64_t n;
    char **back, *text;
    GOOD((back = xlm_store_read_strings(store, "/vocabulary/words", 100, &n, &error)) != NULL);
    assert_int_equal(n, 5);
    for (int i = 0; i < 5; i++)
        assert_string_equal(back[i], words[i]);
    g_strfreev(back);
    GOOD((text = xlm_store_get_text(store, "/job", "text", &error)) != NULL);
    assert_string_equal(text, job);
    g_free(text);
    GOOD((text = xlm_store_get_text(store, "/", "title", &error)) != NULL);
    assert_string_equal(text, "a longer second");
    g_free(text);
    int64_t count;
    double rate;
    GOOD(xlm_store_get_int(store, "/vocabulary/words", "count", &count, &error));
    assert_true(count == INT64_MIN);
    GOOD(xlm_store_get_real(store, "/a/b/c", "rate", &rate, &error));
    assert_true(rate == 0.1);
    BAD(xlm_store_get_int(store, "/", "title", &count, &error), EX_DATAERR, "'title'", "whole number");
    BAD(xlm_store_get_text(store, "/a", "rate", &error) != NULL, EX_DATAERR, "no attribute 'rate'", "/a");
    BAD(xlm_store_get_real(store, "/no/such", "rate", &rate, &error), EX_DATAERR, "/no/such", path);

    assert_true(xlm_store_has(store, "/") && xlm_store_has(store, "/a/b") && xlm_store_has(store, "/vocabulary/words"));
    assert_false(xlm_store_has(store, "/a/x") || xlm_store_has(store, "/x/y/z") || xlm_store_has(store, "a"));
    GOOD((back = xlm_store_list(store, "/", &error)) != NULL);
    text = g_strjoinv(" ", back);
    assert_string_equal(text, "a job vocabulary");
    g_free(text);
    g_strfreev(back);
    BAD(xlm_store_list(store, "/x", &error) != NULL, EX_DATAERR, "no group /x", path);
    BAD(xlm_store_read(store, "/x", (xlm_array){XLM_U8, 1, 0}, 0, 1, &n, &error), EX_DATAERR, "has no /x", path);
    BAD(xlm_store_read(store, "/a", (xlm_array){XLM_U8, 1, 0}, 0, 1, &n, &error), EX_DATAERR, "/a", path);
    BAD(xlm_store_read(store, "/vocabulary/words", (xlm_array){XLM_U8, 1, 0}, 0, 1, &n, &error), EX_DATAERR, "words", path);
    xlm_store_close(store);
    g_free(job);
}

/* ---- damage ---- */

static void files_that_are_not_ours(void **state)
{
    (void)state;
    BAD(xlm_store_open(path, &error) != NULL, EX_NOINPUT, path, "No such file");
    BAD(xlm_store_open(directory, &error) != NULL, EX_NOINPUT, directory, "directory");
    assert_true(g_file_set_contents(path, "", 0, NULL));
    BAD(xlm_store_open(path, &error) != NULL, EX_DATAERR, path, "empty");
    assert_true(g_file_set_contents(path, "not an HDF5 file, but some text", -1, NULL));
    BAD(xlm_store_open(path, &error) != NULL, EX_DATAERR, path, "not an HDF5 file");
}

static void a_flipped_byte_is_found(void **state)
{
    (void)state;
    const uint64_t n = 100000;
    uint32_t values[100];
    xlm_store *store = create();
    const xlm_array tokens = {XLM_U32, n, 0};
    write_numbers(store, "/good", 1000);
    write_numbers(store, "/tokens", n);
    GOOD(xlm_store_commit(store, &error));
    store = open_again();
    GOOD(xlm_store_read(store, "/tokens", tokens, 60000, 100, values, &error));
    xlm_store_close(store);

    char *bytes;
    gsize size;
    assert_true(g_file_get_contents(path, &bytes, &size, NULL));
    char *at = memmem(bytes, size, values, sizeof values);
    assert_non_null(at);
    at[17] ^= 4;
    assert_true(g_file_set_contents(path, bytes, (gssize)size, NULL));
    g_free(bytes);

    store = open_again();
    GOOD(xlm_store_read(store, "/good", (xlm_array){XLM_U32, 1000, 0}, 0, 100, values, &error));
    GOOD(xlm_store_read(store, "/tokens", tokens, 0, 100, values, &error));
    BAD(xlm_store_read(store, "/tokens", tokens, 60100, 100, values, &error), EX_DATAERR, "/tokens", path);
    BAD(xlm_store_read(store, "/tokens", tokens, 60100, 100, values, &error), EX_DATAERR, "do not match their Fletcher-32 checksum",
        "damaged");
    xlm_store_close(store);
}

/* The digest of a file that was found good is not computed again, unless something has been written into the file since. */
static void a_change_between_two_openings_is_found(void **state)
{
    (void)state;
    static const char text[] = "a text of the header";
    xlm_store *store = create();
    write_numbers(store, "/good", 1000);
    GOOD(xlm_store_set_text(store, "/", "job", text, &error));
    GOOD(xlm_store_commit(store, &error));
    sleep(3); /* until its times are settled */
    for (int i = 0; i < 2; i++)
        xlm_store_close(open_again());

    struct stat before;
    char *bytes;
    gsize size;
    assert_int_equal(stat(path, &before), 0);
    assert_true(g_file_get_contents(path, &bytes, &size, NULL));
    const char *at = memmem(bytes, size, text, strlen(text));
    assert_non_null(at);
    /* Into the same file, which then has the old time of modification. */
    const int file = open(path, O_WRONLY);
    assert_int_equal(pwrite(file, "A", 1, at - bytes), 1);
    const struct timespec times[2] = {before.st_atim, before.st_mtim};
    assert_int_equal(futimens(file, times), 0);
    close(file);
    g_free(bytes);
    BAD(xlm_store_open(path, &error) != NULL, EX_DATAERR, path, "damaged");
}

/* A dataset that HDF5 can write and the store does not. */
static void add_foreign(const char *name, hid_t type, int dimensions, bool deflate)
{
    const hsize_t dims[3] = {64, 2, 2};
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    if (deflate) {
        H5Pset_chunk(properties, dimensions, dims);
        H5Pset_deflate(properties, 9);
    }
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, access), space = H5Screate_simple(dimensions, dims, NULL);
    const hid_t d = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    const char zeros[64 * 4 * 8] = {0};
    assert_true(file >= 0 && d >= 0 && H5Dwrite(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros) >= 0);
    H5Dclose(d);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(properties);
    H5Pclose(access);
    xlm_store_reseal(path, NULL);
}

static void foreign_storage_is_refused(void **state)
{
    (void)state;
    const hid_t narrow = H5Tcopy(H5T_STD_I32LE);
    H5Tset_precision(narrow, 13);
    const struct { hid_t type; int dimensions; bool deflate; const char *expected; } foreign[] = {
        {H5T_STD_I32LE, 1, true, "/foreign: was written through the filter \"deflate\""},
        {H5T_STD_I32LE, 3, false, "/foreign: is not an array of one or two dimensions"},
        {H5T_STD_I32BE, 1, false, "/foreign: is of a type"},
        {narrow, 1, false, "/foreign: is of a type"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(foreign); i++) {
        xlm_store *store = create();
        write_numbers(store, "/good", 1000);
        GOOD(xlm_store_commit(store, &error));
        add_foreign("/foreign", foreign[i].type, foreign[i].dimensions, foreign[i].deflate);
        BAD(xlm_store_open(path, &error) != NULL, EX_DATAERR, path, foreign[i].expected);
    }
    H5Tclose(narrow);
}

/* Cut anywhere, a file is refused: never read as if whole. */
/* Rows of no columns take no bytes, and 2^62 of them are not gone through. */
static void rows_without_columns_are_counted(void **state)
{
    (void)state;
    const hsize_t dims[2] = {(hsize_t)1 << 62, 0};
    xlm_store *store = create();
    write_numbers(store, "/good", 1000);
    GOOD(xlm_store_commit(store, &error));
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), space = H5Screate_simple(2, dims, NULL);
    const hid_t d = H5Dcreate2(file, "/rows", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(file >= 0 && d >= 0);
    H5Dclose(d);
    H5Sclose(space);
    H5Fclose(file);
    BAD(xlm_store_open(path, &error) != NULL, EX_DATAERR, path, "/rows: says that it has more elements than the file");
}

static void a_cut_file_is_found(void **state)
{
    (void)state;
    xlm_store *store = create();
    write_numbers(store, "/tokens", 20000);
    GOOD(xlm_store_commit(store, &error));
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    for (off_t size = status.st_size - 1; size > 0; size = size / 2) {
        assert_int_equal(truncate(path, size), 0);
        BAD(xlm_store_open(path, &error) != NULL, EX_DATAERR, path, "");
    }
}

/* ---- writing that fails ---- */

static void nothing_stays_after_discarding(void **state)
{
    (void)state;
    assert_true(g_file_set_contents(path, "old", -1, NULL));
    xlm_store *store = create();
    write_numbers(store, "/tokens", 20000);
    xlm_store_discard(store);
    char *old;
    assert_true(g_file_get_contents(path, &old, NULL, NULL));
    assert_string_equal(old, "old");
    g_free(old);
    assert_int_equal(clear_directory(), 1);
}

static void directories_that_cannot_be_written(void **state)
{
    (void)state;
    char *missing = g_build_filename(directory, "no", "file.h5", NULL);
    BAD(xlm_store_create(NULL, missing, &error) != NULL, EX_CANTCREAT, missing, "No such file or directory");
    g_free(missing);
    assert_true(g_file_set_contents(path, "a file", -1, NULL));
    char *below = g_build_filename(path, "file.h5", NULL);
    BAD(xlm_store_create(NULL, below, &error) != NULL, EX_CANTCREAT, below, "Not a directory");
    g_free(below);
    g_unlink(path);
    if (geteuid() != 0) {
        assert_int_equal(g_chmod(directory, 0555), 0);
        BAD(xlm_store_create(NULL, path, &error) != NULL, EX_CANTCREAT, path, "Permission denied");
        assert_int_equal(g_chmod(directory, 0755), 0);
    }
    assert_int_equal(clear_directory(), 0);
}

static void a_limit_on_sizes_is_an_error(void **state)
{
    (void)state;
    struct rlimit old, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    limit.rlim_cur = 300000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    uint64_t n = 100000;
    xlm_store *store = create();
    write_numbers(store, "/fits", 1000);
    BAD(xlm_store_dataset(store, "/tokens", XLM_U32, 1, &n, XLM_STORE_CHECKED, &error), EX_IOERR, path, "File too large");
    xlm_store_discard(store);
    assert_int_equal(clear_directory(), 0);

    n = 0;
    store = create();
    GOOD(xlm_store_dataset(store, "/tokens", XLM_U32, 1, &n, XLM_STORE_CHECKED | XLM_STORE_GROWING, &error));
    GOOD(xlm_store_extend(store, "/tokens", 1000, &error));
    BAD(xlm_store_extend(store, "/tokens", 100000, &error), EX_IOERR, path, "ulimit -f");
    xlm_store_discard(store);
    assert_int_equal(clear_directory(), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
}

/* Made twice: the same bytes, so that digests of files can be compared. */
static void files_are_reproducible(void **state)
{
    (void)state;
    char *bytes[2];
    gsize sizes[2];
    for (int i = 0; i < 2; i++) {
        xlm_store *store = create();
        write_numbers(store, "/a/b/tokens", 50000);
        GOOD(xlm_store_set_text(store, "/a", "text", "of some length", &error));
        GOOD(xlm_store_commit(store, &error));
        assert_true(g_file_get_contents(path, &bytes[i], &sizes[i], NULL));
        if (i == 0)
            g_usleep(1100000); /* HDF5's times, were they kept, are in seconds */
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    g_free(bytes[0]);
    g_free(bytes[1]);
}

static char *text_of(const char *file)
{
    GError *error = NULL;
    xlm_store *store = xlm_store_open(file, &error);
    if (store == NULL)
        fail_msg("%s", error->message);
    assert_string_equal(xlm_store_path(store), file);
    char *text = xlm_store_get_text(store, "/", "format", NULL);
    xlm_store_close(store);
    return text;
}

static void change_target(const void *with, char **target)
{
    g_free(*target);
    *target = g_strdup(with);
}

/* A declared link leads to the same file as long as the program runs, as `latest` of a run that goes on; another to what it is. */
static void a_link_is_followed_once(void **state)
{
    (void)state;
    static const char *const names[] = {"first", "second"};
    char *files[2], *latest = g_build_filename(directory, "latest", NULL), *other = g_build_filename(directory, "other", NULL);
    for (int i = 0; i < 2; i++) {
        files[i] = g_build_filename(directory, names[i], NULL);
        GError *failure = NULL;
        xlm_store *store = xlm_store_create(NULL, files[i], &failure);
        assert_non_null(store);
        GOOD(xlm_store_set_text(store, "/", "format", names[i], &error));
        GOOD(xlm_store_commit(store, &error));
    }
    assert_int_equal(symlink("first", latest), 0);
    assert_int_equal(symlink("latest", other), 0); /* a link to a link */
    GOOD(xlm_files_declare(latest, "--model", XLM_FILE_READ, &error));
    GOOD(xlm_files_declare(other, "--other", XLM_FILE_READ, &error));
    g_unlink(latest);
    assert_int_equal(symlink("second", latest), 0);
    for (int i = 0; i < 2; i++) {
        char *text = text_of(i == 0 ? latest : other), *format = xlm_store_format(i == 0 ? latest : other);
        assert_string_equal(text, "first");
        assert_string_equal(format, "first");
        g_free(text);
        g_free(format);
    }
    g_unlink(other);
    assert_int_equal(symlink(latest, other), 0); /* by its whole path */
    char *same = xlm_files_target(files[1]), *now = xlm_path_target(other);
    assert_string_equal(same, files[1]);
    assert_string_equal(now, files[1]);
    g_free(same);
    g_free(now);
    /* Another rank says which one it is; and that one is gone. */
    xlm_files_share_targets(change_target, files[1]);
    char *text = text_of(latest);
    assert_string_equal(text, "second");
    g_free(text);
    xlm_files_share_targets(change_target, files[0]);
    g_unlink(files[0]);
    BAD(xlm_store_open(latest, &error) != NULL, EX_NOINPUT, "latest: ", "first, to which it led at first, cannot be opened");
    for (int i = 0; i < 2; i++)
        g_free(files[i]);
    g_free(latest);
    g_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_type_comes_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(types_are_converted_on_reading, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shapes_and_parts_of_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(datasets_grow, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_allowed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(strings_and_attributes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_that_are_not_ours, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_flipped_byte_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_change_between_two_openings_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cut_file_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_stays_after_discarding, set_up, tear_down),
        cmocka_unit_test_setup_teardown(directories_that_cannot_be_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_limit_on_sizes_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(foreign_storage_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_without_columns_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_are_reproducible, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_link_is_followed_once, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
