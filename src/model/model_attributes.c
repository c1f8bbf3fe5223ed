/* xlm-mpi: a model's configuration and flat arrays of parameters in HDF5 files. SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/model_attributes.h"

#include <string.h>

#include "comm/comm.h"
#include "nn/adapter.h"
#include "options/options.h"

static bool write_option(xlm_store *store, const char *group, const xlm_option *option, const void *from, GError **error)
{
    const void *value = (const char *)from + option->offset;
    switch (option->type) {
    case XLM_OPTION_INT:
        return xlm_store_set_int(store, group, option->name, *(const int64_t *)value, error);
    case XLM_OPTION_REAL:
        return xlm_store_set_real(store, group, option->name, *(const double *)value, error);
    default: {
        g_autofree char *text = xlm_option_print(option, from);
        return xlm_store_set_text(store, group, option->name, text, error);
    }
    }
}

/* The attribute of /model with the names of adapters, which versions without adapters refuse. */
#define ADAPTERS "adapters"

/* /model/adapters/NAME. g_free. */
static char *group_of(const xlm_adapter *adapter) { return g_strconcat("/model/adapters/", adapter->name, NULL); }

static bool write_adapter(xlm_store *store, const xlm_adapter *a, GError **error)
{
    const xlm_adapter_class *class = xlm_adapter_classes[a->kind];
    g_autofree char *group = group_of(a);
    bool good = xlm_store_set_text(store, group, "kind", class->name, error) &&
                xlm_store_set_real(store, group, "dropout", a->dropout, error);
    for (const xlm_option *setting = class->settings; good && setting->name != NULL; setting++)
        good = write_option(store, group, setting, a, error);
    return good;
}

static bool write_adapters(xlm_store *store, const xlm_adapters *adapters, GError **error)
{
    g_autoptr(GString) names = g_string_new(NULL);
    bool good = true;
    for (int64_t k = 0; k < adapters->n && good; k++) {
        g_string_append_printf(names, "%s%s", k > 0 ? "," : "", adapters->one[k].name);
        good = write_adapter(store, &adapters->one[k], error);
    }
    return good && (adapters->n == 0 || xlm_store_set_text(store, "/model", ADAPTERS, names->str, error));
}

/* Sets an error that says where a value is and why it is wrong. Takes ownership of why. */
static bool refuse(const xlm_store *store, const char *group, GError *why, GError **error)
{
    xlm_error_set(error, EX_DATAERR, "%s: %s: %s", xlm_store_path(store), group, why->message);
    g_error_free(why);
    return false;
}

static bool read_option(const xlm_store *store, const char *group, const xlm_option *option, void *into, GError **error)
{
    void *value = (char *)into + option->offset;
    switch (option->type) {
    case XLM_OPTION_INT:
        return xlm_store_get_int(store, group, option->name, value, error);
    case XLM_OPTION_REAL:
        return xlm_store_get_real(store, group, option->name, value, error);
    default: {
        GError *why = NULL;
        g_autofree char *text = xlm_store_get_text(store, group, option->name, error);
        return text != NULL && (xlm_option_set(option, text, into, &why) || refuse(store, group, why, error));
    }
    }
}

/* The keys that every file has. A file without one of the others, which are newer, has its default: the default of a new key of
 * [model] must be what models without the key are. */
static const char *const first_keys[] = {
    "layers", "hidden_size", "attention_heads", "feed_forward_size", "embedding_size", "share_layers", "positions",
    "position_type", "position_offset", "language_embeddings", "token_types", "layer_norm_epsilon", "dropout",
    "attention_dropout", "head", "vocabulary_chunk", NULL};

/* Refuses keys that this version does not know, because they may change what the model computes. */
static bool check_keys(const xlm_store *store, char **keys, GError **error)
{
    static const char *const sizes[] = {"vocabulary", "languages", ADAPTERS, NULL};
    for (char **key = keys; *key != NULL; key++) {
        const xlm_option *option = xlm_model_options;
        while (option->name != NULL && strcmp(option->name, *key) != 0)
            option++;
        if (option->name == NULL && !g_strv_contains(sizes, *key))
            return xlm_error_set(error, EX_DATAERR, "%s: /model: %s is no key that this version knows; read the file with the "
                                 "version that wrote it", xlm_store_path(store), *key);
    }
    return true;
}

static bool read_options(const xlm_store *store, char **keys, xlm_model_config *config, GError **error)
{
    for (const xlm_option *option = xlm_model_options; option->name != NULL; option++)
        if ((g_strv_contains(first_keys, option->name) || g_strv_contains((const char *const *)keys, option->name)) &&
            !read_option(store, "/model", option, config, error))
            return false;
    return true;
}

/* A value that all older models have is not written, so that older versions can still read models with this value. */
static bool is_written(const xlm_option *option, const xlm_model_config *config, const xlm_model_config *defaults)
{
    static const char *const newer_keys[] = {
        "share_embeddings", "language_tokens", "norm", "final_norm", "first_norm", "embedding_norm", "norm_biases",
        "linear_biases", "scale_embeddings", "rotary_theta", "rotary_theta_local", "attention_window", "global_attention_every",
        "gated_feed_forward", "encode_bos", "output_bias", NULL};
    g_autofree char *value = xlm_option_print(option, config), *usual = xlm_option_print(option, defaults);
    return !g_strv_contains(newer_keys, option->name) || strcmp(value, usual) != 0;
}

bool xlm_model_attributes_write(xlm_store *store, const xlm_model_config *config, GError **error)
{
    xlm_model_config defaults = {0};
    if (!xlm_options_defaults(xlm_model_options, &defaults, error))
        return false;
    for (const xlm_option *option = xlm_model_options; option->name != NULL; option++)
        if (is_written(option, config, &defaults) && !write_option(store, "/model", option, config, error))
            return false;
    return xlm_store_set_int(store, "/model", "vocabulary", config->vocabulary, error) &&
           xlm_store_set_int(store, "/model", "languages", config->languages, error) &&
           write_adapters(store, &config->adapters, error);
}

static bool read_adapter(const xlm_store *store, const char *name, xlm_adapter *a, GError **error)
{
    if (g_strlcpy(a->name, name, sizeof a->name) >= sizeof a->name)
        return xlm_error_set(error, EX_DATAERR, "%s: /model: an adapter has a name of %" G_GSIZE_FORMAT " characters",
                             xlm_store_path(store), strlen(name));
    g_autofree char *group = group_of(a), *kind = xlm_store_get_text(store, group, "kind", error);
    if (kind == NULL || !xlm_store_get_real(store, group, "dropout", &a->dropout, error))
        return false;
    while (xlm_adapter_classes[a->kind] != NULL && strcmp(kind, xlm_adapter_classes[a->kind]->name) != 0)
        a->kind++;
    const xlm_adapter_class *class = xlm_adapter_classes[a->kind];
    bool good = class != NULL ||
                xlm_error_set(error, EX_DATAERR, "%s: %s: kind = %s is not one that this version knows; read the file with the "
                              "version that wrote it", xlm_store_path(store), group, kind);
    for (const xlm_option *setting = good ? class->settings : NULL; good && setting->name != NULL; setting++)
        good = read_option(store, group, setting, a, error);
    return good;
}

/* keys: the attributes of /model. */
static bool read_adapters(const xlm_store *store, char **keys, xlm_adapters *adapters, GError **error)
{
    if (!g_strv_contains((const char *const *)keys, ADAPTERS))
        return true;
    g_autofree char *text = xlm_store_get_text(store, "/model", ADAPTERS, error);
    g_auto(GStrv) names = text != NULL ? g_strsplit(text, ",", -1) : NULL;
    bool good = text != NULL;
    if (good && g_strv_length(names) > XLM_MAX_ADAPTERS)
        good = xlm_error_set(error, EX_DATAERR, "%s: /model: %u adapters; there can be %d", xlm_store_path(store),
                             g_strv_length(names), XLM_MAX_ADAPTERS);
    for (char **name = names; good && *name != NULL; name++)
        good = read_adapter(store, *name, &adapters->one[adapters->n++], error);
    return good;
}

bool xlm_model_attributes_read(const xlm_store *store, xlm_model_config *config, GError **error)
{
    memset(config, 0, sizeof *config);
    g_auto(GStrv) keys = xlm_store_list_attributes(store, "/model", error);
    const bool good = keys != NULL && check_keys(store, keys, error) &&
                      xlm_options_defaults(xlm_model_options, config, error) && read_options(store, keys, config, error) &&
                      read_adapters(store, keys, &config->adapters, error);
    GError *why = NULL;
    return good && xlm_store_get_int(store, "/model", "vocabulary", &config->vocabulary, error) &&
           xlm_store_get_int(store, "/model", "languages", &config->languages, error) &&
           (xlm_model_check(config, &why) || refuse(store, "/model", why, error));
}

bool xlm_model_key_is_free(const char *key, const xlm_model_config *config)
{
    static const char *const keys[] = {"dropout", "attention_dropout", "vocabulary_chunk", NULL};
    return g_strv_contains(keys, key) ||
           (strcmp(key, "positions") == 0 && config->position_type != XLM_POSITIONS_LEARNED);
}

static bool same_adapters(const xlm_adapters *then, const xlm_adapters *now, const char *whose, GError **error)
{
    if (then->n != now->n)
        return xlm_error_set(error, EX_DATAERR, "its model has %" G_GINT64_FORMAT " adapters, %s %" G_GINT64_FORMAT,
                             then->n, whose, now->n);
    for (int64_t k = 0; k < now->n; k++) {
        const xlm_adapter *before = &then->one[k], *after = &now->one[k];
        if (strcmp(before->name, after->name) != 0)
            return xlm_error_set(error, EX_DATAERR, "adapter number %" G_GINT64_FORMAT " of its model is %s, of %s %s",
                                 k + 1, before->name, whose, after->name);
        g_autofree char *why = xlm_adapter_difference(before, after);
        if (why != NULL)
            return xlm_error_set(error, EX_DATAERR, "adapter %s of its model and of %s: %s", before->name, whose, why);
    }
    return true;
}

bool xlm_model_same_function(const xlm_model_config *then, const xlm_model_config *now, const char *whose, GError **error)
{
    bool same = true;
    for (const xlm_option *option = xlm_model_options; option->name != NULL && same; option++) {
        g_autofree char *before = xlm_option_print(option, then), *after = xlm_option_print(option, now);
        same = strcmp(before, after) == 0 || xlm_model_key_is_free(option->name, then) ||
               xlm_error_set(error, EX_DATAERR, "its model has %s = %s, %s %s", option->name, before, whose, after);
    }
    return same && same_adapters(&then->adapters, &now->adapters, whose, error);
}

char *xlm_parameter_path(const char *prefix, const xlm_parameter *parameter)
{
    if (strcmp(prefix, "/model") == 0 && g_str_has_prefix(parameter->name, "objectives/"))
        return g_strconcat("/", parameter->name, NULL);
    return g_strconcat(prefix, "/", parameter->name, NULL);
}

bool xlm_parameter_array_write(xlm_store *store, const char *prefix, const xlm_parameters *parameters, int index,
                               const float *flat, GError **error)
{
    const xlm_parameter *p = xlm_parameters_get(parameters, index);
    const bool vector = p->rows == 1;
    const uint64_t dims[2] = {(uint64_t)(vector ? p->cols : p->rows), (uint64_t)p->cols};
    g_autofree char *path = xlm_parameter_path(prefix, p);
    return xlm_store_dataset(store, path, XLM_F32, vector ? 1 : 2, dims, XLM_STORE_CHECKED, error) &&
           xlm_store_write_whole(store, path, flat + p->start, error);
}

bool xlm_parameter_arrays_write(xlm_store *store, const char *prefix, const xlm_parameters *parameters, const float *flat,
                                GError **error)
{
    bool good = true;
    for (int i = 0; i < xlm_parameters_count(parameters) && good; i++)
        good = xlm_parameter_array_write(store, prefix, parameters, i, flat, error);
    return good;
}
