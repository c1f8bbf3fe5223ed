/* xlm-mpi: LoRA adapters of Hugging Face's PEFT, read into our models and written. SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreign/peft.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "foreign/architecture.h"
#include "foreign/foreign_vocabulary.h"
#include "foreign/new_directory.h"
#include "foreign/safetensors.h"
#include "model/model_adapters.h"
#include "nn/adapter.h"
#include "text/fields.h"

static const char CONFIG[] = "adapter_config.json", WEIGHTS[] = "adapter_model.safetensors", DEFAULT_NAME[] = "lora",
                  PREFIX[] = "base_model.model.", WEIGHT[] = ".weight";

bool xlm_peft_is_adapter(const char *directory)
{
    g_autofree char *path = g_build_filename(directory, CONFIG, NULL);
    return g_file_test(path, G_FILE_TEST_EXISTS);
}

/* ---- names ---- */

/* Their architecture of a model without its adapters. NULL with EX_DATAERR. */
static const xlm_architecture *architecture_of(const char *path, const xlm_loaded_model *loaded, GError **error)
{
    xlm_model_config config = loaded->config;
    config.adapters.n = 0;
    const xlm_architecture *a = xlm_architecture_choose(&config, xlm_vocabulary_special(loaded->vocabulary, XLM_PAD), error);
    if (a == NULL)
        g_prefix_error(error, "%s: ", path);
    return a;
}

/* Their module of a linear layer, by the name of our weight: "roberta.encoder.layer.0.attention.self.query". g_free. [out] part:
 * what part of the rows of that module's weight is ours. */
static char *module_of(const xlm_architecture *architecture, bool bare, const char *weight, xlm_tensor_part *part)
{
    char *name = xlm_architecture_tensor(architecture, bare, weight, part);
    if (name != NULL && g_str_has_suffix(name, WEIGHT))
        name[strlen(name) - strlen(WEIGHT)] = '\0';
    return name;
}

static char *tensor_of(const char *module, const char *which) { return g_strconcat(PREFIX, module, ".", which, WEIGHT, NULL); }

/* ---- reading ---- */

typedef struct importer {
    const char *model, *directory;
    xlm_loaded_model *loaded; /* without values */
    const xlm_architecture *architecture;
    xlm_safetensors *tensors;
    bool bare;
    xlm_adapter adapter;
    GHashTable *used;         /* of xlm_safetensor */
} importer;

/* Keys that change nothing of what a given adapter computes, and those that are read. */
static const char *const known[] = {
    "peft_type", "r", "lora_alpha", "lora_dropout", "use_rslora", "bias", "base_model_name_or_path", "revision", "task_type",
    "inference_mode", "auto_mapping", "peft_version", "target_modules", "exclude_modules", "init_lora_weights", "loftq_config",
    "eva_config", "corda_config", "runtime_config", "megatron_config", "megatron_core", "layers_pattern", "ensure_weight_tying",
    NULL};

static bool is_nothing(const json_t *value)
{
    return json_is_null(value) || json_is_false(value) || (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}

/* Keys that are set and not known here, such as use_dora, modules_to_save and rank_pattern. */
static bool check_keys(const json_t *json, const char *path, GError **error)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json, key, value) {
        if (!g_strv_contains(known, key) && !is_nothing(value)) {
            g_autofree char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
            return xlm_config_refuse(path, key, error, "is %.60s, and adapters here have no such property", text);
        }
    }
    return true;
}

static bool read_numbers(const json_t *json, const char *path, xlm_adapter *a, GError **error)
{
    enum { DEFAULT_RANK = 8, DEFAULT_ALPHA = 8, MAX_RANK = 1 << 16 };
    const json_t *alpha = json_object_get(json, "lora_alpha"), *dropout = json_object_get(json, "lora_dropout");
    bool stabilised;
    if (!xlm_config_int(json, path, "r", DEFAULT_RANK, &a->rank, error) ||
        !xlm_config_flag(json, path, "use_rslora", false, &stabilised, error))
        return false;
    if (a->rank < 1 || a->rank > MAX_RANK)
        return xlm_config_refuse(path, "r", error, "is %" G_GINT64_FORMAT ", not from 1 to %d", a->rank, MAX_RANK);
    if ((alpha != NULL && !json_is_number(alpha)) || (dropout != NULL && !json_is_number(dropout)))
        return xlm_config_refuse(path, alpha != NULL && !json_is_number(alpha) ? "lora_alpha" : "lora_dropout", error,
                                 "is not a number");
    a->alpha = alpha != NULL ? json_number_value(alpha) : DEFAULT_ALPHA;
    if (stabilised) /* α / √r is their factor, ours α / r */
        a->alpha *= sqrt((double)a->rank);
    a->dropout = dropout != NULL ? json_number_value(dropout) : 0;
    return true;
}

static bool read_config(importer *im, GError **error)
{
    g_autofree char *path = g_build_filename(im->directory, CONFIG, NULL), *bytes = NULL;
    size_t size;
    json_error_t wrong;
    if ((bytes = xlm_fields_load(path, &size, error)) == NULL)
        return false;
    json_auto_t *json = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &wrong);
    if (!json_is_object(json))
        return xlm_error_set(error, EX_DATAERR, "%s: no configuration of an adapter: {\"peft_type\": \"LORA\", ...}", path);
    const char *type = xlm_config_text(json, path, "peft_type", "", error);
    if (type == NULL)
        return false;
    if (strcmp(type, "LORA") != 0)
        return xlm_config_refuse(path, "peft_type", error, "is \"%s\"; known here is LORA", type);
    const char *bias = xlm_config_text(json, path, "bias", "none", error);
    if (bias == NULL)
        return false;
    if (strcmp(bias, "none") != 0)
        return xlm_config_refuse(path, "bias", error, "is \"%s\": biases that were trained with the adapter are not known here",
                                 bias);
    return check_keys(json, path, error) && read_numbers(json, path, &im->adapter, error);
}

static const xlm_safetensor *find(importer *im, const char *module, const char *which)
{
    g_autofree char *name = tensor_of(module, which);
    const xlm_safetensor *t = xlm_safetensors_find(im->tensors, name);
    if (t != NULL)
        g_hash_table_add(im->used, (void *)(uintptr_t)t);
    return t;
}

static bool check_shape(const xlm_safetensor *t, int64_t rows, int64_t cols, GError **error)
{
    return (t->dimensions == 2 && t->dims[0] == rows && t->dims[1] == cols) ||
           xlm_error_set(error, EX_DATAERR, "%s: tensor \"%s\" is not %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT, t->file, t->name,
                         rows, cols);
}

/* Both tensors beside a linear layer, or neither: *there. Where their layer computes several of ours, these have its A, and each
 * its rows of B. */
static bool find_linear(importer *im, const xlm_parameter *p, bool *there, GError **error)
{
    xlm_tensor_part part;
    g_autofree char *module = module_of(im->architecture, im->bare, p->name, &part);
    const xlm_safetensor *a = module != NULL ? find(im, module, "lora_A") : NULL;
    const xlm_safetensor *b = module != NULL ? find(im, module, "lora_B") : NULL;
    *there = a != NULL && b != NULL;
    if ((a != NULL) != (b != NULL))
        return xlm_error_set(error, EX_DATAERR, "%s: there is no \"%s%s.%s%s\"", im->directory, PREFIX, module,
                             a != NULL ? "lora_B" : "lora_A", WEIGHT);
    return !*there || (check_shape(a, im->adapter.rank, p->cols, error) &&
                        check_shape(b, p->rows * part.of, im->adapter.rank, error));
}

/* Find the targets: each at all of its linear layers, or at none. */
static bool find_targets(importer *im, GError **error)
{
    uint32_t some = 0, lacked = 0;
    for (int i = 0; i < xlm_parameters_count(im->loaded->parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(im->loaded->parameters, i);
        const uint32_t target = xlm_adapter_target_of(p->name);
        bool there = false;
        if (target == 0 || !g_str_has_suffix(p->name, "/weight"))
            continue;
        if (!find_linear(im, p, &there, error))
            return false;
        *(there ? &some : &lacked) |= target;
    }
    im->adapter.targets = some;
    if ((some & lacked) != 0) {
        g_autofree char *names = xlm_adapter_targets_print(some & lacked);
        return xlm_error_set(error, EX_DATAERR, "%s: it adapts %s in some layers and not in others, which is not known here",
                             im->directory, names);
    }
    return true;
}

/* Every tensor has its place. */
static bool check_others(const importer *im, GError **error)
{
    for (int64_t i = 0; i < xlm_safetensors_count(im->tensors); i++) {
        const xlm_safetensor *t = xlm_safetensors_get(im->tensors, i);
        if (!g_hash_table_contains(im->used, t))
            return xlm_error_set(error, EX_DATAERR,
                                 "%s: tensor \"%s\" is beside no linear layer of %s, as a model of %s, that an adapter "
                                 "can be beside here", t->file, t->name, im->model, im->architecture->class_name);
    }
    return im->adapter.targets != 0 || xlm_error_set(error, EX_DATAERR, "%s: it has no tensors", im->directory);
}

static bool open_adapter(importer *im, GError **error)
{
    g_autofree char *weights = g_build_filename(im->directory, WEIGHTS, NULL);
    if ((im->loaded = xlm_model_file_read_header(im->model, error)) == NULL || !read_config(im, error) ||
        (im->architecture = architecture_of(im->model, im->loaded, error)) == NULL ||
        (im->tensors = xlm_safetensors_open(weights, error)) == NULL)
        return false;
    const char *first = xlm_safetensors_count(im->tensors) > 0 ? xlm_safetensors_get(im->tensors, 0)->name : "";
    g_autofree char *whole = g_strconcat(PREFIX, im->architecture->prefix, NULL);
    im->bare = !g_str_has_prefix(first, whole);
    return find_targets(im, error) && check_others(im, error);
}

static bool read_tensor(importer *im, const xlm_adapted *adapted, const char *module, const char *which, const char *parameter,
                        xlm_tensor_part part, GError **error)
{
    const xlm_safetensor *t = find(im, module, which);
    const int64_t n = t->elements / part.of;
    return xlm_safetensors_read(t, part.number * n, n, xlm_adapted_values(adapted, parameter), error);
}

static bool read_values(importer *im, const xlm_adapted *adapted, GError **error)
{
    char name[XLM_ADAPTER_PARAMETER];
    xlm_tensor_part part;
    const xlm_tensor_part all = {0, 1};
    bool good = true;
    for (int i = 0; i < xlm_parameters_count(im->loaded->parameters) && good; i++) {
        const xlm_parameter *p = xlm_parameters_get(im->loaded->parameters, i);
        if ((xlm_adapter_target_of(p->name) & im->adapter.targets) == 0 || !g_str_has_suffix(p->name, "/weight"))
            continue;
        g_autofree char *module = module_of(im->architecture, im->bare, p->name, &part);
        g_autofree char *linear = g_strndup(p->name, strlen(p->name) - strlen("/weight"));
        const char *a = xlm_adapter_parameter(&im->adapter, linear, "lora_a", name);
        good = read_tensor(im, adapted, module, "lora_A", a, all, error);
        const char *b = xlm_adapter_parameter(&im->adapter, linear, "lora_b", name);
        good = good && read_tensor(im, adapted, module, "lora_B", b, part, error);
    }
    return good;
}

static bool add_adapter(importer *im, const char *output, GError **error)
{
    xlm_adapters all = im->loaded->config.adapters;
    if (all.n == XLM_MAX_ADAPTERS)
        return xlm_error_set(error, EX_DATAERR, "%s: the model has %d adapters, and cannot have more", im->model,
                             XLM_MAX_ADAPTERS);
    all.one[all.n++] = im->adapter;
    xlm_adapted adapted;
    bool good = xlm_adapted_open(&adapted, im->model, &all, error);
    if (!good)
        g_prefix_error(error, "%s: ", im->directory);
    good = good && read_values(im, &adapted, error) && xlm_adapted_write(&adapted, output, error);
    xlm_adapted_close(&adapted);
    return good;
}

bool xlm_peft_import(const char *model, const char *directory, const char *name, const char *output, GError **error)
{
    importer im = {.model = model, .directory = directory, .used = g_hash_table_new(NULL, NULL)};
    if (name == NULL)
        name = DEFAULT_NAME;
    bool good = g_strlcpy(im.adapter.name, name, sizeof im.adapter.name) < sizeof im.adapter.name ||
                xlm_error_set(error, EX_USAGE, "\"%s\": the name of an adapter has at most %d characters", name,
                              XLM_ADAPTER_NAME - 1);
    good = good && open_adapter(&im, error) && add_adapter(&im, output, error);
    if (good) {
        g_autofree char *targets = xlm_adapter_targets_print(im.adapter.targets);
        xlm_log_info("%s: adapter %s of rank %" G_GINT64_FORMAT ", alpha %g, beside %s", directory, im.adapter.name,
                     im.adapter.rank, im.adapter.alpha, targets);
    }
    xlm_safetensors_close(im.tensors);
    xlm_model_file_free(im.loaded);
    g_hash_table_unref(im.used);
    return good;
}

/* ---- writing ---- */

typedef struct exporter {
    const char *model;
    xlm_loaded_model *loaded;
    const xlm_architecture *architecture;
    bool bare;
    const xlm_adapter *adapter;
    GPtrArray *modules;    /* char * */
    GPtrArray *parameters; /* const xlm_parameter *: A and B of each module */
} exporter;

static const xlm_adapter *choose(const char *model, const xlm_adapters *all, const char *name, GError **error)
{
    const xlm_adapter *found = name != NULL ? xlm_adapters_find(all, name) : all->n == 1 ? &all->one[0] : NULL;
    if (found != NULL && found->kind != XLM_ADAPTER_LORA) {
        xlm_error_set(error, EX_DATAERR, "%s: adapter %s is of kind %s, which PEFT does not know", model, found->name,
                      xlm_adapter_kinds[found->kind]);
        return NULL;
    }
    if (found == NULL && all->n == 0)
        xlm_error_set(error, EX_DATAERR, "%s: the model has no adapters", model);
    else if (found == NULL && name == NULL)
        xlm_error_set(error, EX_USAGE, "%s: the model has %" G_GINT64_FORMAT " adapters; name one with --adapter", model, all->n);
    else if (found == NULL)
        xlm_error_set(error, EX_USAGE, "%s: the model has no adapter %s", model, name);
    return found;
}

static const xlm_parameter *find_parameter(const exporter *ex, const char *linear, const char *what)
{
    char name[XLM_ADAPTER_PARAMETER];
    const int at = xlm_parameters_find(ex->loaded->parameters, xlm_adapter_parameter(ex->adapter, linear, what, name));
    return at >= 0 ? xlm_parameters_get(ex->loaded->parameters, at) : NULL;
}

static bool list_modules(exporter *ex, GError **error)
{
    xlm_tensor_part part;
    for (int i = 0; i < xlm_parameters_count(ex->loaded->parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(ex->loaded->parameters, i);
        if (xlm_adapters_of_parameter(&ex->loaded->config.adapters, p->name) != NULL || !g_str_has_suffix(p->name, "/weight") ||
            (xlm_adapter_target_of(p->name) & ex->adapter->targets) == 0)
            continue;
        g_autofree char *linear = g_strndup(p->name, strlen(p->name) - strlen("/weight"));
        g_ptr_array_add(ex->modules, module_of(ex->architecture, ex->bare, p->name, &part));
        if (part.of > 1)
            return xlm_error_set(error, EX_DATAERR, "%s: \"%s\" is one layer in a %s model, and the adapter has a matrix A of "
                                 "its own for each of query, key and value; merge it (xlm_convert --merge-adapters)", ex->model,
                                 (const char *)ex->modules->pdata[ex->modules->len - 1], ex->architecture->model_type);
        g_ptr_array_add(ex->parameters, (void *)(uintptr_t)find_parameter(ex, linear, "lora_a"));
        g_ptr_array_add(ex->parameters, (void *)(uintptr_t)find_parameter(ex, linear, "lora_b"));
    }
    return true;
}

static bool write_config(const exporter *ex, const char *directory, GError **error)
{
    const xlm_adapter *a = ex->adapter;
    const json_int_t whole = (json_int_t)a->alpha;
    json_t *modules = json_array();
    for (guint i = 0; i < ex->modules->len; i++)
        json_array_append_new(modules, json_string(ex->modules->pdata[i]));
    json_t *json = json_pack("{s:s, s:I, s:f, s:o, s:s, s:b, s:b, s:n, s:n}", "peft_type", "LORA", "r", (json_int_t)a->rank,
                             "lora_dropout", a->dropout, "target_modules", modules, "bias", "none", "fan_in_fan_out", false,
                             "inference_mode", true, "base_model_name_or_path", "task_type");
    /* Their type is an integer; a number that is none is read as well. */
    const bool integral = fabs(a->alpha - (double)whole) <= 0;
    json_object_set_new(json, "lora_alpha", integral ? json_integer(whole) : json_real(a->alpha));
    return xlm_foreign_write_json(directory, CONFIG, json, error);
}

static bool write_tensors(const exporter *ex, const char *directory, GError **error)
{
    const guint n = ex->parameters->len;
    g_autofree xlm_safetensor *heads = g_new0(xlm_safetensor, MAX(n, 1));
    g_auto(GStrv) names = g_new0(char *, n + 1);
    for (guint i = 0; i < n; i++) {
        const xlm_parameter *p = ex->parameters->pdata[i];
        names[i] = tensor_of(ex->modules->pdata[i / 2], i % 2 == 0 ? "lora_A" : "lora_B");
        heads[i] = (xlm_safetensor){.name = names[i], .dimensions = 2, .elements = p->rows * p->cols, .dims = {p->rows, p->cols}};
    }
    g_autofree char *path = g_build_filename(directory, WEIGHTS, NULL);
    xlm_safetensors_writer writer;
    if (!xlm_safetensors_create(&writer, path, heads, n, error))
        return false;
    bool good = true;
    for (guint i = 0; i < n && good; i++) {
        const xlm_parameter *p = ex->parameters->pdata[i];
        good = xlm_safetensors_write(&writer, xlm_parameters_values(ex->loaded->parameters) + p->start, p->rows * p->cols, error);
    }
    if (good)
        return xlm_safetensors_commit(&writer, error);
    xlm_safetensors_discard(&writer);
    return false;
}

static bool write_files(void *data, const char *directory, GError **error)
{
    return write_tensors(data, directory, error) && write_config(data, directory, error);
}

bool xlm_peft_export(const char *model, const char *name, const char *output, GError **error)
{
    exporter ex = {.model = model, .loaded = xlm_model_file_read(model, error), .modules = g_ptr_array_new_with_free_func(g_free),
                   .parameters = g_ptr_array_new()};
    bool good = ex.loaded != NULL && (ex.adapter = choose(model, &ex.loaded->config.adapters, name, error)) != NULL &&
                (ex.architecture = architecture_of(model, ex.loaded, error)) != NULL;
    if (good) {
        ex.bare = ex.loaded->config.head == XLM_HEAD_NONE && ex.loaded->task == NULL;
        good = list_modules(&ex, error) && xlm_new_directory_write(output, write_files, &ex, error);
    }
    g_ptr_array_unref(ex.modules);
    g_ptr_array_unref(ex.parameters);
    xlm_model_file_free(ex.loaded);
    return good;
}
