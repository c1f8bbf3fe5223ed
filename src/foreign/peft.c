/* xlm-mpi: LoRA adapters of Hugging Face's PEFT. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * adapter_model.safetensors has
 *     base_model.model.<module>.lora_A.weight   r x in
 *     base_model.model.<module>.lora_B.weight   out x r
 * for each module that is adapted, y = W x + (lora_alpha / r) B A x, as ours. Where one module computes several layers of ours,
 * these have its A, and each its rows of B. */
#include <math.h>
#include <string.h>

#include "foreign/adapter_directory.h"
#include "nn/adapter.h"

static const char PREFIX[] = "base_model.model.";

static bool is(const json_t *json) { return json_object_get(json, "peft_type") != NULL; }

/* ---- adapter_config.json ---- */

/* Keys that change nothing of what a given adapter computes, and those that are read. */
static const char *const known[] = {
    "peft_type", "r", "lora_alpha", "lora_dropout", "use_rslora", "bias", "base_model_name_or_path", "revision", "task_type",
    "inference_mode", "auto_mapping", "peft_version", "target_modules", "exclude_modules", "init_lora_weights", "loftq_config",
    "eva_config", "corda_config", "runtime_config", "megatron_config", "megatron_core", "layers_pattern", "ensure_weight_tying",
    "qalora_group_size", NULL}; /* the last one only with use_qalora */

/* Keys that are set and not known here, such as use_dora, modules_to_save and rank_pattern. */
static bool check_keys(const json_t *json, const char *path, GError **error)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json, key, value) {
        if (!g_strv_contains(known, key) && !xlm_adapter_directory_is_nothing(value)) {
            g_autofree char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
            return xlm_config_refuse(path, key, error, "is %.60s, and adapters here have no such property", text);
        }
    }
    return true;
}

/* Of ways to start an adapter, PiSSA, OLoRA, CorDA, LoftQ and their like take out of W what A and B begin with, so that their
 * adapters are of another model than the published one. */
static bool check_start(const json_t *json, const char *path, GError **error)
{
    static const char *const keeping[] = {"gaussian", "eva", "orthogonal", NULL};
    static const char key[] = "init_lora_weights";
    const char *start = json_string_value(json_object_get(json, key));
    return start == NULL || g_strv_contains(keeping, start) ||
           xlm_config_refuse(path, key, error, "is \"%.60s\", which changes the model's own matrices too; save the adapter in "
                             "PEFT with path_initial_model_for_weight_conversion, so that it is of the published model", start);
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
    if (!isfinite(a->alpha))
        return xlm_config_refuse(path, "lora_alpha", error, "is too large");
    a->dropout = dropout != NULL ? json_number_value(dropout) : 0;
    return (a->dropout >= 0 && a->dropout < 1) ||
           xlm_config_refuse(path, "lora_dropout", error, "is %g, not from 0 to below 1", a->dropout);
}

static bool read(xlm_adapter_directory *d, const char *path, GError **error)
{
    const char *type = xlm_config_text(d->json, path, "peft_type", "", error);
    if (type == NULL)
        return false;
    if (strcmp(type, "LORA") != 0)
        return xlm_config_refuse(path, "peft_type", error, "is \"%s\"; known here is LORA", type);
    const char *bias = xlm_config_text(d->json, path, "bias", "none", error);
    if (bias == NULL)
        return false;
    if (strcmp(bias, "none") != 0)
        return xlm_config_refuse(path, "bias", error, "is \"%s\": biases that were trained with the adapter are not known here",
                                 bias);
    return check_keys(d->json, path, error) && check_start(d->json, path, error) &&
           read_numbers(d->json, path, &d->adapter, error);
}

/* ---- tensors ---- */

static char *tensor_of(const char *module, const char *which) { return g_strconcat(PREFIX, module, ".", which, ".weight", NULL); }

/* place: "encoder/layer.0/attention/query/lora_a" */
static char *tensor(const xlm_adapter_directory *d, const char *place, xlm_tensor_part *part)
{
    static const xlm_tensor_part whole = {0, 1};
    const char *what = strrchr(place, '/');
    const bool first = strcmp(what, "/lora_a") == 0;
    g_autofree char *linear = g_strndup(place, (gsize)(what - place));
    g_autofree char *module = xlm_adapter_directory_module(d, linear, part);
    if (first && module != NULL && d->tensors != NULL) /* also where a module is divided */
        *part = whole;
    return module != NULL ? tensor_of(module, first ? "lora_A" : "lora_B") : NULL;
}

static bool is_adapted(const xlm_adapter_directory *d, const char *linear)
{
    xlm_tensor_part part;
    g_autofree char *module = xlm_adapter_directory_module(d, linear, &part);
    if (module == NULL)
        return false;
    g_autofree char *a = tensor_of(module, "lora_A"), *b = tensor_of(module, "lora_B");
    return xlm_safetensors_find(d->tensors, a) != NULL || xlm_safetensors_find(d->tensors, b) != NULL;
}

/* Find the targets: each at all of its linear layers, or at none. */
static bool find(xlm_adapter_directory *d, GError **error)
{
    uint32_t some = 0, lacked = 0;
    for (int i = 0; i < xlm_parameters_count(d->loaded->parameters); i++) {
        const char *name = xlm_parameters_get(d->loaded->parameters, i)->name;
        const uint32_t target = xlm_adapter_target_of(name);
        if (target == 0 || !g_str_has_suffix(name, "/weight") ||
            xlm_adapters_of_parameter(&d->loaded->config.adapters, name) != NULL)
            continue;
        g_autofree char *linear = g_strndup(name, strlen(name) - strlen("/weight"));
        *(is_adapted(d, linear) ? &some : &lacked) |= target;
    }
    d->adapter.targets = some;
    if ((some & lacked) != 0) {
        g_autofree char *names = xlm_adapter_targets_print(some & lacked);
        return xlm_error_set(error, EX_DATAERR, "%s: it adapts %s in some layers and not in others, which is not known here",
                             d->path, names);
    }
    return some != 0 || xlm_error_set(error, EX_DATAERR, "%s: it has no tensors beside linear layers of a %s model", d->path,
                                      d->architecture->model_type);
}

/* ---- writing ---- */

static json_t *print(const xlm_adapter_directory *d)
{
    const xlm_adapter *a = &d->adapter;
    const bool integral = fabs(a->alpha) < 1e15 && fabs(a->alpha - trunc(a->alpha)) <= 0;
    json_t *modules = json_array();
    for (int i = 0; i < xlm_parameters_count(d->loaded->parameters); i++) {
        const char *name = xlm_parameters_get(d->loaded->parameters, i)->name;
        if ((xlm_adapter_target_of(name) & a->targets) == 0 || !g_str_has_suffix(name, "/weight") ||
            xlm_adapters_of_parameter(&d->loaded->config.adapters, name) != NULL)
            continue;
        xlm_tensor_part part;
        g_autofree char *linear = g_strndup(name, strlen(name) - strlen("/weight"));
        g_autofree char *module = xlm_adapter_directory_module(d, linear, &part);
        json_array_append_new(modules, json_string(module));
    }
    json_t *json = json_pack("{s:s, s:I, s:f, s:o, s:s, s:b, s:b, s:n, s:n}", "peft_type", "LORA", "r", (json_int_t)a->rank,
                             "lora_dropout", a->dropout, "target_modules", modules, "bias", "none", "fan_in_fan_out", false,
                             "inference_mode", true, "base_model_name_or_path", "task_type");
    /* Their type is an integer; a number that is none is read as well. */
    json_object_set_new(json, "lora_alpha", integral ? json_integer((json_int_t)a->alpha) : json_real(a->alpha));
    return json;
}

const xlm_adapter_form xlm_peft = {"PEFT", "adapter_model.safetensors", XLM_ADAPTER_LORA, PREFIX, is, read, find, tensor, print};
