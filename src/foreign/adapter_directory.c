/* xlm-mpi: adapters in directories of other programs, read into our models and written.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreign/adapter_directory.h"

#include <string.h>

#include "base/log.h"
#include "foreign/foreign_vocabulary.h"
#include "foreign/new_directory.h"
#include "model/model_adapters.h"
#include "nn/adapter.h"
#include "text/fields.h"

static const char CONFIG[] = "adapter_config.json", DEFAULT_NAME[] = "lora";

/* The table: one line per form. */
#define FORMS(FORM) \
    FORM(peft) \
    FORM(adapter_hub)

#define DECLARE(name) extern const xlm_adapter_form xlm_##name;
#define ADDRESS(name) &xlm_##name,
FORMS(DECLARE)
static const xlm_adapter_form *const forms[] = {FORMS(ADDRESS)};

bool xlm_adapter_directory_is(const char *path)
{
    g_autofree char *config = g_build_filename(path, CONFIG, NULL);
    return g_file_test(config, G_FILE_TEST_EXISTS);
}

void xlm_adapter_directory_clear(xlm_adapter_directory *d)
{
    xlm_safetensors_close(d->tensors);
    xlm_model_file_free(d->loaded);
    json_decref(d->json);
    g_free(d->name);
    if (d->used != NULL)
        g_hash_table_unref(d->used);
}

/* Their architecture of a model without its adapters. */
static bool choose_architecture(xlm_adapter_directory *d, const char *model, GError **error)
{
    xlm_model_config config = d->loaded->config;
    config.adapters.n = 0;
    d->architecture = xlm_architecture_choose(&config, xlm_vocabulary_special(d->loaded->vocabulary, XLM_PAD), error);
    if (d->architecture == NULL)
        g_prefix_error(error, "%s: ", model);
    return d->architecture != NULL;
}

/* The name of a parameter of the adapter after "adapters/NAME/"; NULL: it is another parameter. */
static const char *place_of(const xlm_adapter_directory *d, const xlm_adapters *all, const char *parameter)
{
    const xlm_adapter *own = xlm_adapters_of_parameter(all, parameter);
    return own == NULL || strcmp(own->name, d->adapter.name) != 0 ? NULL
                                                                   : strchr(strchr(parameter, '/') + 1, '/') + 1;
}

/* ---- reading ---- */

bool xlm_adapter_directory_parse(xlm_adapter_directory *d, const char *path, const char *bytes, size_t size, GError **error)
{
    json_error_t wrong;
    d->json = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &wrong);
    for (size_t i = 0; json_is_object(d->json) && i < G_N_ELEMENTS(forms) && d->form == NULL; i++)
        d->form = forms[i]->is(d->json) ? forms[i] : NULL;
    if (d->form == NULL)
        return xlm_error_set(error, EX_DATAERR, "%s: no configuration of an adapter of PEFT ({\"peft_type\": \"LORA\", ...}) or "
                             "of the library adapters ({\"config\": {...}, ...})", path);
    d->adapter.kind = d->form->kind;
    return d->form->read(d, path, error);
}

static bool read_config(xlm_adapter_directory *d, GError **error)
{
    g_autofree char *path = g_build_filename(d->path, CONFIG, NULL), *bytes = NULL;
    size_t size;
    d->width = d->loaded->config.hidden_size;
    return (bytes = xlm_fields_load(path, &size, error)) != NULL && xlm_adapter_directory_parse(d, path, bytes, size, error);
}

static bool open_tensors(xlm_adapter_directory *d, GError **error)
{
    g_autofree char *weights = g_build_filename(d->path, d->form->weights, NULL);
    if ((d->tensors = xlm_safetensors_open(weights, error)) == NULL)
        return false;
    const char *first = xlm_safetensors_count(d->tensors) > 0 ? xlm_safetensors_get(d->tensors, 0)->name : "";
    g_autofree char *whole = g_strconcat(d->form->prefix, d->architecture->prefix, NULL);
    d->bare = !g_str_has_prefix(first, whole);
    return d->form->find == NULL || d->form->find(d, error);
}

/* Read the values of one parameter, of which a tensor has the rows, or all columns. */
static bool read_parameter(xlm_adapter_directory *d, const xlm_adapted *adapted, const xlm_parameter *p, const char *place,
                           GError **error)
{
    xlm_tensor_part part = {0, 1};
    g_autofree char *name = d->form->tensor(d, place, &part);
    const xlm_safetensor *t = name != NULL ? xlm_adapter_directory_find(d, name) : NULL;
    if (name == NULL)
        return xlm_error_set(error, EX_DATAERR, "%s: %s: it does not adapt %s models", d->path, d->form->label,
                             d->architecture->model_type);
    if (t == NULL)
        return xlm_error_set(error, EX_DATAERR, "%s: there is no tensor \"%s\"", d->path, name);
    const int64_t rows = p->rows * part.of, n = p->rows * p->cols;
    if (!(t->dimensions == 2 && t->dims[0] == rows && t->dims[1] == p->cols) &&
        !(t->dimensions == 1 && rows == 1 && t->dims[0] == p->cols))
        return xlm_error_set(error, EX_DATAERR, "%s: tensor \"%s\" is not %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT, t->file,
                             t->name, rows, p->cols);
    return xlm_safetensors_read(t, part.number * n, n, xlm_adapted_values(adapted, p->name), error);
}

static bool read_values(xlm_adapter_directory *d, const xlm_adapted *adapted, GError **error)
{
    const xlm_adapters *all = &xlm_model_get_config(adapted->model)->adapters;
    bool good = true;
    for (int i = 0; i < xlm_parameters_count(adapted->parameters) && good; i++) {
        const xlm_parameter *p = xlm_parameters_get(adapted->parameters, i);
        const char *place = place_of(d, all, p->name);
        good = place == NULL || read_parameter(d, adapted, p, place, error);
    }
    return good;
}

/* Every tensor has its place. */
static bool check_others(const xlm_adapter_directory *d, const char *model, GError **error)
{
    for (int64_t i = 0; i < xlm_safetensors_count(d->tensors); i++) {
        const xlm_safetensor *t = xlm_safetensors_get(d->tensors, i);
        if (!g_hash_table_contains(d->used, t))
            return xlm_error_set(error, EX_DATAERR, "%s: tensor \"%s\" is at no place of %s, as a model of %s, where an adapter "
                                 "can be here", t->file, t->name, model, d->architecture->class_name);
    }
    return true;
}

static bool add_adapter(xlm_adapter_directory *d, const char *model, const char *output, GError **error)
{
    xlm_adapters all = d->loaded->config.adapters;
    if (all.n == XLM_MAX_ADAPTERS)
        return xlm_error_set(error, EX_DATAERR, "%s: the model has %d adapters, and cannot have more", model, XLM_MAX_ADAPTERS);
    all.one[all.n++] = d->adapter;
    xlm_adapted adapted;
    bool good = xlm_adapted_open(&adapted, model, &all, error);
    if (!good)
        g_prefix_error(error, "%s: ", d->path);
    good = good && read_values(d, &adapted, error) && check_others(d, model, error) && xlm_adapted_write(&adapted, output, error);
    xlm_adapted_close(&adapted);
    return good;
}

static bool name_adapter(xlm_adapter_directory *d, const char *name, GError **error)
{
    const int code = name != NULL ? EX_USAGE : EX_DATAERR;
    name = name != NULL ? name : d->name != NULL ? d->name : DEFAULT_NAME;
    if (!xlm_adapter_is_name(name))
        return xlm_error_set(error, code, "%s: \"%s\": names of adapters are of at most %d letters, digits, _ and -; choose one "
                             "with --adapter", d->path, name, XLM_ADAPTER_NAME - 1);
    if (xlm_adapters_find(&d->loaded->config.adapters, name) != NULL)
        return xlm_error_set(error, code, "%s: the model has an adapter %s; choose another name with --adapter", d->path, name);
    g_strlcpy(d->adapter.name, name, sizeof d->adapter.name);
    return true;
}

bool xlm_adapter_directory_import(const char *model, const char *path, const char *name, const char *output, GError **error)
{
    xlm_adapter_directory d = {.path = path, .used = g_hash_table_new(NULL, NULL)};
    const bool good = (d.loaded = xlm_model_file_read_header(model, error)) != NULL && choose_architecture(&d, model, error) &&
                      read_config(&d, error) && name_adapter(&d, name, error) && open_tensors(&d, error) &&
                      add_adapter(&d, model, output, error);
    if (good)
        xlm_log_info("%s: adapter %s of kind %s was added", path, d.adapter.name, xlm_adapter_classes[d.adapter.kind]->name);
    xlm_adapter_directory_clear(&d);
    return good;
}

/* ---- writing ---- */

static bool choose(xlm_adapter_directory *d, const char *name, GError **error)
{
    const xlm_adapters *all = &d->loaded->config.adapters;
    const xlm_adapter *found = name != NULL ? xlm_adapters_find(all, name) : all->n == 1 ? &all->one[0] : NULL;
    if (found == NULL && all->n == 0)
        return xlm_error_set(error, EX_DATAERR, "%s: the model has no adapters", d->path);
    if (found == NULL && name == NULL)
        return xlm_error_set(error, EX_USAGE, "%s: the model has %" G_GINT64_FORMAT " adapters; name one with --adapter", d->path,
                             all->n);
    if (found == NULL)
        return xlm_error_set(error, EX_USAGE, "%s: the model has no adapter %s", d->path, name);
    d->adapter = *found;
    d->name = g_strdup(found->name);
    for (size_t i = 0; i < G_N_ELEMENTS(forms); i++)
        if (forms[i]->kind == found->kind)
            d->form = forms[i];
    return d->form != NULL || xlm_error_set(error, EX_DATAERR, "%s: no other program is known here that has adapters of kind %s",
                                            d->path, xlm_adapter_classes[found->kind]->name);
}

/* The names of the tensors of the adapter's parameters, and these. */
static bool list_tensors(const xlm_adapter_directory *d, GPtrArray *names, GPtrArray *parameters, GError **error)
{
    for (int i = 0; i < xlm_parameters_count(d->loaded->parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(d->loaded->parameters, i);
        const char *place = place_of(d, &d->loaded->config.adapters, p->name);
        xlm_tensor_part part = {0, 1};
        if (place == NULL)
            continue;
        char *name = d->form->tensor(d, place, &part);
        if (name == NULL)
            return xlm_error_set(error, EX_DATAERR, "%s: %s: it does not adapt %s models", d->path, d->form->label,
                                 d->architecture->model_type);
        g_ptr_array_add(names, name);
        if (part.of > 1)
            return xlm_error_set(error, EX_DATAERR, "%s: \"%s\" is of one layer in a %s model, and the adapter has matrices of "
                                 "its own for each of query, key and value; merge it (xlm_convert --merge-adapters)", d->path,
                                 name, d->architecture->model_type);
        g_ptr_array_add(parameters, (void *)(uintptr_t)p);
    }
    return true;
}

static bool write_tensors(const xlm_adapter_directory *d, const char *output, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free), parameters = g_ptr_array_new();
    if (!list_tensors(d, names, parameters, error))
        return false;
    const guint n = parameters->len;
    g_autofree xlm_safetensor *heads = g_new0(xlm_safetensor, MAX(n, 1));
    for (guint i = 0; i < n; i++) {
        const xlm_parameter *p = parameters->pdata[i];
        heads[i] = (xlm_safetensor){.name = names->pdata[i], .dimensions = 2, .elements = p->rows * p->cols,
                                    .dims = {p->rows, p->cols}};
        if (g_str_has_suffix(p->name, "/bias")) {
            heads[i].dimensions = 1;
            heads[i].dims[0] = p->cols;
        }
    }
    g_autofree char *path = g_build_filename(output, d->form->weights, NULL);
    xlm_safetensors_writer writer;
    if (!xlm_safetensors_create(&writer, path, heads, n, error))
        return false;
    bool good = true;
    for (guint i = 0; i < n && good; i++) {
        const xlm_parameter *p = parameters->pdata[i];
        good = xlm_safetensors_write(&writer, xlm_parameters_values(d->loaded->parameters) + p->start, p->rows * p->cols, error);
    }
    if (good)
        return xlm_safetensors_commit(&writer, error);
    xlm_safetensors_discard(&writer);
    return false;
}

static bool write_files(void *data, const char *output, GError **error)
{
    const xlm_adapter_directory *d = data;
    return write_tensors(d, output, error) && xlm_foreign_write_json(output, CONFIG, d->form->print(d), error);
}

bool xlm_adapter_directory_export(const char *model, const char *name, const char *output, GError **error)
{
    xlm_adapter_directory d = {.path = model, .loaded = xlm_model_file_read(model, error)};
    bool good = d.loaded != NULL && choose(&d, name, error) && choose_architecture(&d, model, error);
    if (good) {
        d.width = d.loaded->config.hidden_size;
        d.bare = d.loaded->config.head == XLM_HEAD_NONE && d.loaded->task == NULL;
        good = xlm_new_directory_write(output, write_files, &d, error);
    }
    xlm_adapter_directory_clear(&d);
    return good;
}
