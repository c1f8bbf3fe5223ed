/* xlm-mpi: a model file with other adapters. SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/model_adapters.h"

#include <string.h>

#include "base/log.h"
#include "model/model_attributes.h"
#include "model/model_pair_form.h"
#include "nn/adapter.h"

/* ---- reading ---- */

/* The parameter of this name and shape; NULL: there is none. */
static const xlm_parameter *find_alike(const xlm_parameters *all, const xlm_parameter *p)
{
    const int at = xlm_parameters_find(all, p->name);
    const xlm_parameter *found = at >= 0 ? xlm_parameters_get(all, at) : NULL;
    return found != NULL && found->rows == p->rows && found->cols == p->cols ? found : NULL;
}

bool xlm_adapted_open(xlm_adapted *a, const char *path, const xlm_adapters *adapters, GError **error)
{
    *a = (xlm_adapted){.path = g_strdup(path), .from = xlm_model_file_read(path, error)};
    if (a->from == NULL)
        return false;
    a->pair_form = a->from->pair_form;
    xlm_model_config config = a->from->config;
    config.adapters = *adapters;
    if (!xlm_model_check(&config, error))
        return false;
    a->parameters = xlm_parameters_new();
    a->model = xlm_model_new(&config, a->parameters);
    xlm_parameters_seal(a->parameters);
    for (int i = 0; i < xlm_parameters_count(a->parameters); i++) {
        const xlm_parameter *here = xlm_parameters_get(a->parameters, i);
        const xlm_parameter *from = find_alike(a->from->parameters, here);
        if (from != NULL)
            memcpy(xlm_parameters_values(a->parameters) + here->start, xlm_parameters_values(a->from->parameters) + from->start,
                   sizeof(float) * (size_t)(here->rows * here->cols));
    }
    return true;
}

float *xlm_adapted_values(const xlm_adapted *a, const char *name)
{
    const int at = xlm_parameters_find(a->parameters, name);
    return at >= 0 ? xlm_parameters_values(a->parameters) + xlm_parameters_get(a->parameters, at)->start : NULL;
}

void xlm_adapted_close(xlm_adapted *a)
{
    xlm_model_file_free(a->from);
    xlm_model_free(a->model);
    xlm_parameters_free(a->parameters);
    g_free(a->path);
}

/* ---- writing ---- */

/* path: an array, or a group of them. */
static bool copy_arrays(const xlm_store *from, const char *path, xlm_store *to, GError **error)
{
    g_auto(GStrv) names = xlm_store_list(from, path, NULL);
    if (names == NULL)
        return xlm_store_copy(from, path, to, error);
    bool good = true;
    for (char **name = names; good && *name != NULL; name++) {
        g_autofree char *member = g_strconcat(path, "/", *name, NULL);
        good = copy_arrays(from, member, to, error);
    }
    return good;
}

/* What a fine-tuned model has for its task. */
static bool write_task(const xlm_adapted *a, xlm_store *store, GError **error)
{
    static const char group[] = "/objectives";
    if (a->from->task == NULL)
        return true;
    g_autoptr(xlm_store) from = xlm_store_open(a->path, error);
    return from != NULL && xlm_model_file_write_task(store, a->from->task, error) &&
           (!xlm_store_has(from, group) || copy_arrays(from, group, store, error));
}

static bool write_content(const xlm_adapted *a, xlm_store *store, GError **error)
{
    return xlm_model_file_write_origin(store, NULL, XLM_MODEL_FILE_FORMAT, a->parameters, error) &&
           xlm_model_attributes_write(store, xlm_model_get_config(a->model), error) &&
           xlm_parameter_arrays_write(store, "/model", a->parameters, xlm_parameters_values(a->parameters), error) &&
           write_task(a, store, error) && xlm_model_file_write_translations(store, a->translations, error) &&
           xlm_model_pair_form_write(store, a->pair_form, error) &&
           xlm_vocabulary_save(a->from->vocabulary, store, "/vocabulary", 0, error);
}

bool xlm_adapted_write(const xlm_adapted *a, const char *output, GError **error)
{
    xlm_store *store = xlm_store_create(NULL, output, error);
    return xlm_store_end(store, store != NULL && write_content(a, store, error), error);
}

/* ---- merging ---- */

/* Merge all that is beside one parameter, if it is the weight of a linear layer. Returns the number of adapters. */
static int64_t merge_parameter(const xlm_adapted *adapted, const xlm_parameter *p)
{
    const xlm_adapters *all = &adapted->from->config.adapters;
    const uint32_t target = xlm_adapter_target_of(p->name);
    int64_t merged = 0;
    if (target == 0)
        return 0;
    g_autofree char *linear = g_strndup(p->name, strlen(p->name) - strlen("/weight"));
    for (int64_t k = 0; k < all->n; k++) {
        const xlm_adapter *a = &all->one[k];
        if ((a->targets & target) == 0)
            continue;
        xlm_adapter_classes[a->kind]->beside->merge(a, adapted->from->parameters, linear, p->rows, p->cols,
                                                    xlm_parameters_values(adapted->parameters) + p->start);
        merged++;
    }
    return merged;
}

static bool can_merge(const char *path, const xlm_adapters *all, GError **error)
{
    for (int64_t k = 0; k < all->n; k++) {
        const xlm_adapter_class *class = xlm_adapter_classes[all->one[k].kind];
        if (class->after != NULL || class->around != NULL || class->beside->merge == NULL)
            return xlm_error_set(error, EX_DATAERR, "%s: adapter %s is of kind %s: it is not linear, and cannot become part of a "
                                 "linear layer", path, all->one[k].name, class->name);
    }
    return all->n > 0 || xlm_error_set(error, EX_DATAERR, "%s: the model has no adapters", path);
}

bool xlm_model_merge_adapters(const char *path, const char *output, GError **error)
{
    static const xlm_adapters none;
    xlm_adapted adapted;
    int64_t merged = 0;
    bool good = xlm_adapted_open(&adapted, path, &none, error) && can_merge(path, &adapted.from->config.adapters, error);
    for (int i = 0; good && i < xlm_parameters_count(adapted.parameters); i++)
        merged += merge_parameter(&adapted, xlm_parameters_get(adapted.parameters, i));
    if (good)
        adapted.translations = adapted.from->translations;
    good = good && xlm_adapted_write(&adapted, output, error);
    if (good)
        xlm_log_info("%s: adapters were merged into the model, beside %" G_GINT64_FORMAT " linear layers", path, merged);
    xlm_adapted_close(&adapted);
    return good;
}

/* ---- exchange ---- */

/* The adapter of this name, of two models: where it is taken from, and what it replaces. */
static bool find_both(const char *path, const xlm_model_exchange *e, const xlm_adapters *here, const xlm_adapters *there,
                      xlm_adapters *all, GError **error)
{
    const xlm_adapter *old = xlm_adapters_find(here, e->old), *new = xlm_adapters_find(there, e->new);
    if (old == NULL)
        return xlm_error_set(error, EX_USAGE, "%s: the model has no adapter %s", path, e->old);
    if (new == NULL)
        return xlm_error_set(error, EX_USAGE, "%s: the model has no adapter %s", e->path, e->new);
    if (strcmp(e->old, e->new) != 0 && xlm_adapters_find(here, e->new) != NULL)
        return xlm_error_set(error, EX_USAGE, "%s: the model has another adapter %s", path, e->new);
    *all = *here;
    all->one[old - here->one] = *new;
    return true;
}

/* Do the models compute the same, but for adapters, and what fine-tuning leaves out: decoder and head? */
static bool same_body(const xlm_adapted *adapted, const xlm_model_exchange *e, const xlm_loaded_model *there, GError **error)
{
    xlm_model_config here = adapted->from->config, other = there->config;
    GError *why = NULL;
    here.adapters.n = other.adapters.n = 0;
    other.decoder_layers = here.decoder_layers;
    other.share_embeddings = here.share_embeddings;
    other.language_tokens = here.language_tokens;
    other.head = here.head;
    if (!xlm_model_same_function(&other, &here, "the other's", &why)) {
        xlm_error_set(error, EX_DATAERR, "%s: adapter %s is of another model than %s: %s", e->path, e->new, adapted->path,
                      why->message);
        g_error_free(why);
        return false;
    }
    for (int i = 0; i < xlm_parameters_count(adapted->from->parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(adapted->from->parameters, i), *from = find_alike(there->parameters, p);
        if (from != NULL && xlm_adapters_of_parameter(&adapted->from->config.adapters, p->name) == NULL &&
            memcmp(xlm_parameters_values(adapted->from->parameters) + p->start,
                   xlm_parameters_values(there->parameters) + from->start, sizeof(float) * (size_t)(p->rows * p->cols)) != 0) {
            xlm_log_warn("%s: adapter %s has learned beside a model with other values than %s, of %s for one", e->path, e->new,
                         adapted->path, p->name);
            break;
        }
    }
    return true;
}

/* Copy the values of the new adapter, of which every parameter must be there, in the same shape. */
static bool take_values(const xlm_adapted *adapted, const xlm_model_exchange *e, const xlm_loaded_model *there, GError **error)
{
    const xlm_adapters *all = &xlm_model_get_config(adapted->model)->adapters;
    for (int i = 0; i < xlm_parameters_count(adapted->parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(adapted->parameters, i);
        const xlm_adapter *own = xlm_adapters_of_parameter(all, p->name);
        if (own == NULL || strcmp(own->name, e->new) != 0)
            continue;
        const xlm_parameter *from = find_alike(there->parameters, p);
        if (from == NULL)
            return xlm_error_set(error, EX_DATAERR, "%s: adapter %s is of another model than %s: there is no %s of this shape",
                                 e->path, e->new, adapted->path, p->name);
        memcpy(xlm_parameters_values(adapted->parameters) + p->start, xlm_parameters_values(there->parameters) + from->start,
               sizeof(float) * (size_t)(p->rows * p->cols));
    }
    return true;
}

bool xlm_model_exchange_adapter(const char *path, const xlm_model_exchange *e, const char *output, GError **error)
{
    xlm_adapted adapted = {0};
    xlm_adapters all;
    xlm_loaded_model *here = xlm_model_file_read_header(path, error), *there = NULL;
    const bool good = here != NULL && (there = xlm_model_file_read(e->path, error)) != NULL &&
                      find_both(path, e, &here->config.adapters, &there->config.adapters, &all, error) &&
                      xlm_adapted_open(&adapted, path, &all, error) && same_body(&adapted, e, there, error) &&
                      take_values(&adapted, e, there, error) && xlm_adapted_write(&adapted, output, error);
    if (good)
        xlm_log_info("%s: adapter %s of %s in place of %s", path, e->new, e->path, e->old);
    xlm_adapted_close(&adapted);
    xlm_model_file_free(here);
    xlm_model_file_free(there);
    return good;
}
