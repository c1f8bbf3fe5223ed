/* xlm-mpi: what HDF5 files hold, as one number. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     hdf5_digest FILE GROUP...
 *     hdf5_digest --same FILE OTHER GROUP...
 *
 * SHA-256 of all that is in these groups, such of them as the file has: in the order of their paths, the names and kinds of objects,
 * and of datasets and attributes the type, the extent and every bit of the values. h5dump prints numbers to six digits, so that texts of
 * it may be the same where bits are not.
 *
 * --same compares two files, group by group. It ends with 0 if all groups are the same, with 1 if one is not, which is printed, and
 * with 2 if something cannot be compared: also a group that one of them has not. */
#include <glib.h>
#include <hdf5.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hdf5_objects.h"

static G_NORETURN void fail(const char *what, const char *name)
{
    fprintf(stderr, "hdf5_digest: %s: %s\n", name, what);
    exit(2);
}

static void add_number(GChecksum *sum, int64_t number) { g_checksum_update(sum, (const guchar *)&number, sizeof number); }

/* With the final 0, so that names stay separate. */
static void add_name(GChecksum *sum, const char *name) { g_checksum_update(sum, (const guchar *)name, (gssize)strlen(name) + 1); }

/* Type, extent and values of a dataset or an attribute. */
static void add_values(GChecksum *sum, const char *name, hid_t from, bool is_attribute)
{
    const hid_t type = is_attribute ? H5Aget_type(from) : H5Dget_type(from);
    const hid_t space = is_attribute ? H5Aget_space(from) : H5Dget_space(from);
    if (type < 0 || space < 0 || H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tis_variable_str(type) > 0)
        fail("cannot be read here", name);
    hsize_t extent[H5S_MAX_RANK] = {0};
    const int dimensions = H5Sget_simple_extent_dims(space, extent, NULL);
    const hssize_t numbers = H5Sget_simple_extent_npoints(space);
    size_t encoded = 0;
    if (dimensions < 0 || numbers < 0 || H5Tencode(type, NULL, &encoded) < 0)
        fail("has no extent", name);
    g_autofree guchar *form = g_malloc(encoded);
    const gsize bytes = (gsize)numbers * H5Tget_size(type);
    g_autofree guchar *values = g_malloc0(bytes + 1);
    if (H5Tencode(type, form, &encoded) < 0 ||
        (is_attribute ? H5Aread(from, type, values) : H5Dread(from, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values)) < 0)
        fail("cannot be read", name);
    g_checksum_update(sum, form, (gssize)encoded);
    add_number(sum, dimensions);
    g_checksum_update(sum, (const guchar *)extent, (gssize)(sizeof *extent * (size_t)dimensions));
    g_checksum_update(sum, values, (gssize)bytes);
    H5Sclose(space);
    H5Tclose(type);
}

static herr_t add_attribute(hid_t of, const char *name, const H5A_info_t *info, void *sum)
{
    (void)info;
    const hid_t attribute = H5Aopen(of, name, H5P_DEFAULT);
    if (attribute < 0)
        fail("there is no such attribute", name);
    add_name(sum, name);
    add_values(sum, name, attribute, true);
    return H5Aclose(attribute);
}

static herr_t add_object(hid_t of, const char *name, const visited_object *info, void *sum)
{
    const hid_t object = H5Oopen(of, name, H5P_DEFAULT);
    if (object < 0)
        fail("there is no such object", name);
    add_name(sum, name);
    add_number(sum, info->type);
    if (info->type == H5O_TYPE_DATASET)
        add_values(sum, name, object, false);
    if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, add_attribute, sum) < 0)
        fail("its attributes cannot be read", name);
    return H5Oclose(object);
}

static hid_t open_file(const char *path)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        fail("is no HDF5 file", path);
    return file;
}

/* Adds all that is in the group. False: the file does not have it. */
static bool add_group(GChecksum *sum, hid_t file, const char *group)
{
    if (H5Lexists(file, group, H5P_DEFAULT) <= 0)
        return false;
    add_name(sum, group);
    if (H5Ovisit_by_name2(file, group, H5_INDEX_NAME, H5_ITER_INC, add_object, sum, H5O_INFO_BASIC, H5P_DEFAULT) < 0)
        fail("cannot be read", group);
    return true;
}

/* How many groups differ between the two files; the names of these are printed. */
static int compare(char **path, char **groups, int n)
{
    const hid_t file[2] = {open_file(path[0]), open_file(path[1])};
    int others = 0;
    for (int g = 0; g < n; g++) {
        GChecksum *sum[2];
        for (int f = 0; f < 2; f++)
            if (!add_group(sum[f] = g_checksum_new(G_CHECKSUM_SHA256), file[f], groups[g]))
                fail("has not all of these groups", path[f]);
        const bool same = g_str_equal(g_checksum_get_string(sum[0]), g_checksum_get_string(sum[1]));
        if (!same)
            printf("%s of %s and %s: not the same\n", groups[g], path[0], path[1]);
        others += !same;
        for (int f = 0; f < 2; f++)
            g_checksum_free(sum[f]);
    }
    H5Fclose(file[0]);
    H5Fclose(file[1]);
    return others;
}

int main(int arguments, char **argument)
{
    if (arguments > 4 && g_str_equal(argument[1], "--same"))
        return compare(argument + 2, argument + 4, arguments - 4) > 0;
    if (arguments < 3 || g_str_equal(argument[1], "--same"))
        fail("usage: hdf5_digest FILE GROUP... or --same FILE OTHER GROUP...", "arguments");
    const hid_t file = open_file(argument[1]);
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    int found = 0;
    for (int i = 2; i < arguments; i++)
        found += add_group(sum, file, argument[i]);
    if (found == 0)
        fail("has none of these groups", argument[1]);
    H5Fclose(file);
    puts(g_checksum_get_string(sum));
    return 0;
}
