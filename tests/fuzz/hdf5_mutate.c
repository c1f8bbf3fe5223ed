/* xlm-mpi: changes of HDF5 files (hdf5_change.h) made up from what is in the file. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Numbers are those of the file and of its extents, one more and one less, and the limits of types: what readers compare with. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <hdf5.h>

#include "hdf5_change.h"

enum { MAX_VALUES = 64 /* elements of a dataset that are looked at */, MAX_LINES = 4 };

typedef struct attribute {
    char *name;
    H5T_class_t class;
} attribute;

typedef struct object {
    char *path;
    bool is_dataset;
    H5T_class_t class;
    hsize_t dims[H5S_MAX_RANK];
    int dimensions;
    int64_t elements;
    GArray *attributes;
} object;

struct fuzz_structure {
    GArray *objects;
    GArray *numbers;  /* int64_t: all there are */
    GArray *reals;    /* double */
    GPtrArray *texts;
};

/* ---- what there is ---- */

/* n values of a type, as numbers or texts of the structure. */
static void take_values(fuzz_structure *s, hid_t type, void *values, int64_t n)
{
    const size_t size = H5Tget_size(type);
    const H5T_class_t class = H5Tget_class(type);
    if (class == H5T_STRING && H5Tis_variable_str(type) <= 0) {
        for (int64_t i = 0; i < MIN(n, MAX_VALUES); i++)
            g_ptr_array_add(s->texts, g_strndup((char *)values + (size_t)i * size, size));
    } else if (class == H5T_INTEGER && H5Tconvert(type, H5T_NATIVE_INT64, (size_t)n, values, NULL, H5P_DEFAULT) >= 0) {
        g_array_append_vals(s->numbers, values, (guint)MIN(n, MAX_VALUES));
    } else if (class == H5T_FLOAT && H5Tconvert(type, H5T_NATIVE_DOUBLE, (size_t)n, values, NULL, H5P_DEFAULT) >= 0) {
        g_array_append_vals(s->reals, values, (guint)MIN(n, MAX_VALUES));
    }
}

typedef struct visit {
    fuzz_structure *structure;
    GArray *attributes;
} visit;

static herr_t add_attribute(hid_t at, const char *name, const H5A_info_t *info, void *data)
{
    (void)info;
    const visit *v = data;
    const hid_t id = H5Aopen(at, name, H5P_DEFAULT), type = H5Aget_type(id);
    const attribute a = {.name = g_strdup(name), .class = H5Tget_class(type)};
    char *value = g_malloc0(H5Tget_size(type) + sizeof(int64_t));
    if (H5Aread(id, type, value) >= 0)
        take_values(v->structure, type, value, 1);
    g_free(value);
    H5Tclose(type);
    H5Aclose(id);
    g_array_append_val(v->attributes, a);
    return 0;
}

static void look_at_dataset(fuzz_structure *s, hid_t id, object *o)
{
    const hid_t space = H5Dget_space(id), type = H5Dget_type(id);
    o->is_dataset = true;
    o->class = H5Tget_class(type);
    o->elements = H5Sget_simple_extent_npoints(space);
    o->dimensions = H5Sget_simple_extent_dims(space, o->dims, NULL);
    for (int i = 0; i < o->dimensions; i++) {
        const int64_t extent = (int64_t)o->dims[i];
        g_array_append_val(s->numbers, extent);
    }
    char *values = g_malloc0((size_t)(o->elements + 1) * MAX(H5Tget_size(type), sizeof(int64_t)));
    if (H5Dread(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0)
        take_values(s, type, values, o->elements);
    g_free(values);
    H5Tclose(type);
    H5Sclose(space);
}

/* What H5Ovisit2 tells of an object: HDF5 1.12 has given its type this name, and the old one to another. */
#if H5_VERSION_GE(1, 12, 0)
typedef H5O_info1_t visited_object;
#else
typedef H5O_info_t visited_object;
#endif

static herr_t add_object(hid_t file, const char *name, const visited_object *info, void *data)
{
    fuzz_structure *s = data;
    object o = {.path = strcmp(name, ".") == 0 ? g_strdup("/") : g_strconcat("/", name, NULL),
                .attributes = g_array_new(FALSE, FALSE, sizeof(attribute))};
    const hid_t id = H5Oopen(file, name, H5P_DEFAULT);
    visit v = {s, o.attributes};
    hsize_t start = 0;
    H5Aiterate2(id, H5_INDEX_NAME, H5_ITER_INC, &start, add_attribute, &v);
    if (info->type == H5O_TYPE_DATASET)
        look_at_dataset(s, id, &o);
    H5Oclose(id);
    g_array_append_val(s->objects, o);
    return 0;
}

fuzz_structure *fuzz_structure_read(int64_t file)
{
    fuzz_structure *s = g_new(fuzz_structure, 1);
    *s = (fuzz_structure){g_array_new(FALSE, FALSE, sizeof(object)), g_array_new(FALSE, FALSE, sizeof(int64_t)),
                          g_array_new(FALSE, FALSE, sizeof(double)), g_ptr_array_new()};
    g_ptr_array_add(s->texts, g_strdup(""));
    fuzz_require(H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, add_object, s, H5O_INFO_BASIC) >= 0, "the good file can be visited");
    return s;
}

/* ---- lines ---- */

static int64_t below(GRand *draw, int64_t n)
{
    const uint64_t number = (uint64_t)g_rand_int(draw) << 31 ^ g_rand_int(draw);
    return n > 0 ? (int64_t)(number % (uint64_t)n) : 0;
}

static int64_t draw_integer(const fuzz_structure *s, GRand *draw)
{
    static const int64_t limits[] = {0, 1, -1, 2, UINT8_MAX, UINT16_MAX, UINT16_MAX + 1, INT32_MAX, (int64_t)INT32_MAX + 1,
                                     INT32_MIN, UINT32_MAX, (int64_t)1 << 40, (int64_t)1 << 62, INT64_MAX, INT64_MAX - 1, INT64_MIN};
    if (s->numbers->len == 0 || below(draw, 3) == 0)
        return limits[below(draw, G_N_ELEMENTS(limits))];
    const int64_t number = g_array_index(s->numbers, int64_t, below(draw, s->numbers->len));
    return (int64_t)((uint64_t)number + (uint64_t)(below(draw, 3) - 1));
}

static double draw_real(const fuzz_structure *s, GRand *draw)
{
    static const double limits[] = {0, 1, -1, 0.5, 2, 1e-300, 1e300, 1e39, NAN, INFINITY, -INFINITY, -0.0, 9.3e18};
    if (s->reals->len == 0 || below(draw, 3) > 0)
        return limits[below(draw, G_N_ELEMENTS(limits))];
    return g_array_index(s->reals, double, below(draw, s->reals->len)) * (below(draw, 2) == 0 ? -1 : 1);
}

static void append_real(GString *out, double number)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append(out, g_ascii_dtostr(text, sizeof text, number));
}

static void append_text(const fuzz_structure *s, GRand *draw, GString *out)
{
    static const char *const odd[] = {"", "\xff", "a b", "\n", "-1", "1", "0", "a\t b", "en", "x"};
    const char *text = below(draw, 2) == 0 ? odd[below(draw, G_N_ELEMENTS(odd))]
                                           : (const char *)s->texts->pdata[below(draw, s->texts->len)];
    char *escaped = g_strescape(text, NULL);
    g_string_append(out, escaped);
    if (below(draw, 8) == 0)
        g_string_append(out, below(draw, 2) == 0 ? "x" : "\\377");
    g_free(escaped);
}

/* A value of a class, mostly. */
static void append_attribute(const fuzz_structure *s, GRand *draw, const char *path, const attribute *a, GString *out)
{
    H5T_class_t class = a->class;
    if (below(draw, 8) == 0)
        class = (H5T_class_t[]){H5T_INTEGER, H5T_FLOAT, H5T_STRING, H5T_NO_CLASS, H5T_BITFIELD}[below(draw, 5)];
    const char *word = class == H5T_INTEGER ? "int" : class == H5T_FLOAT ? "real" : class == H5T_STRING ? "text" : "remove";
    if (class == H5T_BITFIELD)
        word = below(draw, 2) == 0 ? "unsigned" : "two";
    g_string_append_printf(out, "%s %s@%s ", word, path, a->name);
    if (class == H5T_INTEGER || class == H5T_BITFIELD)
        g_string_append_printf(out, "%" G_GINT64_FORMAT, draw_integer(s, draw));
    else if (class == H5T_FLOAT)
        append_real(out, draw_real(s, draw));
    else if (class == H5T_STRING)
        append_text(s, draw, out);
    else
        g_string_truncate(out, out->len - 1);
}

static void append_element(const fuzz_structure *s, GRand *draw, const object *o, GString *out)
{
    const int64_t places[] = {0, o->elements - 1, below(draw, o->elements), below(draw, MIN(o->elements, 8))};
    g_string_append_printf(out, "element %s %" G_GINT64_FORMAT " ", o->path, MAX(places[below(draw, 4)], 0));
    if (o->class == H5T_STRING)
        append_text(s, draw, out);
    else if (o->class == H5T_FLOAT)
        append_real(out, draw_real(s, draw));
    else
        g_string_append_printf(out, "%" G_GINT64_FORMAT, draw_integer(s, draw));
}

/* Near its own shape: one more or less, nothing, twice; one dimension more or less. */
static void append_shape(const fuzz_structure *s, GRand *draw, const object *o, GString *out)
{
    int64_t dims[2];
    for (int i = 0; i < 2; i++) {
        const int64_t extent = i < o->dimensions ? (int64_t)o->dims[i] : 1;
        const int64_t near[] = {extent, extent, extent + 1, MAX(extent - 1, 0), 0, 2 * extent, 1, o->elements};
        dims[i] = near[below(draw, G_N_ELEMENTS(near))];
    }
    const bool missing = below(draw, 8) == 0;
    if (missing && below(draw, 2) == 0)
        dims[0] = draw_integer(s, draw) & INT64_MAX;
    g_string_append_printf(out, "%s %s %" G_GINT64_FORMAT, missing ? "missing" : "reshape", o->path, dims[0]);
    if ((o->dimensions >= 2) != (below(draw, 4) == 0))
        g_string_append_printf(out, " %" G_GINT64_FORMAT, dims[1]);
}

static void append_retype(const fuzz_structure *s, GRand *draw, const object *o, GString *out)
{
    switch (below(draw, 4)) {
    case 0:
    case 1:
        g_string_append_printf(out, "ints %s %" G_GINT64_FORMAT, o->path, draw_integer(s, draw));
        break;
    case 2:
        g_string_append_printf(out, "reals %s ", o->path);
        append_real(out, draw_real(s, draw));
        break;
    default:
        g_string_append_printf(out, "texts %s", o->path);
    }
}

static void append_line(const fuzz_structure *s, GRand *draw, GString *out)
{
    const object *o = &g_array_index(s->objects, object, below(draw, s->objects->len));
    const int64_t what = below(draw, 16);
    if (o->attributes->len > 0 && (!o->is_dataset || what < 4)) {
        append_attribute(s, draw, o->path, &g_array_index(o->attributes, attribute, below(draw, o->attributes->len)), out);
    } else if (!o->is_dataset || what >= 14) {
        const object *other = &g_array_index(s->objects, object, below(draw, s->objects->len));
        if (what == 15 || what < 4)
            g_string_append_printf(out, "remove %s", o->path);
        else
            g_string_append_printf(out, "copy %s %s", other->path, o->path);
    } else if (what < 9) {
        append_element(s, draw, o, out);
    } else if (what < 12) {
        append_shape(s, draw, o, out);
    } else {
        append_retype(s, draw, o, out);
    }
}

/* ---- inputs ---- */

size_t fuzz_structure_mutate(fuzz_structure *const *structures, int n, uint8_t *data, size_t size, size_t room, unsigned seed)
{
    GRand *draw = g_rand_new_with_seed(seed);
    const fuzz_structure *s = structures[fuzz_choose(data, size, n)];
    char *text = g_strndup((const char *)data, size), **lines = g_strsplit(text, "\n", -1);
    GString *out = g_string_new(NULL);
    const bool fresh = below(draw, 3) == 0; /* single changes are checked for first */
    const int64_t count = g_strv_length(lines), victim = below(draw, 2) == 0 ? below(draw, count) : -1;
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        const bool chooses = g_str_has_prefix(lines[i], "choose ");
        if (*lines[i] != '\0' && (chooses || (!fresh && i != victim && kept++ < MAX_LINES)))
            g_string_append_printf(out, "%s\n", lines[i]);
    }
    if (below(draw, 64) == 0)
        g_string_append_printf(out, "choose %d\n", (int)below(draw, 4));
    append_line(s, draw, out);
    if (below(draw, 4) == 0) {
        g_string_append_c(out, '\n');
        append_line(s, draw, out);
    }
    size = MIN(out->len, room);
    memcpy(data, out->str, size);
    g_string_free(out, TRUE);
    g_strfreev(lines);
    g_free(text);
    g_rand_free(draw);
    return size;
}
