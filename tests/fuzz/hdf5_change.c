/* xlm-mpi: a good HDF5 file changed as the fuzz input says. SPDX-License-Identifier: GPL-3.0-or-later */
#include "hdf5_change.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../unit/hostile.h"

enum { CHANGES = 4, CHANGE_SIZE = 20, MOST_ELEMENTS = 4096, TEXT_SIZE = 16 };

typedef struct object {
    char *path;
    bool is_dataset;
    int64_t elements;
    GPtrArray *attributes; /* names */
} object;

struct fuzz_original {
    char *name, *bytes;
    gsize size;
    GArray *objects;
};

/* ---- what there is to change ---- */

static herr_t add_attribute(hid_t at, const char *name, const H5A_info_t *info, void *data)
{
    (void)at, (void)info;
    g_ptr_array_add(data, g_strdup(name));
    return 0;
}

static herr_t add_object(hid_t file, const char *name, const H5O_info_t *info, void *data)
{
    fuzz_original *original = data;
    object o = {.path = strcmp(name, ".") == 0 ? g_strdup("/") : g_strconcat("/", name, NULL),
                .is_dataset = info->type == H5O_TYPE_DATASET, .attributes = g_ptr_array_new()};
    const hid_t id = H5Oopen(file, name, H5P_DEFAULT);
    hsize_t start = 0;
    H5Aiterate2(id, H5_INDEX_NAME, H5_ITER_INC, &start, add_attribute, o.attributes);
    if (o.is_dataset) {
        const hid_t space = H5Dget_space(id);
        o.elements = H5Sget_simple_extent_npoints(space);
        H5Sclose(space);
    }
    H5Oclose(id);
    g_array_append_val(original->objects, o);
    return 0;
}

fuzz_original *fuzz_original_read(const char *path)
{
    fuzz_original *original = g_new0(fuzz_original, 1);
    original->name = g_path_get_basename(path);
    original->objects = g_array_new(FALSE, FALSE, sizeof(object));
    fuzz_require(g_file_get_contents(path, &original->bytes, &original->size, NULL), "the good file can be read");
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    fuzz_require(file >= 0 && H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, add_object, original, H5O_INFO_BASIC) >= 0,
                 "the good file is HDF5");
    H5Fclose(file);
    return original;
}

/* ---- changes ---- */

static int64_t choose_integer(uint8_t choice, const uint8_t *bytes, int64_t elements)
{
    const int64_t known[] = {0, 1, -1, 2, elements, elements - 1, elements + 1, INT32_MAX, (int64_t)INT32_MAX + 1, UINT32_MAX,
                             (int64_t)1 << 40, (int64_t)1 << 62, INT64_MAX, INT64_MIN};
    int64_t number;
    if (choice < G_N_ELEMENTS(known))
        return known[choice];
    memcpy(&number, bytes, sizeof number);
    return choice & 1 ? number : bytes[0];
}

static double choose_real(uint8_t choice, const uint8_t *bytes)
{
    static const double known[] = {0, 1, -1, 0.5, 2, 1e-300, 1e300, NAN, INFINITY, -INFINITY, -0.0, 9.3e18};
    double number;
    if (choice < G_N_ELEMENTS(known))
        return known[choice];
    memcpy(&number, bytes, sizeof number);
    return number;
}

static uint64_t below(int64_t number, int64_t n) { return n > 0 ? (uint64_t)number % (uint64_t)n : 0; }

/* What can be made of an object: attributes of any, elements of datasets. */
static change_kind choose_kind(uint8_t byte, bool is_dataset)
{
    static const change_kind datasets[] = {RESHAPE, RETYPE_REAL, RETYPE_INT, RETYPE_TEXT, ELEMENT_INT, ELEMENT_REAL, ELEMENT_TEXT,
                                           UNALLOCATED, EXTERNAL, REMOVE, SOFT_LINK, OUTER_LINK};
    static const change_kind attributes[] = {SET_INT, SET_REAL, SET_TEXT, SET_UNSIGNED, SET_TWO, REMOVE};
    return is_dataset ? datasets[byte % G_N_ELEMENTS(datasets)] : attributes[byte % G_N_ELEMENTS(attributes)];
}

static change read_change(const fuzz_original *original, const uint8_t *b, char text[TEXT_SIZE + 1])
{
    const object *o = &g_array_index(original->objects, object, b[1] % original->objects->len);
    const bool elements = o->is_dataset && (o->attributes->len == 0 || b[0] & 0x80);
    change c = {.object = o->path, .kind = choose_kind(b[0] & 0x7f, elements), .text = text};
    memcpy(text, b + 4, TEXT_SIZE);
    if (!elements)
        c.name = o->attributes->len > 0 ? o->attributes->pdata[b[2] % o->attributes->len] : "other";
    c.i = choose_integer(b[3], b + 4, o->elements);
    c.j = b[12] % 4;
    c.r = choose_real(b[3], b + 4);
    if (c.kind == RESHAPE)
        c.i = (int64_t)below(c.i, MOST_ELEMENTS);
    else if (c.kind == UNALLOCATED)
        c.i &= INT64_MAX;
    else if (c.kind == ELEMENT_INT)
        c.r = b[13] & 1 ? 0 : (double)below((int64_t)b[12] << 8 | b[14], o->elements);
    else if (c.kind == ELEMENT_REAL || c.kind == ELEMENT_TEXT)
        c.i = (int64_t)below((int64_t)b[12] << 8 | b[14], o->elements);
    return c;
}

static void make_changes(const fuzz_original *original, const char *path, const uint8_t *data, size_t size)
{
    const bool show = g_getenv("XLM_FUZZ_SHOW") != NULL;
    for (int n = 0; n < CHANGES && size >= CHANGE_SIZE; n++, data += CHANGE_SIZE, size -= CHANGE_SIZE) {
        char text[TEXT_SIZE + 1] = "";
        const change c = read_change(original, data, text);
        const bool made = make_change(path, &c);
        if (show)
            fprintf(stderr, "%s %s: kind %d, %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %g, `%s`%s\n", c.object,
                    c.name != NULL ? c.name : "", c.kind, c.i, c.j, c.r, c.text, made ? "" : " (not possible)");
    }
}

static const char *write_raw(const fuzz_original *original, const uint8_t *data, size_t size)
{
    char *bytes = g_memdup2(original->bytes, original->size);
    for (; size >= 4; data += 4, size -= 4)
        bytes[((size_t)data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16) % original->size] = (char)data[3];
    const char *path = fuzz_write(original->name, bytes, original->size);
    g_free(bytes);
    return path;
}

const char *fuzz_original_change(const fuzz_original *original, const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] == FUZZ_RAW)
        return write_raw(original, data + 1, size - 1);
    const char *path = fuzz_write(original->name, original->bytes, original->size);
    make_changes(original, path, data, size);
    return path;
}
