/* xlm-mpi: attributes of HDF5 objects. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "files/files.h"
#include "store/store_file.h"

/* ---- writing ---- */

static bool set_here(xlm_store *store, const char *path, const char *name, hid_t type, hid_t memory_type,
                     const void *value, GError **error)
{
    if (!store_make_group(store, path, error))
        return false;
    hid_t object = H5Oopen(store->file, path, H5P_DEFAULT);
    if (object >= 0 && H5Aexists(object, name) > 0)
        H5Adelete(object, name);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = (attribute >= 0 && H5Awrite(attribute, memory_type, value) >= 0) ||
                store_give_up(store, path, "attribute cannot be written", error);
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Sclose(space);
    if (object >= 0)
        H5Oclose(object);
    if (store->mpi_io && store->comm.rank == 0)
        store_note_write(store, path, name, 0, 1, value, H5Tget_size(type));
    return good;
}

/* Refuse to replace a file of another format. */
static bool check_replaced(xlm_store *store, const char *format, GError **error)
{
    GError *mine = NULL;
    const bool first = store->descriptor >= 0; /* this rank will give the file its name */
    g_autoptr(xlm_store) there =
        first && xlm_files_is_hdf5(store->path) ? store_open(store->path, store->path, false, NULL) : NULL;
    g_autofree char *found = there != NULL ? xlm_store_get_text(there, "/", "format", NULL) : NULL;
    if (found != NULL && strcmp(found, format) != 0)
        xlm_error_set(&mine, EX_CANTCREAT, "%s: is there already, and of another kind (%s; this is %s); choose another name, or "
                      "remove it first", store->path, found, format);
    return store_settle(store, mine, error);
}

static bool set(xlm_store *store, const char *path, const char *name, hid_t type, hid_t memory_type, const void *value,
                GError **error)
{
    if (!store_reserve(store, H5Tget_size(type) + strlen(name) + strlen(path) + 512, error))
        return false;
    GError *mine = NULL;
    if (store_works(store))
        set_here(store, path, name, type, memory_type, value, &mine);
    return store_settle_hdf5(store, mine, error);
}

bool xlm_store_set_text(xlm_store *store, const char *path, const char *name, const char *value, GError **error)
{
    if (strlen(value) > XLM_STORE_LONGEST_TEXT)
        return xlm_error_set(error, EX_DATAERR, "%s: %s: attribute '%s' would have a text of %" G_GSIZE_FORMAT " bytes; at most "
                             "%d are possible", store->path, path, name, strlen(value), XLM_STORE_LONGEST_TEXT);
    if (strcmp(path, "/") == 0 && strcmp(name, "format") == 0 && !check_replaced(store, value, error))
        return false;
    hid_t type = store_text_type(strlen(value), H5T_CSET_UTF8, H5T_STR_NULLPAD);
    bool good = set(store, path, name, type, type, value, error);
    H5Tclose(type);
    return good;
}

bool xlm_store_set_int(xlm_store *store, const char *path, const char *name, int64_t value, GError **error)
{
    return set(store, path, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value, error);
}

bool xlm_store_set_real(xlm_store *store, const char *path, const char *name, double value, GError **error)
{
    return set(store, path, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value, error);
}

bool xlm_store_set_digest(xlm_store *store, const char *path, const char *name, uint64_t value, GError **error)
{
    g_autofree char *digest = g_strdup_printf("%016" G_GINT64_MODIFIER "x", value);
    return xlm_store_set_text(store, path, name, digest, error);
}

bool xlm_store_set_format(xlm_store *store, const char *format, int version, const char *program, GError **error)
{
    g_autofree char *made = program != NULL ? g_strconcat(program, " ", PACKAGE_VERSION, NULL) : g_strdup(PACKAGE_VERSION);
    return xlm_store_set_text(store, "/", "format", format, error) &&
           xlm_store_set_int(store, "/", "format_version", version, error) &&
           xlm_store_set_text(store, "/", "program_version", made, error);
}

/* ---- reading ---- */

/* Is it a single value of the class, as this program writes them? Integers are signed. */
static bool is_one(hid_t type, hid_t space, H5T_class_t wanted)
{
    return H5Tget_class(type) == wanted && store_type_is_known(type) && H5Sget_simple_extent_type(space) == H5S_SCALAR &&
           (wanted != H5T_INTEGER || H5Tget_sign(type) == H5T_SGN_2) &&
           (wanted != H5T_STRING || H5Tget_size(type) <= XLM_STORE_LONGEST_TEXT);
}

/* Open an attribute whose type is of the given class. what: the class, for messages. H5I_INVALID_HID on failure. */
static hid_t open_attribute(const xlm_store *store, const char *path, const char *name, H5T_class_t wanted, const char *what,
                            GError **error)
{
    hid_t attribute = store_exists(store->file, path) ? H5Aopen_by_name(store->file, path, name, H5P_DEFAULT, H5P_DEFAULT)
                                                      : H5I_INVALID_HID;
    if (attribute < 0) {
        H5Eclear2(H5E_DEFAULT);
        xlm_error_set(error, EX_DATAERR, "%s: %s: has no attribute '%s'; it was not made for this, or by another version",
                      store->path, path, name);
        return H5I_INVALID_HID;
    }
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    bool good = is_one(type, space, wanted);
    H5Sclose(space);
    H5Tclose(type);
    if (!good) {
        xlm_error_set(error, EX_DATAERR, "%s: %s: attribute '%s' is not %s", store->path, path, name, what);
        H5Aclose(attribute);
        return H5I_INVALID_HID;
    }
    return attribute;
}

/* Close an attribute. status: what H5Aread() has just returned. */
static bool finish(const xlm_store *store, const char *path, hid_t attribute, herr_t status, GError **error)
{
    bool good = status >= 0 || store_error(store, path, EX_DATAERR, "attribute cannot be read", error);
    H5Aclose(attribute);
    return good;
}

static herr_t add_name(hid_t object, const char *name, const H5A_info_t *info, void *names)
{
    (void)object, (void)info;
    g_strv_builder_add(names, name);
    return 0;
}

char **xlm_store_list_attributes(const xlm_store *store, const char *path, GError **error)
{
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    hsize_t at = 0;
    if (!store_exists(store->file, path) ||
        H5Aiterate_by_name(store->file, path, H5_INDEX_NAME, H5_ITER_INC, &at, add_name, names, H5P_DEFAULT) < 0) {
        store_error(store, path, EX_DATAERR, "its attributes cannot be read", error);
        return NULL;
    }
    return g_strv_builder_end(names);
}

char *xlm_store_get_text(const xlm_store *store, const char *path, const char *name, GError **error)
{
    hid_t attribute = open_attribute(store, path, name, H5T_STRING, "a text", error);
    if (attribute < 0)
        return NULL;
    hid_t type = H5Aget_type(attribute);
    char *text = g_malloc0(H5Tget_size(type) + 1);
    if (!finish(store, path, attribute, H5Aread(attribute, type, text), error))
        g_clear_pointer(&text, g_free);
    H5Tclose(type);
    return text;
}

char *xlm_store_format(const char *path)
{
    g_autofree char *target = xlm_files_target(path);
    g_autoptr(xlm_store) store = xlm_files_check_input(path, NULL) ? store_open(target, path, false, NULL) : NULL;
    return store != NULL ? xlm_store_get_text(store, "/", "format", NULL) : NULL;
}

bool xlm_store_get_int(const xlm_store *store, const char *path, const char *name, int64_t *value, GError **error)
{
    hid_t attribute = open_attribute(store, path, name, H5T_INTEGER, "a whole number", error);
    return attribute >= 0 &&
           finish(store, path, attribute, H5Aread(attribute, H5T_NATIVE_INT64, value), error);
}

bool xlm_store_get_real(const xlm_store *store, const char *path, const char *name, double *value, GError **error)
{
    hid_t attribute = open_attribute(store, path, name, H5T_FLOAT, "a floating-point number", error);
    return attribute >= 0 &&
           finish(store, path, attribute, H5Aread(attribute, H5T_NATIVE_DOUBLE, value), error);
}

bool xlm_store_get_digest(const xlm_store *store, const char *path, const char *name, uint64_t *value, GError **error)
{
    g_autofree char *digest = xlm_store_get_text(store, path, name, error);
    *value = digest != NULL ? g_ascii_strtoull(digest, NULL, 16) : 0;
    return digest != NULL;
}

bool xlm_store_is_newer(const xlm_store *store, const char *path, int64_t version, int known, GError **error)
{
    if (version > known)
        xlm_error_set(error, EX_DATAERR, "%s: %s%shas format version %" G_GINT64_FORMAT ", which is of a newer version of xlm-mpi; "
                      "this program reads versions up to %d: use the version that wrote the file, or a later one",
                      xlm_store_path(store), path != NULL ? path : "", path != NULL ? ": " : "", version, known);
    return version > known;
}

bool xlm_store_check_format(const xlm_store *store, const char *format, int version, const char *kind, const char *program,
                            GError **error)
{
    const char *path = xlm_store_path(store);
    g_autofree char *found = xlm_store_get_text(store, "/", "format", NULL);
    if (g_strcmp0(found, format) != 0)
        return xlm_error_set(error, EX_DATAERR, "%s: not %s of %s", path, kind, program);
    int64_t number;
    if (!xlm_store_get_int(store, "/", "format_version", &number, error))
        return false;
    if (xlm_store_is_newer(store, NULL, number, version, error))
        return false;
    return number == version ||
           xlm_error_set(error, EX_DATAERR, "%s: format version %" G_GINT64_FORMAT ", this program reads %d; make it again with "
                         "this version's %s", path, number, version, program);
}
