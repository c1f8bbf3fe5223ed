/* xlm-mpi: bottleneck adapters of the library adapters (AdapterHub). SPDX-License-Identifier: GPL-3.0-or-later
 *
 * adapter.safetensors has, for the adapter NAME of a model of BERT, RoBERTa or XLM-R,
 *     bert.encoder.layer.0.output.adapters.NAME.adapter_down.0.{weight,bias}   m x d, m
 *     bert.encoder.layer.0.output.adapters.NAME.adapter_up.{weight,bias}       d x m, d
 *     bert.invertible_adapters.NAME.{F,G}.{0,2}.{weight,bias}                  of an invertible one
 * without "bert." where the library saved a model without a head. Its configurations seq_bn and seq_bn_inv, formerly called
 * pfeiffer and pfeiffer+inv, compute what ours do. */
#include <string.h>

#include "foreign/adapter_directory.h"

static bool is(const json_t *json) { return json_is_object(json_object_get(json, "config")); }

/* ---- adapter_config.json ---- */

/* The properties that ours have, as JSON. */
static const struct property {
    const char *key, *value;
    bool needed; /* false: the library's default is the same */
} properties[] = {
    {"output_adapter", "true", true}, {"original_ln_before", "true", true}, {"original_ln_after", "true", true},
    {"residual_before_ln", "true", true}, {"non_linearity", "\"relu\"", true}, {"mh_adapter", "false", false},
    {"adapter_residual_before_ln", "false", false}, {"ln_before", "false", false}, {"ln_after", "false", false},
    {"scaling", "1.0", false},
};
/* What is read, and what changes nothing of a given adapter, or only with phm_layer. */
static const char *const others[] = {"reduction_factor", "inv_adapter", "inv_adapter_reduction_factor", "dropout", "init_weights",
                                     "init_weights_seed", "architecture", "shared_W_phm", "shared_phm_rule", "factorized_phm_W",
                                     "factorized_phm_rule", "learn_phm", "phm_c_init", "phm_init_range", "phm_dim", "phm_rank",
                                     "phm_bias", "hypercomplex_nonlinearity", "dtype", NULL};

static const struct property *property_of(const char *key)
{
    for (size_t i = 0; i < G_N_ELEMENTS(properties); i++)
        if (strcmp(properties[i].key, key) == 0)
            return &properties[i];
    return NULL;
}

/* Also a rate of zero. */
static bool is_off(const json_t *value)
{
    return xlm_adapter_directory_is_nothing(value) ||
           (json_is_number(value) && !(json_number_value(value) < 0) && !(json_number_value(value) > 0));
}

static bool check_keys(const json_t *config, const char *path, GError **error)
{
    const char *key;
    json_t *value;
    for (size_t i = 0; i < G_N_ELEMENTS(properties); i++)
        if (properties[i].needed && json_object_get(config, properties[i].key) == NULL)
            return xlm_config_refuse(path, properties[i].key, error, "is not there; known here is %s", properties[i].value);
    json_object_foreach((json_t *)(uintptr_t)config, key, value) {
        const struct property *known = property_of(key);
        g_autofree char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        /* 1 and 1.0 are the same number. */
        if (known != NULL && strcmp(text, known->value) != 0 && !(strcmp(key, "scaling") == 0 && strcmp(text, "1") == 0))
            return xlm_config_refuse(path, key, error, "is %.60s; known here is %s", text, known->value);
        if (known == NULL && !g_strv_contains(others, key) && !is_off(value))
            return xlm_config_refuse(path, key, error, "is %.60s, and adapters here have no such property", text);
    }
    return true;
}

static bool read_invertible(const json_t *config, const char *path, xlm_adapter *a, GError **error)
{
    const json_t *kind = json_object_get(config, "inv_adapter");
    const json_t *factor = json_object_get(config, "inv_adapter_reduction_factor");
    if (kind == NULL || is_off(kind))
        return true;
    if (g_strcmp0(json_string_value(kind), "nice") != 0)
        return xlm_config_refuse(path, "inv_adapter", error, "is not \"nice\"");
    if (!json_is_number(factor) || json_number_value(factor) < 2 || json_number_value(factor) > 2)
        return xlm_config_refuse(path, "inv_adapter_reduction_factor", error, "is not 2");
    a->invertible = true;
    return true;
}

static bool read_size(const json_t *config, const char *path, int64_t d, xlm_adapter *a, GError **error)
{
    const json_t *factor = json_object_get(config, "reduction_factor"), *dropout = json_object_get(config, "dropout");
    const double reduction = json_is_number(factor) ? json_number_value(factor) : 0;
    if (!(reduction > 0) || !((double)d / reduction < 1 << 20))
        return xlm_config_refuse(path, "reduction_factor", error, "is not one number above 0");
    a->size = MAX((int64_t)((double)d / reduction), 1);
    /* Theirs is of what the adapter adds; it is for training, in which the adapter stays as it is or has a job of its own. */
    return dropout == NULL || json_is_number(dropout) || xlm_config_refuse(path, "dropout", error, "is not a number");
}

static bool read(xlm_adapter_directory *d, const char *path, GError **error)
{
    const json_t *config = json_object_get(d->json, "config");
    const char *name = json_string_value(json_object_get(d->json, "name"));
    if (name == NULL || *name == '\0')
        return xlm_config_refuse(path, "name", error, "is not the name of an adapter");
    d->name = g_strdup(name);
    return check_keys(config, path, error) && read_size(config, path, d->width, &d->adapter, error) &&
           read_invertible(config, path, &d->adapter, error);
}

/* ---- tensors ---- */

static bool is_adapted_there(const xlm_architecture *a)
{
    static const char *const types[] = {"bert", "roberta", "xlm-roberta", NULL};
    return g_strv_contains(types, a->model_type);
}

/* What follows a prefix; NULL: it has another. */
static const char *after(const char *text, const char *prefix)
{
    return g_str_has_prefix(text, prefix) ? text + strlen(prefix) : NULL;
}

/* place: "encoder/layer.0/feed_forward/down/weight", "embeddings/invertible/f/up/bias" */
static char *tensor(const xlm_adapter_directory *d, const char *place, xlm_tensor_part *part)
{
    static const char block[] = "/feed_forward/", dense[] = ".dense";
    const char *coupling = after(place, "embeddings/invertible/"), *leaf = strrchr(place, '/') + 1, *rest = strstr(place, block);
    const bool down = strstr(place, "/down/") != NULL;
    *part = (xlm_tensor_part){0, 1};
    if (!is_adapted_there(d->architecture))
        return NULL;
    if (coupling != NULL)
        return g_strdup_printf("%sinvertible_adapters.%s.%c.%d.%s", d->bare ? "" : d->architecture->prefix, d->name,
                               g_ascii_toupper(*coupling), down ? 0 : 2, leaf);
    if (rest == NULL)
        return NULL;
    g_autofree char *linear = g_strdup_printf("%.*s/feed_forward/output", (int)(rest - place), place);
    g_autofree char *module = xlm_adapter_directory_module(d, linear, part);
    if (module == NULL || !g_str_has_suffix(module, dense))
        return NULL;
    return g_strdup_printf("%.*s.adapters.%s.%s.%s", (int)(strlen(module) - strlen(dense)), module, d->name,
                           down ? "adapter_down.0" : "adapter_up", leaf);
}

/* ---- writing ---- */

static json_t *print(const xlm_adapter_directory *d)
{
    const xlm_adapter *a = &d->adapter;
    const int64_t width = d->width;
    json_t *config = json_object();
    for (size_t i = 0; i < G_N_ELEMENTS(properties); i++)
        json_object_set_new(config, properties[i].key, json_loads(properties[i].value, JSON_DECODE_ANY, NULL));
    /* They divide, and round down. */
    json_object_set_new(config, "reduction_factor", width % a->size == 0 ? json_integer(width / a->size)
                                                                       : json_real((double)width / ((double)a->size + 0.5)));
    json_object_set_new(config, "inv_adapter", a->invertible ? json_string("nice") : json_null());
    json_object_set_new(config, "inv_adapter_reduction_factor", a->invertible ? json_integer(2) : json_null());
    json_object_set_new(config, "dropout", json_real(0));
    json_object_set_new(config, "is_parallel", json_false());
    json_object_set_new(config, "leave_out", json_array());
    g_autofree char *class = g_strconcat(d->architecture->class_name, d->bare ? "Model" : "AdapterModel", NULL);
    return json_pack("{s:o, s:I, s:s, s:n, s:s, s:s, s:s}", "config", config, "hidden_size", (json_int_t)width, "model_class",
                     class, "model_name", "model_type", d->architecture->model_type, "name", d->name, "version",
                     "adapters.1.0.0");
}

const xlm_adapter_form xlm_adapter_hub = {"the library adapters", "adapter.safetensors", XLM_ADAPTER_BOTTLENECK, "", is, read,
                                          NULL, tensor, print};
