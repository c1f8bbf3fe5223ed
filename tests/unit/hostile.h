/* xlm-mpi: files changed by plain HDF5 calls, as by somebody who means harm. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A change names an object and what becomes of it. The digest of the header is set anew, since whoever writes a file can do
 * that. */
#ifndef XLM_TESTS_HOSTILE_H
#define XLM_TESTS_HOSTILE_H

#include <string.h>

#include <hdf5.h>

#include "store/store.h"

typedef enum {
    SET_INT,       /* attribute: i */
    SET_REAL,      /* attribute: r */
    SET_TEXT,      /* attribute: text */
    SET_UNSIGNED,  /* attribute: i as 64 bits without sign */
    SET_TWO,       /* attribute: i twice */
    REMOVE,        /* attribute, or with name NULL the object */
    RESHAPE,       /* dataset: its elements as i x j; j = 0: 1-d */
    RETYPE_REAL,   /* dataset: same shape, floats of value r */
    RETYPE_INT,    /* dataset: same shape, integers of value i */
    RETYPE_TEXT,   /* 1-d dataset of as many texts */
    ELEMENT_INT,   /* dataset: its element r is i */
    ELEMENT_REAL,  /* dataset: its element i is r */
    ELEMENT_TEXT,  /* 1-d dataset of texts: its element i is text */
    UNALLOCATED,   /* dataset: of i x j elements (j = 0: 1-d) in chunks that are not in the file */
    EXTERNAL,      /* dataset: same shape and type, elements in /etc/passwd */
    SOFT_LINK,     /* in place of the object: a link to text */
    OUTER_LINK,    /* in place of the object: a link to "/" of the file text */
    SECOND_NAME    /* in place of the object: the object text, which keeps its own name */
} change_kind;

typedef struct change {
    const char *object, *name; /* name: of an attribute */
    change_kind kind;
    int64_t i, j;
    double r;
    const char *text;
    const char *expected; /* part of the message */
} change;

static bool set_attribute(hid_t file, const change *c, hid_t type, hid_t memory, hid_t space, const void *value)
{
    if (H5Aexists_by_name(file, c->object, c->name, H5P_DEFAULT) > 0)
        H5Adelete_by_name(file, c->object, c->name, H5P_DEFAULT);
    const hid_t a = H5Acreate_by_name(file, c->object, c->name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = a >= 0 && H5Awrite(a, memory, value) >= 0;
    H5Aclose(a);
    return good;
}

static bool change_attribute(hid_t file, const change *c)
{
    const int64_t two[2] = {c->i, c->i};
    const hsize_t n = 2;
    const hid_t scalar = H5Screate(H5S_SCALAR), pair = H5Screate_simple(1, &n, NULL), text = H5Tcopy(H5T_C_S1);
    bool good = false;
    H5Tset_size(text, c->text != NULL ? MAX(strlen(c->text), 1) : 1);
    H5Tset_strpad(text, H5T_STR_NULLPAD);
    switch (c->kind) {
    case SET_INT: good = set_attribute(file, c, H5T_STD_I64LE, H5T_NATIVE_INT64, scalar, two); break;
    case SET_UNSIGNED: good = set_attribute(file, c, H5T_STD_U64LE, H5T_NATIVE_UINT64, scalar, two); break;
    case SET_TWO: good = set_attribute(file, c, H5T_STD_I64LE, H5T_NATIVE_INT64, pair, two); break;
    case SET_REAL: good = set_attribute(file, c, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, scalar, &c->r); break;
    default: good = set_attribute(file, c, text, text, scalar, c->text);
    }
    H5Tclose(text);
    H5Sclose(pair);
    H5Sclose(scalar);
    return good;
}

/* A new dataset in the place of the old one. text: no old elements; else data as they are in memory. */
static bool replace(hid_t file, const char *path, hid_t type, hid_t space, hid_t properties, hid_t memory, const void *data)
{
    bool good = H5Ldelete(file, path, H5P_DEFAULT) >= 0;
    const hid_t d = H5Dcreate2(file, path, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    good = good && d >= 0 && (data == NULL || H5Dwrite(d, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(d);
    return good;
}

/* More elements than a small file has, as an earlier change may say, are not for this. */
enum { MAX_ELEMENTS_CHANGED = 1 << 20 };

static bool change_elements(hid_t file, const change *c)
{
    const hid_t d = H5Dopen2(file, c->object, H5P_DEFAULT);
    if (d < 0)
        return false;
    const hid_t space = H5Dget_space(d), type = H5Dget_type(d);
    const hssize_t elements = H5Sget_simple_extent_npoints(space);
    if (elements < 0 || elements > MAX_ELEMENTS_CHANGED) {
        H5Tclose(type);
        H5Sclose(space);
        H5Dclose(d);
        return false;
    }
    const hid_t memory = H5Tget_class(type) == H5T_STRING ? H5Tcopy(type) : H5Tget_native_type(type, H5T_DIR_ASCEND);
    const hsize_t n = (hsize_t)elements, dims[2] = {(hsize_t)c->i, (hsize_t)c->j};
    const size_t size = MAX(H5Tget_size(memory), sizeof(double));
    char *data = g_malloc0((MAX(n, c->kind == RESHAPE ? (hsize_t)(c->i * MAX(c->j, 1)) : n) + 1) * size);
    const bool resized = c->kind == RESHAPE || c->kind == UNALLOCATED;
    const hid_t shape = resized ? H5Screate_simple(c->j > 0 ? 2 : 1, dims, NULL) : H5Scopy(space);
    const hid_t plain = H5Pcreate(H5P_DATASET_CREATE);
    bool good = d >= 0 && H5Dread(d, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    switch (c->kind) {
    case RESHAPE:
        good = good && replace(file, c->object, type, shape, H5P_DEFAULT, memory, data);
        break;
    case RETYPE_REAL:
        for (hsize_t i = 0; i < n; i++)
            ((double *)(void *)data)[i] = c->r;
        good = good && replace(file, c->object, H5T_IEEE_F64LE, shape, H5P_DEFAULT, H5T_NATIVE_DOUBLE, data);
        break;
    case RETYPE_INT:
        for (hsize_t i = 0; i < n; i++)
            ((int64_t *)(void *)data)[i] = c->i;
        good = good && replace(file, c->object, H5T_STD_I64LE, shape, H5P_DEFAULT, H5T_NATIVE_INT64, data);
        break;
    case RETYPE_TEXT:
        good = good && replace(file, c->object, H5T_C_S1, shape, H5P_DEFAULT, H5T_C_S1, data);
        break;
    case ELEMENT_INT:
    case ELEMENT_REAL: {
        const bool real = c->kind == ELEMENT_REAL;
        const hsize_t at = real ? (hsize_t)c->i : (hsize_t)c->r;
        if (at >= n) {
            good = false;
            break;
        }
        H5Tconvert(memory, real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, n, data, NULL, H5P_DEFAULT);
        if (real)
            ((double *)(void *)data)[at] = c->r;
        else
            ((int64_t *)(void *)data)[at] = c->i;
        good = good && H5Dwrite(d, real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
        break;
    }
    case ELEMENT_TEXT: {
        if ((hsize_t)c->i >= n) {
            good = false;
            break;
        }
        char *at = data + (size_t)c->i * H5Tget_size(type);
        memset(at, 0, H5Tget_size(type));
        memcpy(at, c->text, MIN(strlen(c->text), H5Tget_size(type)));
        good = good && H5Dwrite(d, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
        break;
    }
    case UNALLOCATED: {
        const hsize_t chunk[2] = {MIN(1024, dims[0]), 1};
        H5Pset_chunk(plain, c->j > 0 ? 2 : 1, chunk);
        H5Pset_fill_time(plain, H5D_FILL_TIME_NEVER);
        good = good && replace(file, c->object, type, shape, plain, memory, NULL);
        break;
    }
    default: /* EXTERNAL */
        H5Pset_external(plain, "/etc/passwd", 0, H5F_UNLIMITED);
        good = good && replace(file, c->object, type, shape, plain, memory, NULL);
    }
    g_free(data);
    H5Pclose(plain);
    H5Sclose(shape);
    H5Tclose(memory);
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(d);
    return good;
}

static bool change_link(hid_t file, const change *c)
{
    bool good = H5Ldelete(file, c->object, H5P_DEFAULT) >= 0;
    if (c->kind == SOFT_LINK)
        good = good && H5Lcreate_soft(c->text, file, c->object, H5P_DEFAULT, H5P_DEFAULT) >= 0;
    else if (c->kind == OUTER_LINK)
        good = good && H5Lcreate_external(c->text, "/", file, c->object, H5P_DEFAULT, H5P_DEFAULT) >= 0;
    else if (c->kind == SECOND_NAME)
        good = good && H5Lcreate_hard(file, c->text, file, c->object, H5P_DEFAULT, H5P_DEFAULT) >= 0;
    return good;
}

/* In an open file. False when the change could not be made: a mistake of the test. */
static inline bool apply_change(hid_t file, const change *c)
{
    if (c->kind <= SET_TWO)
        return change_attribute(file, c);
    if (c->kind == REMOVE && c->name != NULL)
        return H5Adelete_by_name(file, c->object, c->name, H5P_DEFAULT) >= 0;
    return c->kind == REMOVE || c->kind >= SOFT_LINK ? change_link(file, c) : change_elements(file, c);
}

/* The same of a file that is not open. */
static inline bool make_change(const char *path, const change *c)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, access);
    H5Pclose(access);
    bool good = file >= 0 && apply_change(file, c);
    good = file >= 0 && H5Fclose(file) >= 0 && good;
    xlm_store_reseal(path, NULL); /* what cannot be sealed is refused for it */
    return good;
}

#endif
