/* xlm-mpi: weights of models of other programs, in safetensors files. SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreign/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/files.h"
#include "text/fields.h"

enum { BLOCK = 1 << 16 };                             /* elements that are converted at once */
static const uint64_t LARGEST_HEAD = 100u * 1000 * 1000; /* bytes; the format's own limit */

typedef struct weight_file {
    char *path;
    int descriptor;
    uint64_t data; /* where values begin */
} weight_file;

typedef struct entry {
    xlm_safetensor tensor; /* first: the public part */
    char *name;
    const weight_file *file;
    uint64_t begin, end; /* from the beginning of the values */
} entry;

struct xlm_safetensors {
    GPtrArray *files;   /* of weight_file */
    GPtrArray *entries; /* of entry, by name */
    GHashTable *by_name;
};

/* ---- one tensor of a head ---- */

static const struct {
    const char *name;
    uint64_t size;
} types[] = {{"F32", 4}, {"F16", 2}, {"BF16", 2}, {"F64", 8}, {"I64", 8},     {"I32", 4},     {"I16", 2}, {"I8", 1},
             {"U64", 8}, {"U32", 4}, {"U16", 2},  {"U8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"BOOL", 1}};

static bool read_shape(const json_t *shape, entry *e, const char *path, GError **error)
{
    const size_t n = json_array_size(shape);
    if (!json_is_array(shape) || n > XLM_SAFETENSOR_MAX_DIMENSIONS)
        return xlm_error_set(error, EX_DATAERR, "%s: tensor \"%s\": its shape is not a list of at most %d extents", path, e->name,
                             XLM_SAFETENSOR_MAX_DIMENSIONS);
    e->tensor.dimensions = (int)n;
    e->tensor.elements = 1;
    for (size_t i = 0; i < n; i++) {
        const json_t *extent = json_array_get(shape, i);
        e->tensor.dims[i] = json_integer_value(extent);
        if (!json_is_integer(extent) || e->tensor.dims[i] < 0 ||
            (e->tensor.dims[i] > 0 && e->tensor.elements > INT64_MAX / e->tensor.dims[i]))
            return xlm_error_set(error, EX_DATAERR, "%s: tensor \"%s\": its shape has an extent that cannot be", path, e->name);
        e->tensor.elements *= e->tensor.dims[i];
    }
    return true;
}

static bool read_entry(const json_t *about, entry *e, uint64_t room, const char *path, GError **error)
{
    const char *type = json_string_value(json_object_get(about, "dtype"));
    size_t t = 0;
    while (type != NULL && t < G_N_ELEMENTS(types) && strcmp(types[t].name, type) != 0)
        t++;
    if (type == NULL || t == G_N_ELEMENTS(types))
        return xlm_error_set(error, EX_DATAERR, "%s: tensor \"%s\": %s%s%s", path, e->name,
                             type == NULL ? "it has no type" : "its type \"", type == NULL ? "" : type,
                             type == NULL ? "" : "\" is not known");
    e->tensor.name = e->name;
    e->tensor.type = types[t].name;
    const json_t *offsets = json_object_get(about, "data_offsets");
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (!read_shape(json_object_get(about, "shape"), e, path, error))
        return false;
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end) || json_integer_value(begin) < 0 ||
        json_integer_value(end) < json_integer_value(begin))
        return xlm_error_set(error, EX_DATAERR, "%s: tensor \"%s\": its data_offsets are no [begin, end]", path, e->name);
    e->begin = (uint64_t)json_integer_value(begin);
    e->end = (uint64_t)json_integer_value(end);
    if (e->end > room)
        return xlm_error_set(error, EX_DATAERR, "%s: tensor \"%s\": it ends at byte %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                             "; is the file cut short?", path, e->name, e->end, room);
    if ((uint64_t)e->tensor.elements > room / types[t].size || (uint64_t)e->tensor.elements * types[t].size != e->end - e->begin)
        return xlm_error_set(error, EX_DATAERR, "%s: tensor \"%s\": it has %" G_GUINT64_FORMAT " bytes for %" G_GINT64_FORMAT
                             " elements of type %s", path, e->name, e->end - e->begin, e->tensor.elements, e->tensor.type);
    return true;
}

static bool check_metadata(const json_t *metadata, const char *path, GError **error)
{
    const char *key;
    json_t *value;
    bool good = json_is_object(metadata);
    json_object_foreach((json_t *)metadata, key, value)
        good = good && json_is_string(value);
    return good || xlm_error_set(error, EX_DATAERR, "%s: its __metadata__ is not an object of texts", path);
}

static gint by_offset(gconstpointer a, gconstpointer b)
{
    const entry *x = *(entry *const *)a, *y = *(entry *const *)b;
    return x->begin != y->begin ? (x->begin > y->begin ? 1 : -1) : (x->end > y->end) - (x->end < y->end);
}

static gint by_name(gconstpointer a, gconstpointer b) { return strcmp((*(entry *const *)a)->name, (*(entry *const *)b)->name); }

/* Check that every value belongs to exactly one tensor. */
static bool check_places(GPtrArray *entries, uint64_t room, const char *path, GError **error)
{
    uint64_t at = 0;
    g_ptr_array_sort(entries, by_offset);
    for (guint i = 0; i < entries->len; i++) {
        const entry *e = entries->pdata[i];
        if (e->begin != at)
            return xlm_error_set(error, EX_DATAERR, "%s: tensor \"%s\": it begins at byte %" G_GUINT64_FORMAT ", %s", path,
                                 e->name, e->begin, e->begin < at ? "where another one is" : "after bytes of no tensor");
        at = e->end;
    }
    return at == room || xlm_error_set(error, EX_DATAERR, "%s: %" G_GUINT64_FORMAT " bytes at its end are of no tensor", path,
                                       room - at);
}

/* ---- files ---- */

static void free_entry(gpointer pointer)
{
    entry *e = pointer;
    g_free(e->name);
    g_free(e);
}

static void free_file(gpointer pointer)
{
    weight_file *file = pointer;
    if (file->descriptor >= 0)
        close(file->descriptor);
    g_free(file->path);
    g_free(file);
}

/* Bytes [at, at + size) of a file. */
static bool read_bytes(const weight_file *file, uint64_t at, void *bytes, size_t size, GError **error)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = pread(file->descriptor, (char *)bytes + done, size - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return xlm_error_set(error, EX_IOERR, "%s: cannot be read: %s", file->path,
                                 n < 0 ? g_strerror(errno) : "it has become shorter");
        done += (size_t)n;
    }
    return true;
}

static json_t *parse(const char *path, const char *text, size_t size, GError **error)
{
    json_error_t why;
    json_auto_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
    if (json_is_object(json))
        return g_steal_pointer(&json);
    if (json == NULL)
        xlm_error_set(error, EX_DATAERR, "%s: invalid JSON, line %d, column %d: %s", path, why.line, why.column, why.text);
    else
        xlm_error_set(error, EX_DATAERR, "%s: its JSON is not an object", path);
    return NULL;
}

/* Size of a regular file that can be read. */
static bool open_file(weight_file *file, const char *path, uint64_t *size, GError **error)
{
    struct stat about;
    file->path = g_strdup(path);
    file->descriptor = -1;
    if (!xlm_files_check_input(path, error))
        return false;
    file->descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (file->descriptor < 0 || fstat(file->descriptor, &about) != 0)
        return xlm_error_set(error, EX_NOINPUT, "%s: cannot be read: %s", path, g_strerror(errno));
    if (!S_ISREG(about.st_mode))
        return xlm_error_set(error, EX_NOINPUT, "%s: is not a file", path);
    *size = (uint64_t)about.st_size;
    return true;
}

static bool check_pointer(const weight_file *file, const char *path, uint64_t size, GError **error)
{
    char first[64];
    const size_t n = (size_t)MIN(size, sizeof first);
    return read_bytes(file, 0, first, n, error) && xlm_lfs_pointer_refuse(path, first, n, error);
}

/* The JSON of a file, and how many bytes of values follow. */
static json_t *read_head(weight_file *file, const char *path, uint64_t *room, GError **error)
{
    uint64_t size = 0, head = 0;
    if (!open_file(file, path, &size, error))
        return NULL;
    if (size < sizeof head) {
        xlm_error_set(error, EX_DATAERR, "%s: is no safetensors file: it has %" G_GUINT64_FORMAT " bytes", path, size);
        return NULL;
    }
    if (!check_pointer(file, path, size, error) || !read_bytes(file, 0, &head, sizeof head, error))
        return NULL;
    head = GUINT64_FROM_LE(head);
    if (head > size - sizeof head || head > LARGEST_HEAD || head < 2) {
        xlm_error_set(error, EX_DATAERR, "%s: is no safetensors file, or is cut short: its head would have %" G_GUINT64_FORMAT
                      " bytes, and the file has %" G_GUINT64_FORMAT, path, head, size);
        return NULL;
    }
    g_autofree char *text = g_malloc(head);
    json_t *json = NULL;
    if (read_bytes(file, sizeof head, text, head, error)) {
        if (text[0] == '{')
            json = parse(path, text, head, error);
        else
            xlm_error_set(error, EX_DATAERR, "%s: is no safetensors file: its head does not begin with {", path);
    }
    file->data = sizeof head + head;
    *room = size - file->data;
    return json;
}

/* Append the tensors of a file to `entries`. Its weight_file stays in tensors->files, also on failure. */
static bool add_file(xlm_safetensors *tensors, const char *path, GPtrArray *entries, GError **error)
{
    weight_file *file = g_new0(weight_file, 1);
    uint64_t room = 0;
    file->descriptor = -1;
    g_ptr_array_add(tensors->files, file);
    json_auto_t *head = read_head(file, path, &room, error);
    if (head == NULL)
        return false;
    g_autoptr(GPtrArray) own = g_ptr_array_new();
    const char *name;
    json_t *about;
    bool good = true;
    json_object_foreach(head, name, about) {
        if (!good)
            break;
        if (strcmp(name, "__metadata__") == 0) {
            good = check_metadata(about, path, error);
            continue;
        }
        entry *e = g_new0(entry, 1);
        e->name = g_strdup(name);
        e->file = file;
        e->tensor.file = file->path;
        g_ptr_array_add(entries, e);
        g_ptr_array_add(own, e);
        good = read_entry(about, e, room, path, error);
    }
    return good && check_places(own, room, path, error);
}

static json_t *read_table(const char *path, GError **error)
{
    size_t size;
    g_autofree char *text = xlm_fields_load(path, &size, error);
    return text != NULL ? parse(path, text, size, error) : NULL;
}

/* A name in the table is that of a file beside it, never a path to another place. */
static bool is_plain_name(const char *name)
{
    return name != NULL && *name != '\0' && *name != '.' && strchr(name, '/') == NULL && g_str_has_suffix(name, ".safetensors");
}

/* Take only the tensors that the table names; each must be in the file that the table says. */
static bool take_by_table(xlm_safetensors *tensors, const json_t *map, GPtrArray *all, const char *path, GError **error)
{
    g_autoptr(GHashTable) places = g_hash_table_new(g_str_hash, g_str_equal); /* "file/tensor" to entry */
    g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < all->len; i++) {
        entry *e = all->pdata[i];
        g_autofree char *base = g_path_get_basename(e->file->path);
        char *key = g_strconcat(base, "/", e->name, NULL);
        g_ptr_array_add(keys, key);
        g_hash_table_insert(places, key, e);
    }
    const char *name;
    json_t *file;
    bool good = true;
    json_object_foreach((json_t *)map, name, file) {
        g_autofree char *key = g_strconcat(json_string_value(file), "/", name, NULL);
        entry *e = g_hash_table_lookup(places, key);
        if (good && e == NULL)
            good = xlm_error_set(error, EX_DATAERR, "%s: tensor \"%s\" is not in %s", path, name, json_string_value(file));
        else if (good)
            g_hash_table_insert(tensors->by_name, e->name, e);
    }
    return good;
}

static bool open_table(xlm_safetensors *tensors, const char *path, GPtrArray *all, GError **error)
{
    json_auto_t *table = read_table(path, error);
    if (table == NULL)
        return false;
    const json_t *map = json_object_get(table, "weight_map");
    g_autofree char *directory = g_path_get_dirname(path);
    g_autoptr(GHashTable) opened = g_hash_table_new(g_str_hash, g_str_equal);
    const char *name;
    json_t *file;
    bool good = json_is_object(map) && json_object_size(map) > 0;
    if (!good)
        xlm_error_set(error, EX_DATAERR, "%s: it has no weight_map", path);
    json_object_foreach((json_t *)map, name, file) {
        const char *base = json_string_value(file);
        if (good && !is_plain_name(base))
            good = xlm_error_set(error, EX_DATAERR, "%s: weight_map: tensor \"%s\" is in no file of the name *.safetensors "
                                 "beside this one", path, name);
        if (good && g_hash_table_add(opened, (gpointer)(uintptr_t)base)) {
            g_autofree char *where = g_build_filename(directory, base, NULL);
            good = add_file(tensors, where, all, error);
        }
    }
    return good && take_by_table(tensors, map, all, path, error);
}

/* The first of these names that a directory has, or NULL. */
static const char *find_one(const char *path, const char *const *names, size_t n)
{
    const char *found = NULL;
    for (size_t i = 0; i < n && found == NULL; i++) {
        g_autofree char *file = g_build_filename(path, names[i], NULL);
        found = g_file_test(file, G_FILE_TEST_EXISTS) ? names[i] : NULL;
    }
    return found;
}

/* The file or table of a directory; NULL with an error. g_free. */
static char *find_in_directory(const char *path, GError **error)
{
    static const char *const names[] = {"model.safetensors", "model.safetensors.index.json"};
    static const char *const pickled[] = {"pytorch_model.bin", "pytorch_model.bin.index.json", "model.pt", "model.pth"};
    static const char *const others[] = {"tf_model.h5", "flax_model.msgpack", "rust_model.ot", "model.ckpt.index"};
    g_autofree char *checkpoints = NULL;
    const char *found = find_one(path, names, G_N_ELEMENTS(names));
    if (found != NULL)
        return g_build_filename(path, found, NULL);
    if ((found = find_one(path, pickled, G_N_ELEMENTS(pickled))) != NULL)
        xlm_error_set(error, EX_DATAERR, "%s: its weights are in %s, a pickled file, which can run any program and is not read; "
                      "convert it to model.safetensors first (save_pretrained of transformers does)", path, found);
    else if ((found = find_one(path, others, G_N_ELEMENTS(others))) != NULL)
        xlm_error_set(error, EX_DATAERR, "%s: its weights are in %s, which is not read; convert it to model.safetensors first "
                      "(from_pretrained and save_pretrained of transformers do)", path, found);
    else if ((checkpoints = xlm_files_of_run(path)) != NULL)
        xlm_error_set(error, EX_NOINPUT, "%s: is the output of a run, not a published model; give %s", path, checkpoints);
    else
        xlm_error_set(error, EX_NOINPUT, "%s: has neither model.safetensors nor model.safetensors.index.json", path);
    return NULL;
}

xlm_safetensors *xlm_safetensors_open(const char *path, GError **error)
{
    g_autofree char *file = g_file_test(path, G_FILE_TEST_IS_DIR) ? find_in_directory(path, error) : g_strdup(path);
    if (file == NULL)
        return NULL;
    xlm_safetensors *tensors = g_new(xlm_safetensors, 1);
    tensors->files = g_ptr_array_new_with_free_func(free_file);
    tensors->entries = g_ptr_array_new_with_free_func(free_entry);
    tensors->by_name = g_hash_table_new(g_str_hash, g_str_equal);
    bool good;
    if (g_str_has_suffix(file, ".json")) {
        good = open_table(tensors, file, tensors->entries, error);
    } else {
        good = add_file(tensors, file, tensors->entries, error);
        for (guint i = 0; i < tensors->entries->len; i++)
            g_hash_table_insert(tensors->by_name, ((entry *)tensors->entries->pdata[i])->name, tensors->entries->pdata[i]);
    }
    if (!good) {
        xlm_safetensors_close(tensors);
        return NULL;
    }
    for (guint i = tensors->entries->len; i-- > 0;) /* remove tensors that the table does not name */
        if (g_hash_table_lookup(tensors->by_name, ((entry *)tensors->entries->pdata[i])->name) != tensors->entries->pdata[i])
            g_ptr_array_remove_index_fast(tensors->entries, i);
    g_ptr_array_sort(tensors->entries, by_name);
    return tensors;
}

void xlm_safetensors_close(xlm_safetensors *tensors)
{
    if (tensors == NULL)
        return;
    g_hash_table_unref(tensors->by_name);
    g_ptr_array_unref(tensors->entries);
    g_ptr_array_unref(tensors->files);
    g_free(tensors);
}

int64_t xlm_safetensors_count(const xlm_safetensors *tensors) { return tensors->entries->len; }

const xlm_safetensor *xlm_safetensors_get(const xlm_safetensors *tensors, int64_t i)
{
    return &((const entry *)tensors->entries->pdata[i])->tensor;
}

const xlm_safetensor *xlm_safetensors_find(const xlm_safetensors *tensors, const char *name)
{
    const entry *e = g_hash_table_lookup(tensors->by_name, name);
    return e != NULL ? &e->tensor : NULL;
}

/* ---- values ---- */

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* IEEE 754 binary16: sign, 5 bits of exponent, 10 of the fraction. */
static float from_half(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 1023;
    if (exponent == 0)
        return sign != 0 ? -ldexpf((float)fraction, -24) : ldexpf((float)fraction, -24);
    return from_bits(sign | (exponent == 31 ? 255u : exponent + 112) << 23 | fraction << 13);
}

static void convert(const char *type, const void *bytes, int64_t n, float *values)
{
    const uint16_t *halves = bytes;
    const uint64_t *doubles = bytes;
    if (strcmp(type, "F16") == 0)
        for (int64_t i = 0; i < n; i++)
            values[i] = from_half(GUINT16_FROM_LE(halves[i]));
    else if (strcmp(type, "BF16") == 0)
        for (int64_t i = 0; i < n; i++)
            values[i] = from_bits((uint32_t)GUINT16_FROM_LE(halves[i]) << 16);
    else if (strcmp(type, "F64") == 0)
        for (int64_t i = 0; i < n; i++) {
            const uint64_t bits = GUINT64_FROM_LE(doubles[i]);
            double value;
            memcpy(&value, &bits, sizeof value);
            values[i] = (float)value;
        }
    else
        for (int64_t i = 0; i < n; i++)
            values[i] = from_bits(GUINT32_FROM_LE(((const uint32_t *)bytes)[i]));
}

bool xlm_safetensors_read(const xlm_safetensor *tensor, int64_t first, int64_t n, float *values, GError **error)
{
    const entry *e = (const entry *)(const void *)tensor;
    if (tensor->type[0] != 'F' && strcmp(tensor->type, "BF16") != 0)
        return xlm_error_set(error, EX_DATAERR, "%s: tensor \"%s\": its values are of type %s, not floating-point numbers",
                             e->file->path, tensor->name, tensor->type);
    if (g_str_has_prefix(tensor->type, "F8"))
        return xlm_error_set(error, EX_DATAERR, "%s: tensor \"%s\": its values have 8 bits, too few to continue with",
                             e->file->path, tensor->name);
    if (n == 0)
        return true;
    const size_t size = (size_t)((e->end - e->begin) / (uint64_t)tensor->elements);
    g_autofree uint64_t *block = g_new(uint64_t, BLOCK);
    bool good = true;
    for (int64_t done = 0; done < n && good; done += BLOCK) {
        const int64_t here = MIN(BLOCK, n - done);
        good = read_bytes(e->file, e->file->data + e->begin + (uint64_t)(first + done) * size, block, (size_t)here * size, error);
        if (good)
            convert(tensor->type, block, here, values + done);
        for (int64_t i = done; i < done + here && good; i++)
            if (!isfinite(values[i]))
                good = xlm_error_set(error, EX_DATAERR, "%s: tensor \"%s\": element %" G_GINT64_FORMAT " is %s", e->file->path,
                                     tensor->name, first + i, isnan(values[i]) ? "not a number" : "infinite");
    }
    return good;
}
