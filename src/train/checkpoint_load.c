/* xlm-mpi: a model from a checkpoint, for tools and for runs that begin with one. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/checkpoint.h"

#include "train/checkpoint_check.h"
#include "train/model_attributes.h"

/* /task, when there is one. */
static bool load_task(xlm_loaded_model *m, const xlm_store *store, GError **error)
{
    if (!xlm_store_has(store, "/task"))
        return true;
    xlm_checkpoint_task *task = m->task = g_new0(xlm_checkpoint_task, 1);
    uint64_t n;
    return (task->name = xlm_store_get_text(store, "/task", "name", error)) != NULL &&
           (task->language = xlm_store_get_text(store, "/task", "language", error)) != NULL &&
           xlm_store_get_int(store, "/task", "length", &task->length, error) &&
           (task->options = xlm_store_get_text(store, "/task", "options", error)) != NULL &&
           (task->labels = xlm_store_read_strings(store, "/task/labels", &n, error)) != NULL;
}

static bool load_header(xlm_loaded_model *m, const xlm_store *store, GError **error)
{
    if (!checkpoint_check_format(store, &m->step, error) || !xlm_model_attributes_read(store, &m->config, error) ||
        (m->vocabulary = xlm_vocabulary_load(store, "/vocabulary", error)) == NULL || !xlm_model_check(&m->config, error) ||
        !load_task(m, store, error))
        return false;
    m->parameters = xlm_parameters_new();
    m->model = xlm_model_new(&m->config, m->parameters);
    return true;
}

/* Those of objectives, which may not be in the file, too when `all`. */
static bool load_values(const xlm_store *store, xlm_parameters *parameters, bool all, GError **error)
{
    for (int i = 0; i < xlm_parameters_count(parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(parameters, i);
        if (!all && g_str_has_prefix(p->name, "objectives/"))
            continue;
        char *path = xlm_parameter_path("/model", p);
        const bool good = checkpoint_check_shape(store, path, p, error) == CHECKPOINT_GOOD &&
                          checkpoint_read_array(store, "/model", p, xlm_parameters_values(parameters) + p->start, error);
        g_free(path);
        if (!good)
            return false;
    }
    return true;
}

xlm_loaded_model *xlm_checkpoint_load_header(const char *path, GError **error)
{
    xlm_store *store = xlm_store_open(path, error);
    if (store == NULL)
        return NULL;
    xlm_loaded_model *loaded = g_new0(xlm_loaded_model, 1);
    const bool good = load_header(loaded, store, error);
    xlm_store_close(store);
    if (good)
        return loaded;
    xlm_checkpoint_free_model(loaded);
    return NULL;
}

bool xlm_checkpoint_load_values(const char *path, xlm_loaded_model *loaded, GError **error)
{
    xlm_store *store = xlm_store_open(path, error);
    if (store == NULL)
        return false;
    xlm_parameters_seal(loaded->parameters);
    const bool good = load_values(store, loaded->parameters, true, error);
    xlm_store_close(store);
    return good;
}

xlm_loaded_model *xlm_checkpoint_load_model(const char *path, GError **error)
{
    xlm_loaded_model *loaded = xlm_checkpoint_load_header(path, error);
    if (loaded == NULL || xlm_checkpoint_load_values(path, loaded, error))
        return loaded;
    xlm_checkpoint_free_model(loaded);
    return NULL;
}

bool xlm_checkpoint_start(const xlm_comm *comm, const char *path, xlm_parameters *parameters, GError **error)
{
    GError *failure = NULL;
    xlm_store *store = comm->rank == 0 ? xlm_store_open(path, &failure) : NULL;
    if (store != NULL)
        load_values(store, parameters, false, &failure);
    xlm_store_close(store);
    if (!xlm_comm_agree(comm, &failure)) {
        g_propagate_error(error, failure);
        return false;
    }
    xlm_comm_broadcast(comm, 0, xlm_parameters_values(parameters), sizeof(float) * (size_t)xlm_parameters_size(parameters));
    return true;
}

void xlm_checkpoint_free_model(xlm_loaded_model *loaded)
{
    if (loaded == NULL)
        return;
    xlm_model_free(loaded->model);
    xlm_parameters_free(loaded->parameters);
    xlm_vocabulary_free(loaded->vocabulary);
    if (loaded->task != NULL) {
        g_free(loaded->task->name);
        g_free(loaded->task->language);
        g_free(loaded->task->options);
        g_strfreev(loaded->task->labels);
    }
    g_free(loaded->task);
    g_free(loaded);
}
