/* xlm-mpi: tokenizers as they are published with models. SPDX-License-Identifier: GPL-3.0-or-later */
#include "subwords/tokenizer_files.h"

#include <stdarg.h>
#include <string.h>

#include "files/files.h"
#include "text/lines.h"
#include "text/normalise.h"

typedef struct tokenizer_file {
    char *name;
    GString *bytes;
    json_t *json; /* NULL for another kind of file */
} tokenizer_file;

struct xlm_tokenizer_files {
    char *path;
    bool alone; /* path is a file */
    GPtrArray *files; /* tokenizer_file, in the order of their names */
};

/* ---- reading ---- */

static void free_file(void *pointer)
{
    tokenizer_file *file = pointer;
    g_free(file->name);
    g_string_free(file->bytes, TRUE);
    json_decref(file->json);
    g_free(file);
}

static xlm_tokenizer_files *new_files(const char *path)
{
    xlm_tokenizer_files *files = g_new0(xlm_tokenizer_files, 1);
    files->path = g_strdup(path);
    files->files = g_ptr_array_new_with_free_func(free_file);
    return files;
}

void xlm_tokenizer_files_free(xlm_tokenizer_files *files)
{
    if (files == NULL)
        return;
    g_ptr_array_unref(files->files);
    g_free(files->path);
    g_free(files);
}

const char *xlm_tokenizer_files_path(const xlm_tokenizer_files *files) { return files->path; }

/* g_free. */
static char *path_of(const xlm_tokenizer_files *files, const char *name)
{
    return files->alone ? g_strdup(files->path) : g_build_filename(files->path, name, NULL);
}

void xlm_tokenizer_files_list(const xlm_tokenizer_files *files, GPtrArray *paths)
{
    for (guint i = 0; i < files->files->len; i++)
        g_ptr_array_add(paths, path_of(files, ((const tokenizer_file *)files->files->pdata[i])->name));
}

bool xlm_tokenizer_refuse(const xlm_tokenizer_files *files, const char *name, int64_t line, GError **error, const char *format,
                          ...)
{
    va_list values;
    va_start(values, format);
    g_autofree char *what = g_strdup_vprintf(format, values);
    va_end(values);
    g_autofree char *path = path_of(files, name);
    if (line > 0)
        xlm_error_set(error, EX_DATAERR, "%s:%" G_GINT64_FORMAT ": %s", path, line, what);
    else
        xlm_error_set(error, EX_DATAERR, "%s: %s", path, what);
    return false;
}

static bool is_library_model(const char *name) { return g_str_has_suffix(name, ".model") || g_str_has_suffix(name, ".spm"); }

/* A text may begin with a byte order mark, which does not belong to its first token. */
static bool add_file(xlm_tokenizer_files *files, const char *name, const char *bytes, size_t size, GError **error)
{
    g_autofree char *path = path_of(files, name);
    if (!xlm_lfs_pointer_refuse(path, bytes, size, error))
        return false;
    const size_t mark = is_library_model(name) ? 0 : xlm_lines_mark(bytes, size);
    bytes += mark;
    size -= mark;
    tokenizer_file *file = g_new0(tokenizer_file, 1);
    file->name = g_strdup(name);
    file->bytes = g_string_new_len(bytes, (gssize)size);
    g_ptr_array_add(files->files, file);
    if (!g_str_has_suffix(name, ".json"))
        return true;
    json_error_t wrong;
    file->json = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &wrong);
    /* "model_max_length" is 1000000000000000019884624838656 where there is no maximum. No whole number of this file is needed. */
    if (file->json == NULL && json_error_code(&wrong) == json_error_numeric_overflow &&
        strcmp(name, "tokenizer_config.json") == 0)
        file->json = json_loadb(bytes, size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &wrong);
    return file->json != NULL || xlm_tokenizer_refuse(files, name, wrong.line, error, "not JSON: %s", wrong.text);
}

xlm_tokenizer_files *xlm_tokenizer_files_new(const char *path, size_t n, const char *const *names, const char *const *bytes,
                                             const size_t *sizes, GError **error)
{
    xlm_tokenizer_files *files = new_files(path);
    for (size_t i = 0; i < n; i++)
        if (!add_file(files, names[i], bytes[i], sizes[i], error)) {
            xlm_tokenizer_files_free(files);
            return NULL;
        }
    return files;
}

static bool read_file(xlm_tokenizer_files *files, const char *path, const char *name, GError **error)
{
    g_autofree char *bytes = NULL;
    gsize size;
    g_autoptr(GError) failure = NULL;
    return xlm_files_load(path, &bytes, &size, &failure) ? add_file(files, name, bytes, size, error)
                                                         : xlm_error_set(error, EX_NOINPUT, "%s", failure->message);
}

/* Does a tokenizer have a file of this name? */
static bool is_known(const char *name)
{
    static const char *const names[] = {"tokenizer.json", "vocab.txt", "vocab.json", "merges.txt", "tokenizer_config.json",
                                        "special_tokens_map.json", "added_tokens.json", "config.json", NULL};
    return g_strv_contains(names, name) || is_library_model(name) ||
           g_str_has_prefix(name, XLM_TOKENIZER_ABBREVIATIONS);
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static bool read_directory(xlm_tokenizer_files *files, GError **error)
{
    g_autoptr(GError) failure = NULL;
    GDir *directory = g_dir_open(files->path, 0, &failure);
    if (directory == NULL)
        return xlm_error_set(error, EX_NOINPUT, "%s", failure->message);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; (name = g_dir_read_name(directory)) != NULL;)
        if (is_known(name))
            g_ptr_array_add(names, g_strdup(name));
    g_dir_close(directory);
    qsort(names->pdata, names->len, sizeof *names->pdata, by_name);
    bool good = true;
    for (guint i = 0; i < names->len && good; i++) {
        g_autofree char *path = g_build_filename(files->path, names->pdata[i], NULL);
        good = read_file(files, path, names->pdata[i], error);
    }
    return good;
}

xlm_tokenizer_files *xlm_tokenizer_files_read(const char *path, GError **error)
{
    xlm_tokenizer_files *files = new_files(path);
    files->alone = !g_file_test(path, G_FILE_TEST_IS_DIR);
    g_autofree char *base = g_path_get_basename(path);
    const char *name = g_str_has_suffix(base, ".txt") ? "vocab.txt" : g_str_has_suffix(base, ".json") ? "tokenizer.json" : base;
    if (!(files->alone ? read_file(files, path, name, error) : read_directory(files, error)))
        g_clear_pointer(&files, xlm_tokenizer_files_free);
    return files;
}

/* ---- asking ---- */

static const tokenizer_file *find_file(const xlm_tokenizer_files *files, const char *name)
{
    for (guint i = 0; i < files->files->len; i++)
        if (strcmp(((const tokenizer_file *)files->files->pdata[i])->name, name) == 0)
            return files->files->pdata[i];
    return NULL;
}

const char *xlm_tokenizer_file(const xlm_tokenizer_files *files, const char *name, size_t *size)
{
    const tokenizer_file *file = find_file(files, name);
    if (file == NULL)
        return NULL;
    *size = file->bytes->len;
    return file->bytes->str;
}

const char *xlm_tokenizer_file_ending(const xlm_tokenizer_files *files, const char *ending)
{
    for (guint i = 0; i < files->files->len; i++) {
        const tokenizer_file *file = files->files->pdata[i];
        if (g_str_has_suffix(file->name, ending))
            return file->name;
    }
    return NULL;
}

const char *xlm_tokenizer_file_at(const xlm_tokenizer_files *files, size_t i)
{
    return i < files->files->len ? ((const tokenizer_file *)files->files->pdata[i])->name : NULL;
}

const json_t *xlm_tokenizer_json(const xlm_tokenizer_files *files, const char *name)
{
    const tokenizer_file *file = find_file(files, name);
    return file != NULL ? file->json : NULL;
}

const json_t *xlm_tokenizer_value(const xlm_tokenizer_files *files, const char *name, ...)
{
    const json_t *value = xlm_tokenizer_json(files, name);
    va_list keys;
    va_start(keys, name);
    for (const char *key; (key = va_arg(keys, const char *)) != NULL;)
        value = json_object_get(value, key); /* NULL when value is not an object */
    va_end(keys);
    return value;
}

bool xlm_tokenizer_is_type(const json_t *step, const char *type)
{
    return g_strcmp0(json_string_value(json_object_get(step, "type")), type) == 0;
}

const char *xlm_tokenizer_model_type(const xlm_tokenizer_files *files)
{
    const json_t *model = xlm_tokenizer_value(files, "tokenizer.json", "model", NULL);
    const char *type = json_string_value(json_object_get(model, "type"));
    if (type != NULL)
        return type;
    return json_is_array(json_object_get(model, "vocab")) ? "Unigram" : json_object_get(model, "merges") != NULL ? "BPE" : NULL;
}

const json_t *xlm_tokenizer_json_merges(const xlm_tokenizer_files *files, GError **error)
{
    static const char TOKENIZER[] = "tokenizer.json";
    const json_t *merges = xlm_tokenizer_value(files, TOKENIZER, "model", "merges", NULL);
    if (json_is_true(xlm_tokenizer_value(files, TOKENIZER, "model", "ignore_merges", NULL)))
        xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "its model takes words of the vocabulary without merging them "
                             "(ignore_merges), which is not supported");
    else if (json_number_value(xlm_tokenizer_value(files, TOKENIZER, "model", "dropout", NULL)) > 0)
        xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "its model leaves out merges at random (dropout), which is not "
                             "supported");
    else if (!json_is_array(merges))
        xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "has no merges");
    else
        return merges;
    return NULL;
}

bool xlm_tokenizer_merges(const xlm_tokenizer_files *files, const char *(*add)(void *model, const char *line, size_t size),
                          void *model, GError **error)
{
    static const char MERGES[] = "merges.txt";
    size_t size;
    const char *text = xlm_tokenizer_file(files, MERGES, &size);
    int64_t line = 1;
    for (const char *at = text, *end; at < text + size; at = end + 1, line++) {
        end = memchr(at, '\n', (size_t)(text + size - at));
        if (end == NULL)
            end = text + size;
        const size_t length = (size_t)(end - at) - (end > at && end[-1] == '\r');
        if (length == 0 || (line == 1 && g_str_has_prefix(at, "#version")))
            continue;
        const char *wrong = add(model, at, length);
        if (wrong != NULL)
            return xlm_tokenizer_refuse(files, MERGES, line, error, "%s", wrong);
    }
    return true;
}

bool xlm_tokenizer_ends_words(const xlm_tokenizer_files *files)
{
    const char *token;
    json_t *id;
    json_object_foreach((json_t *)(uintptr_t)xlm_tokenizer_json(files, "vocab.json"), token, id)
        if (g_str_has_suffix(token, "</w>"))
            return true;
    return false;
}

const char *xlm_tokenizer_class(const xlm_tokenizer_files *files, const char **file)
{
    static const char *const names[] = {"tokenizer_config.json", "config.json"};
    const char *kind = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(names) && kind == NULL; i++) {
        kind = json_string_value(xlm_tokenizer_value(files, names[i], "tokenizer_class", NULL));
        if (file != NULL)
            *file = names[i];
    }
    return kind;
}

bool xlm_tokenizer_class_is_plain(const char *kind)
{
    static const char *const plain[] = {"PreTrainedTokenizerFast", "TokenizersBackend", NULL}; /* its former and present name */
    return g_strv_contains(plain, kind);
}

const char *xlm_tokenizer_class_with_rules(const xlm_tokenizer_files *files, const char **file)
{
    const char *kind = xlm_tokenizer_class(files, file);
    return kind != NULL && !xlm_tokenizer_class_is_plain(kind) ? kind : NULL;
}

bool xlm_tokenizer_flag(const xlm_tokenizer_files *files, const char *key, bool default_value)
{
    const json_t *value = xlm_tokenizer_value(files, "tokenizer_config.json", key, NULL);
    return json_is_boolean(value) ? json_is_true(value) : default_value;
}

const char *xlm_tokenizer_token_text(const json_t *value)
{
    return json_string_value(json_is_object(value) ? json_object_get(value, "content") : value);
}

const json_t *xlm_tokenizer_additional(const xlm_tokenizer_files *files, const char **file)
{
    static const char *const names[] = {"special_tokens_map.json", "tokenizer_config.json"};
    static const char *const keys[] = {"additional_special_tokens", "extra_special_tokens"};
    for (size_t i = 0; i < G_N_ELEMENTS(names) * G_N_ELEMENTS(keys); i++) {
        const json_t *found = xlm_tokenizer_value(files, *file = names[i / 2], keys[i % 2], NULL);
        if (json_array_size(found) > 0)
            return found;
    }
    return NULL;
}

/* ---- tokens ---- */

void xlm_published_tokens_init(xlm_published_tokens *tokens)
{
    *tokens = (xlm_published_tokens){.text = g_ptr_array_new_with_free_func(g_free), .words = XLM_WORDS_SPACE};
}

void xlm_published_tokens_clear(xlm_published_tokens *tokens)
{
    g_ptr_array_unref(tokens->text);
    for (int i = 0; i < XLM_SPECIAL_TOKENS; i++)
        g_free(tokens->special[i]);
    g_strfreev(tokens->languages);
}

/* Every token takes bytes in a file, so no id is larger than the size of all files. A wrong id must not make us allocate
 * memory. */
static int64_t max_tokens(const xlm_tokenizer_files *files)
{
    int64_t bytes = 0;
    for (guint i = 0; i < files->files->len; i++)
        bytes += (int64_t)((const tokenizer_file *)files->files->pdata[i])->bytes->len;
    return MIN(bytes, INT32_MAX - XLM_SPECIAL_TOKENS);
}

bool xlm_published_tokens_set(xlm_published_tokens *tokens, const xlm_tokenizer_files *files, const char *file, int64_t id,
                              const char *text, GError **error)
{
    if (id < 0 || id >= max_tokens(files))
        return xlm_tokenizer_refuse(files, file, 0, error, "token `%s` has the id %" G_GINT64_FORMAT ", which cannot be", text,
                                    id);
    if (*text == '\0')
        return xlm_tokenizer_refuse(files, file, 0, error, "the token of id %" G_GINT64_FORMAT " is empty", id);
    if ((guint)id >= tokens->text->len)
        g_ptr_array_set_size(tokens->text, (gint)id + 1);
    char **place = (char **)&tokens->text->pdata[id];
    if (*place != NULL && strcmp(*place, text) != 0)
        return xlm_tokenizer_refuse(files, file, 0, error, "tokens `%s` and `%s` both have the id %" G_GINT64_FORMAT, *place,
                                    text, id);
    if (*place == NULL)
        *place = g_strdup(text);
    return true;
}

bool xlm_published_tokens_add_object(xlm_published_tokens *tokens, const xlm_tokenizer_files *files, const char *file,
                                     const json_t *object, GError **error)
{
    if (!json_is_object(object))
        return xlm_tokenizer_refuse(files, file, 0, error, "has no vocabulary: {\"token\": id, ...}");
    const char *token;
    json_t *id;
    json_object_foreach((json_t *)(uintptr_t)object, token, id) {
        if (!json_is_integer(id))
            return xlm_tokenizer_refuse(files, file, 0, error, "the id of token `%s` is not a whole number", token);
        if (!xlm_published_tokens_set(tokens, files, file, json_integer_value(id), token, error))
            return false;
    }
    return true;
}

bool xlm_published_tokens_add_added(xlm_published_tokens *tokens, const xlm_tokenizer_files *files, GError **error)
{
    const json_t *added = xlm_tokenizer_value(files, "tokenizer.json", "added_tokens", NULL), *token;
    size_t i;
    json_array_foreach(added, i, token) {
        const char *text = xlm_tokenizer_token_text(token);
        const json_t *id = json_object_get(token, "id");
        if (text == NULL || !json_is_integer(id))
            return xlm_tokenizer_refuse(files, "tokenizer.json", 0, error, "added token %zu has no text or no id", i + 1);
        if (!xlm_published_tokens_set(tokens, files, "tokenizer.json", json_integer_value(id), text, error))
            return false;
    }
    const json_t *object = xlm_tokenizer_json(files, "added_tokens.json");
    return added != NULL || object == NULL ||
           xlm_published_tokens_add_object(tokens, files, "added_tokens.json", object, error);
}

const char *xlm_tokenizer_role(const xlm_tokenizer_files *files, const char *role)
{
    static const char *const names[] = {"special_tokens_map.json", "tokenizer_config.json"};
    const char *text = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(names) && text == NULL; i++)
        text = xlm_tokenizer_token_text(xlm_tokenizer_value(files, names[i], role, NULL));
    return text;
}

void xlm_published_tokens_find_special(xlm_published_tokens *tokens, const xlm_tokenizer_files *files,
                                       const char *const usual[XLM_SPECIAL_TOKENS])
{
    static const char *const roles[XLM_SPECIAL_TOKENS][2] = {
        {"cls_token", "bos_token"}, {"pad_token", NULL}, {"sep_token", "eos_token"}, {"unk_token", NULL}, {"mask_token", NULL}};
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < tokens->text->len; i++)
        if (tokens->text->pdata[i] != NULL)
            g_hash_table_add(known, tokens->text->pdata[i]);
    for (int s = 0; s < XLM_SPECIAL_TOKENS; s++) {
        const char *found = NULL;
        g_auto(GStrv) names = g_strsplit(usual[s], " ", -1);
        for (int k = 0; k < 2 && found == NULL && roles[s][k] != NULL; k++) {
            found = xlm_tokenizer_role(files, roles[s][k]);
            if (found != NULL && !g_hash_table_contains(known, found))
                found = NULL;
        }
        for (char **name = names; found == NULL && *name != NULL; name++)
            if (g_hash_table_contains(known, *name))
                found = *name;
        tokens->special[s] = g_strdup(found);
    }
}
