/* xlm-mpi: files of weights of other programs, good and bad. SPDX-License-Identifier: GPL-3.0-or-later */
#include "files_fixture.h"

#include <stdint.h>
#include <string.h>

#include "foreign/safetensors.h"

static char *path_of(const char *name) { return g_build_filename(directory, name, NULL); }

static char *put_bytes(const char *name, const void *bytes, size_t size)
{
    char *path = path_of(name);
    assert_true(g_file_set_contents(path, bytes, (gssize)size, NULL));
    return path;
}

/* A file with this head, its length unless another is said, and values. */
static char *put_file(const char *name, const char *head, uint64_t length, const void *values, size_t size)
{
    GByteArray *bytes = g_byte_array_new();
    const uint64_t n = GUINT64_TO_LE(length != 0 ? length : strlen(head));
    g_byte_array_append(bytes, (const guint8 *)&n, sizeof n);
    g_byte_array_append(bytes, (const guint8 *)head, (guint)strlen(head));
    g_byte_array_append(bytes, values, (guint)size);
    char *path = put_bytes(name, bytes->data, bytes->len);
    g_byte_array_unref(bytes);
    return path;
}

static void check_values(const xlm_safetensors *tensors, const char *name, int64_t n, const float *right)
{
    GError *error = NULL;
    float values[16];
    const xlm_safetensor *t = xlm_safetensors_find(tensors, name);
    assert_non_null(t);
    assert_int_equal(t->elements, n);
    assert_true(xlm_safetensors_read(t, 0, n, values, &error));
    assert_memory_equal(values, right, sizeof *values * (size_t)n);
    if (n > 1) { /* a part of it */
        assert_true(xlm_safetensors_read(t, 1, n - 1, values, &error));
        assert_memory_equal(values, right + 1, sizeof *values * (size_t)(n - 1));
    }
}

/* Each type by bytes that were written by hand: 1, −2, the smallest half, and so on. */
static void test_types(void **state)
{
    (void)state;
    static const char head[] = "{\"__metadata__\":{\"format\":\"pt\"},"
                               "\"z\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[0,8]},"
                               "\"half\":{\"dtype\":\"F16\",\"shape\":[5],\"data_offsets\":[8,18]},\"brain\":{\"dtype\":\"BF16\","
                               "\"shape\":[2],\"data_offsets\":[18,22]},\"double\":{\"dtype\":\"F64\",\"shape\":[],"
                               "\"data_offsets\":[22,30]},\"number\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[30,38]},"
                               "\"none\":{\"dtype\":\"F32\",\"shape\":[0,3],\"data_offsets\":[38,38]}}   ";
    static const uint8_t values[38] = {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0,                        /* 1, −2 */
                                       0, 0x3c, 0, 0xc0, 1, 0, 0xff, 0x7b, 0, 0x80,            /* 1, −2, 2^−24, 65504, −0 */
                                       0x80, 0x3f, 0x49, 0xc0,                                 /* 1, −3.140625 */
                                       0, 0, 0, 0, 0, 0, 0xe0, 0x3f,                           /* 0.5 */
                                       7};
    char *path = put_file("types.safetensors", head, 0, values, sizeof values);
    GError *error = NULL;
    xlm_safetensors *tensors = xlm_safetensors_open(path, &error);
    assert_null(error);
    static const char *const names[] = {"brain", "double", "half", "none", "number", "z"};
    assert_int_equal(xlm_safetensors_count(tensors), 6);
    for (int i = 0; i < 6; i++)
        assert_string_equal(xlm_safetensors_get(tensors, i)->name, names[i]);
    check_values(tensors, "z", 2, (const float[]){1, -2});
    check_values(tensors, "half", 5, (const float[]){1, -2, 0x1p-24f, 65504, -0.0f});
    check_values(tensors, "brain", 2, (const float[]){1, -3.140625f});
    check_values(tensors, "double", 1, (const float[]){0.5f});
    check_values(tensors, "none", 0, (const float[]){0});
    const xlm_safetensor *z = xlm_safetensors_find(tensors, "z");
    assert_int_equal(z->dimensions, 2);
    assert_int_equal(z->dims[0], 2);
    assert_string_equal(z->file, path);
    assert_null(xlm_safetensors_find(tensors, "y"));
    float number;
    assert_false(xlm_safetensors_read(xlm_safetensors_find(tensors, "number"), 0, 1, &number, &error));
    assert_non_null(strstr(error->message, "tensor \"number\": its values are of type I64"));
    g_clear_error(&error);
    xlm_safetensors_close(tensors);
    g_free(path);
}

static void test_bad_heads(void **state)
{
    (void)state;
    static const struct {
        const char *head;
        uint64_t length;
        size_t size; /* bytes of values */
        const char *message;
    } bad[] = {
        {"", 0, 0, "its head would have 0 bytes"},
        {"{}", (uint64_t)1 << 63, 0, "its head would have 9223372036854775808 bytes"},
        {"{}", 100, 8, "its head would have 100 bytes, and the file has 18"},
        {" {}", 0, 0, "does not begin with {"},
        {"{\"a\":", 0, 0, "invalid JSON, line 1, column 5"},
        {"{\"a\":1}{}", 0, 0, "invalid JSON"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
         "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
         0, 8, "duplicate object key"},
        {"{\"a\":[]}", 0, 0, "tensor \"a\": it has no type"},
        {"{\"a\":{\"dtype\":\"F33\",\"shape\":[1],\"data_offsets\":[0,4]}}", 0, 4, "its type \"F33\" is not known"},
        {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 0, 4, "its shape is not a list"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 0, 4, "an extent that cannot be"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.5],\"data_offsets\":[0,4]}}", 0, 4, "an extent that cannot be"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0, 0,
         "an extent that cannot be"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 0, 0, "it has 0 bytes for"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 0, 4, "at most 8 extents"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 0, 4, "it has 4 bytes for 2 elements"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 0, 4, "are no [begin, end]"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 0, 4, "are no [begin, end]"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,99999999999999999999]}}", 0, 4, "too big integer"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 0, 4,
         "it ends at byte 8 of 4; is the file cut short?"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 0, 8, "begins at byte 4, after bytes of no tensor"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 0, 8, "4 bytes at its end are of no tensor"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
         "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}", 0, 12,
         "tensor \"b\": it begins at byte 4, where another one is"},
        {"{\"__metadata__\":{\"format\":1}}", 0, 0, "its __metadata__ is not an object of texts"},
    };
    static const uint8_t zeros[16];
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        GError *error = NULL;
        char *path = put_file("bad.safetensors", bad[i].head, bad[i].length, zeros, bad[i].size);
        assert_null(xlm_safetensors_open(path, &error));
        assert_int_equal(xlm_error_exit_code(error), EX_DATAERR);
        if (strstr(error->message, bad[i].message) == NULL || !g_str_has_prefix(error->message, path))
            fail_msg("%s: %s", bad[i].head, error->message);
        g_error_free(error);
        g_free(path);
    }
}

/* 100,000 brackets. */
static void test_deep_head(void **state)
{
    (void)state;
    GString *head = g_string_new("{\"a\":");
    for (int i = 0; i < 100000; i++)
        g_string_append_c(head, '[');
    char *path = put_file("deep.safetensors", head->str, 0, "", 0);
    GError *error = NULL;
    assert_null(xlm_safetensors_open(path, &error));
    assert_non_null(strstr(error->message, "maximum parsing depth"));
    g_error_free(error);
    g_string_free(head, TRUE);
    g_free(path);
}

static void test_not_finite(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        uint8_t bytes[16];
        int size;
        const char *message;
    } bad[] = {{"F32", {0, 0, 0, 0, 0, 0, 0xc0, 0x7f}, 4, "element 1 is not a number"},
               {"F16", {0, 0, 0, 0xfc}, 2, "element 1 is infinite"},
               {"BF16", {0, 0, 0x80, 0x7f}, 2, "element 1 is infinite"},
               {"F64", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x7e}, 8, "element 1 is infinite"}}; /* 10^304 */
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        char *head = g_strdup_printf("{\"w\":{\"dtype\":\"%s\",\"shape\":[2],\"data_offsets\":[0,%d]}}", bad[i].type,
                                     2 * bad[i].size);
        char *path = put_file("values.safetensors", head, 0, bad[i].bytes, (size_t)(2 * bad[i].size));
        GError *error = NULL;
        xlm_safetensors *tensors = xlm_safetensors_open(path, &error);
        assert_null(error);
        float values[2];
        assert_false(xlm_safetensors_read(xlm_safetensors_get(tensors, 0), 0, 2, values, &error));
        if (strstr(error->message, bad[i].message) == NULL)
            fail_msg("%s: %s", bad[i].type, error->message);
        g_clear_error(&error);
        xlm_safetensors_close(tensors);
        g_free(path);
        g_free(head);
    }
}

static void put_number(const char *name, const char *tensor, float value)
{
    char *head = g_strdup_printf("{\"%s\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", tensor);
    g_free(put_file(name, head, 0, &value, sizeof value));
    g_free(head);
}

static void expect_refused(const char *path, int code, const char *message)
{
    GError *error = NULL;
    assert_null(xlm_safetensors_open(path, &error));
    if (strstr(error->message, message) == NULL)
        fail_msg("%s", error->message);
    assert_int_equal(xlm_error_exit_code(error), code);
    g_error_free(error);
}

/* The table decides where two files have a tensor of the same name. */
static void test_table(void **state)
{
    (void)state;
    char *home = path_of("sharded");
    g_mkdir(home, 0700);
    put_number("sharded/one.safetensors", "a", 1);
    put_number("sharded/two.safetensors", "b", 2);
    put_number("sharded/three.safetensors", "a", 3);
    static const char table[] = "{\"metadata\":{},\"weight_map\":{\"b\":\"two.safetensors\",\"a\":\"three.safetensors\"}}";
    char *index = put_bytes("sharded/model.safetensors.index.json", table, strlen(table));
    GError *error = NULL;
    xlm_safetensors *tensors = xlm_safetensors_open(home, &error);
    assert_null(error);
    assert_int_equal(xlm_safetensors_count(tensors), 2);
    check_values(tensors, "a", 1, (const float[]){3});
    check_values(tensors, "b", 1, (const float[]){2});
    xlm_safetensors_close(tensors);

    static const struct {
        const char *table, *message;
        int code;
    } bad[] = {
        {"{}", "it has no weight_map", EX_DATAERR},
        {"{\"weight_map\":{\"a\":\"../one.safetensors\"}}", "tensor \"a\" is in no file of the name", EX_DATAERR},
        {"{\"weight_map\":{\"a\":\"one.bin\"}}", "tensor \"a\" is in no file of the name", EX_DATAERR},
        {"{\"weight_map\":{\"a\":1}}", "tensor \"a\" is in no file of the name", EX_DATAERR},
        {"{\"weight_map\":{\"a\":\"four.safetensors\"}}", "four.safetensors: cannot be read", EX_NOINPUT},
        {"{\"weight_map\":{\"b\":\"one.safetensors\"}}", "tensor \"b\" is not in one.safetensors", EX_DATAERR},
        {"[", "invalid JSON", EX_DATAERR},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_free(put_bytes("sharded/model.safetensors.index.json", bad[i].table, strlen(bad[i].table)));
        expect_refused(index, bad[i].code, bad[i].message);
    }
    g_free(index);
    g_free(home);
}

static void test_directories(void **state)
{
    (void)state;
    char *home = path_of("other");
    g_mkdir(home, 0700);
    expect_refused(home, EX_NOINPUT, "has neither model.safetensors nor");
    g_free(put_bytes("other/pytorch_model.bin", "\x80", 1));
    expect_refused(home, EX_DATAERR, "convert it to model.safetensors first");
    put_number("other/model.safetensors", "a", 1);
    xlm_safetensors *tensors = xlm_safetensors_open(home, NULL);
    assert_int_equal(xlm_safetensors_count(tensors), 1);
    xlm_safetensors_close(tensors);
    g_free(home);
}

/* A written file is read again, and its values begin at a multiple of eight bytes. */
static void test_writing(void **state)
{
    (void)state;
    const xlm_safetensor tensors[] = {{.name = "w", .dimensions = 2, .dims = {2, 3}},
                                      {.name = "b", .dimensions = 1, .dims = {3}}};
    static const float values[9] = {1, 2, 3, 4, 5, 6, -1, 0x1p-140f, -3e38f};
    char *path = path_of("written.safetensors"), *bytes;
    xlm_safetensors_writer writer;
    GError *error = NULL;
    assert_true(xlm_safetensors_create(&writer, path, tensors, 2, &error));
    assert_true(xlm_safetensors_write(&writer, values, 4, &error) && xlm_safetensors_write(&writer, values + 4, 5, &error));
    assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
    assert_true(xlm_safetensors_commit(&writer, &error));
    size_t size;
    assert_true(g_file_get_contents(path, &bytes, &size, NULL));
    assert_int_equal((size - sizeof values) % 8, 0);
    assert_memory_equal(bytes + size - sizeof values, values, sizeof values);
    g_free(bytes);
    xlm_safetensors *read = xlm_safetensors_open(path, &error);
    assert_null(error);
    assert_int_equal(xlm_safetensors_find(read, "w")->dims[1], 3);
    check_values(read, "w", 6, values);
    check_values(read, "b", 3, values + 6);
    xlm_safetensors_close(read);

    assert_true(xlm_safetensors_create(&writer, path, tensors, 2, &error));
    assert_false(xlm_safetensors_commit(&writer, &error)); /* nothing was written */
    g_clear_error(&error);
    g_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),      cmocka_unit_test(test_bad_heads), cmocka_unit_test(test_deep_head),
        cmocka_unit_test(test_not_finite), cmocka_unit_test(test_table),     cmocka_unit_test(test_directories),
        cmocka_unit_test(test_writing),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
