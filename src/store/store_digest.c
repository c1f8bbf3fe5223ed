/* xlm-mpi: the digest of a file's header. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Fletcher-32 covers the elements of datasets. This digest covers the rest of a file, its header: SHA-256 over all objects in the
 * order of their names, their attributes (names, types, values), the types and shapes of datasets, and the elements of datasets
 * without Fletcher-32. It is in the attribute header_digest of the root, is computed when a file is complete, and is compared
 * when the file is opened, so that a damaged header is not taken for another valid one. It protects against damage, not against
 * attackers, so readers check every number nevertheless. */
#include <string.h>

#include "store/store_file.h"

static const char NAME[] = "header_digest";
enum { DIGITS = 64 };

/* Number of bytes of a dataset without checksums that are read at a time. */
static const size_t ROUND_SIZE = (size_t)1 << 20;

typedef struct walk {
    xlm_store *store;
    GChecksum *sum;
    const char *path; /* of the present object */
    GError *error;
} walk;

/* ---- its input ---- */

/* Includes the final 0, so that texts stay separate. */
static void add_text(walk *w, const char *text) { g_checksum_update(w->sum, (const guchar *)text, (gssize)strlen(text) + 1); }

static void add_number(walk *w, int64_t number)
{
    char text[32];
    g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, number);
    add_text(w, text);
}

static bool refuse(walk *w, const char *name, const char *what)
{
    return xlm_error_set(&w->error, EX_DATAERR, "%s: %s%s%s: %s, which this program does not write; the file is damaged, or "
                         "another program has changed it", w->store->path, w->path, name != NULL ? ": " : "",
                         name != NULL ? name : "", what);
}

static bool unreadable(walk *w)
{
    return store_error(w->store, w->path, EX_DATAERR, "cannot be read; the file or the disk is damaged", &w->error);
}

/* name: of the attribute that has the type; NULL: a dataset has it. */
static bool add_type(walk *w, const char *name, hid_t type)
{
    const H5T_class_t class = H5Tget_class(type);
    const bool text = class == H5T_STRING;
    if (!store_type_is_known(type))
        return refuse(w, name, "is of a type");
    add_number(w, class);
    add_number(w, (int64_t)H5Tget_size(type));
    add_number(w, text ? (int64_t)H5Tget_cset(type) : (int64_t)H5Tget_order(type));
    add_number(w, text ? (int64_t)H5Tget_strpad(type) : class == H5T_INTEGER ? (int64_t)H5Tget_sign(type) : 0);
    return true;
}

static void add_shape(walk *w, hid_t space)
{
    hsize_t dims[H5S_MAX_RANK];
    const int n = H5Sget_simple_extent_dims(space, dims, NULL);
    add_number(w, H5Sget_simple_extent_type(space));
    add_number(w, n);
    for (int i = 0; i < n; i++)
        add_number(w, (int64_t)dims[i]);
}

static bool add_value(walk *w, const char *name, hid_t attribute, hid_t type)
{
    const hsize_t size = H5Aget_storage_size(attribute);
    if (size > w->store->size)
        return refuse(w, name, "is larger than the file");
    g_autofree void *value = g_malloc(MAX(size, 1));
    const bool good = H5Aread(attribute, type, value) >= 0 || unreadable(w);
    if (good)
        g_checksum_update(w->sum, value, (gssize)size);
    return good;
}

static herr_t add_attribute(hid_t object, const char *name, const H5A_info_t *info, void *data)
{
    (void)info;
    walk *w = data;
    if (strcmp(w->path, "/") == 0 && strcmp(name, NAME) == 0)
        return 0;
    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    if (attribute < 0)
        return unreadable(w) - 1;
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    bool good = (type >= 0 && space >= 0) || unreadable(w);
    add_text(w, name);
    good = good && add_type(w, name, type);
    if (good)
        add_shape(w, space);
    good = good && add_value(w, name, attribute, type);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return good ? 0 : -1;
}

static bool has_checksums(hid_t properties)
{
    bool found = false;
    for (int i = 0; i < H5Pget_nfilters(properties) && !found; i++) {
        unsigned flags;
        size_t values = 0;
        found = H5Pget_filter2(properties, (unsigned)i, &flags, &values, NULL, 0, NULL, NULL) == H5Z_FILTER_FLETCHER32;
    }
    return found;
}

static bool add_elements(walk *w)
{
    const store_dataset *d = store_find(w->store, w->path, &w->error);
    if (d == NULL)
        return false;
    const uint64_t rows = MAX(ROUND_SIZE / MAX(d->row_size, 1), 1);
    const hid_t type = H5Dget_type(d->id);
    g_autofree char *data = g_malloc(MIN(rows, MAX(d->dims[0], 1)) * MAX(d->row_size, 1));
    bool good = true;
    for (uint64_t first = 0; good && first < d->dims[0]; first += rows) {
        const uint64_t n = MIN(rows, d->dims[0] - first);
        good = store_read_rows(w->store, w->path, d, type, first, n, data, &w->error);
        if (good)
            g_checksum_update(w->sum, (const guchar *)data, (gssize)(n * d->row_size));
    }
    H5Tclose(type);
    return good;
}

static bool add_dataset(walk *w, hid_t dataset)
{
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset), properties = H5Dget_create_plist(dataset);
    bool good = (type >= 0 && space >= 0 && properties >= 0) || unreadable(w);
    good = good && add_type(w, NULL, type);
    if (good)
        add_shape(w, space);
    const bool own = good && H5Pget_layout(properties) != H5D_VIRTUAL && H5Pget_external_count(properties) == 0;
    if (good && !own)
        good = refuse(w, NULL, "has its elements in another file");
    if (good && !has_checksums(properties))
        good = add_elements(w);
    H5Pclose(properties);
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

/* Readers that follow groups to their ends would go through an object with two names twice, or, where a group is within itself,
 * without end. */
static bool has_one_name(hid_t object)
{
#if H5_VERSION_GE(1, 12, 0)
    H5O_info2_t info;
    return H5Oget_info3(object, &info, H5O_INFO_BASIC) >= 0 && info.rc == 1;
#elif H5_VERSION_GE(1, 10, 3)
    H5O_info_t info;
    return H5Oget_info2(object, &info, H5O_INFO_BASIC) >= 0 && info.rc == 1;
#else
    H5O_info_t info;
    return H5Oget_info(object, &info) >= 0 && info.rc == 1;
#endif
}

static bool add_object(walk *w, const char *path)
{
    w->path = path;
    add_text(w, path);
    const hid_t object = H5Oopen(w->store->file, path, H5P_DEFAULT);
    if (object < 0)
        return unreadable(w);
    const H5I_type_t kind = H5Iget_type(object);
    hsize_t at = 0;
    add_number(w, kind == H5I_DATASET);
    bool good = kind == H5I_DATASET || kind == H5I_GROUP || refuse(w, NULL, "is an object");
    good = good && (has_one_name(object) || refuse(w, NULL, "is there under two names"));
    good = good && (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &at, add_attribute, w) >= 0 || w->error != NULL ||
                    unreadable(w));
    good = good && w->error == NULL && (kind != H5I_DATASET || add_dataset(w, object));
    H5Oclose(object);
    return good;
}

static herr_t add_link(hid_t group, const char *name, const H5L_info_t *info, void *data)
{
    (void)group;
    walk *w = data;
    g_autofree char *path = g_strconcat("/", name, NULL);
    w->path = path;
    /* Links by name may lead into other files. */
    const bool good = (info->type == H5L_TYPE_HARD || refuse(w, NULL, "is a link")) && add_object(w, path);
    w->path = "/";
    return good ? 0 : -1;
}

/* g_free; NULL when a part of the header cannot be read. */
static char *compute(xlm_store *store, GError **error)
{
    walk w = {.store = store, .sum = g_checksum_new(G_CHECKSUM_SHA256)};
    char *digest = NULL;
    if (add_object(&w, "/") &&
        (H5Lvisit(store->file, H5_INDEX_NAME, H5_ITER_INC, add_link, &w) >= 0 || w.error != NULL || unreadable(&w)) &&
        w.error == NULL)
        digest = g_strdup(g_checksum_get_string(w.sum));
    else
        g_propagate_error(error, w.error);
    H5Eclear2(H5E_DEFAULT);
    g_checksum_free(w.sum);
    return digest;
}

/* ---- the attribute ---- */

static hid_t digest_type(void) { return store_text_type(DIGITS, H5T_CSET_ASCII, H5T_STR_NULLPAD); }

bool store_make_digest(hid_t file)
{
    char zeros[DIGITS];
    memset(zeros, '0', sizeof zeros);
    const hid_t type = digest_type(), space = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate_by_name(file, "/", NAME, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const bool good = attribute >= 0 && H5Awrite(attribute, type, zeros) >= 0;
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

bool store_set_digest(xlm_store *store, GError **error)
{
    g_autofree char *digest = compute(store, error);
    const hid_t type = digest_type();
    const hid_t attribute = digest != NULL ? H5Aopen_by_name(store->file, "/", NAME, H5P_DEFAULT, H5P_DEFAULT) : H5I_INVALID_HID;
    const bool written = attribute >= 0 && H5Awrite(attribute, type, digest) >= 0 && H5Fflush(store->file, H5F_SCOPE_GLOBAL) >= 0;
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Tclose(type);
    bool good = digest != NULL && (written || store_error(store, NULL, EX_IOERR, "cannot be written", error));
    g_autofree char *path = g_strdup(store->path);
    if (!store_close(store) && good)
        good = xlm_error_set(error, EX_IOERR, "%s: cannot be written", path);
    return good;
}

bool store_check_digest(xlm_store *store, GError **error)
{
    char there[DIGITS + 1] = "";
    const hid_t type = digest_type(), attribute = H5Aopen_by_name(store->file, "/", NAME, H5P_DEFAULT, H5P_DEFAULT);
    const bool read = attribute >= 0 && H5Aget_storage_size(attribute) == DIGITS && H5Aread(attribute, type, there) >= 0;
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Tclose(type);
    /* First: a header that cannot be read is damaged, whatever it seems to lack. */
    g_autofree char *digest = compute(store, error);
    bool good = digest != NULL;
    if (good && !read)
        good = xlm_error_set(error, EX_DATAERR, "%s: has no %s; it was written by another program, or by a version of this one "
                             "that gave files none; make it again", store->path, NAME);
    else if (good && strcmp(digest, there) != 0)
        good = xlm_error_set(error, EX_DATAERR, "%s: its header is not as it was written (%s %.8s..., now %.8s...); the file or "
                             "the disk is damaged, or another program has changed it", store->path, NAME, there, digest);
    H5Eclear2(H5E_DEFAULT);
    return good;
}
