/* xlm-mpi: a model from a checkpoint, for tools. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/checkpoint.h"

#include <stdarg.h>

#include "train/checkpoint_check.h"
#include "train/model_attributes.h"

/* <s>, a token, </s>. */
enum { LEAST_LENGTH = 3 };

static bool refuse(const xlm_store *store, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);
static bool refuse(const xlm_store *store, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    xlm_error_set(error, EX_DATAERR, "%s: %s; the file is damaged", xlm_store_path(store), what);
    g_free(what);
    return false;
}

/* Classes have names, each its own. */
static bool check_labels(const xlm_store *store, char **labels, uint64_t n, GError **error)
{
    GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
    bool good = true;
    for (uint64_t i = 0; i < n && good; i++)
        if (*labels[i] == '\0' || !g_utf8_validate(labels[i], -1, NULL) || !g_hash_table_add(seen, labels[i]))
            good = refuse(store, error, "/task/labels: label %" G_GUINT64_FORMAT " is empty, not UTF-8, or the same as another", i);
    g_hash_table_unref(seen);
    return good;
}

/* /task, when there is one. */
static bool load_task(xlm_loaded_model *m, const xlm_store *store, GError **error)
{
    if (!xlm_store_has(store, "/task"))
        return true;
    xlm_checkpoint_task *task = m->task = g_new0(xlm_checkpoint_task, 1);
    uint64_t n;
    if ((task->name = xlm_store_get_text(store, "/task", "name", error)) == NULL ||
        (task->language = xlm_store_get_text(store, "/task", "language", error)) == NULL ||
        !xlm_store_get_int(store, "/task", "length", &task->length, error) ||
        (task->options = xlm_store_get_text(store, "/task", "options", error)) == NULL ||
        (task->labels = xlm_store_read_strings(store, "/task/labels", &n, error)) == NULL || !check_labels(store, task->labels, n, error))
        return false;
    if (task->length < LEAST_LENGTH || task->length > m->config.positions)
        return refuse(store, error, "/task: length = %" G_GINT64_FORMAT ": must be from %d to the model's %" G_GINT64_FORMAT " positions",
                      task->length, LEAST_LENGTH, m->config.positions);
    if (*task->language != '\0' && xlm_vocabulary_find_language(m->vocabulary, task->language) < 0)
        return refuse(store, error, "/task: language = %s, which is none of /languages", task->language);
    return true;
}

/* The vocabulary has the words and languages that the model has rows for. */
static bool check_vocabulary(const xlm_loaded_model *m, const xlm_store *store, GError **error)
{
    const int64_t words = xlm_vocabulary_size(m->vocabulary), languages = xlm_vocabulary_languages(m->vocabulary);
    if (m->config.vocabulary != words)
        return refuse(store, error, "/model: vocabulary = %" G_GINT64_FORMAT ", but there are %" G_GINT64_FORMAT
                      " words in /vocabulary", m->config.vocabulary, words);
    if (m->config.languages != languages)
        return refuse(store, error, "/model: languages = %" G_GINT64_FORMAT ", but there are %" G_GINT64_FORMAT " in /languages",
                      m->config.languages, languages);
    return true;
}

/* All declared parameters are there in their shapes, so that what they take is bounded by the file. */
static bool check_shapes(const xlm_store *store, const xlm_parameters *parameters, GError **error)
{
    bool good = true;
    for (int i = 0; i < xlm_parameters_count(parameters) && good; i++) {
        const xlm_parameter *p = xlm_parameters_get(parameters, i);
        GError *why = NULL;
        char *path = xlm_parameter_path(CHECKPOINT_MODEL, p);
        const checkpoint_condition condition = checkpoint_check_shape(store, path, p, &why);
        good = condition == CHECKPOINT_GOOD;
        if (condition == CHECKPOINT_UNFIT) {
            xlm_error_set(error, EX_DATAERR, "%s: %s", xlm_store_path(store), why->message);
            g_error_free(why);
        } else if (!good) {
            g_propagate_error(error, why);
        }
        g_free(path);
    }
    return good;
}

static bool load_header(xlm_loaded_model *m, const xlm_store *store, GError **error)
{
    if (checkpoint_check_format(store, &m->step, error) != CHECKPOINT_GOOD || !xlm_model_attributes_read(store, &m->config, error) ||
        (m->vocabulary = xlm_vocabulary_load(store, "/vocabulary", error)) == NULL || !check_vocabulary(m, store, error) ||
        !load_task(m, store, error))
        return false;
    m->parameters = xlm_parameters_new();
    m->model = xlm_model_new(&m->config, m->parameters);
    return check_shapes(store, m->parameters, error);
}

static bool load_values(const xlm_store *store, xlm_parameters *parameters, GError **error)
{
    for (int i = 0; i < xlm_parameters_count(parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(parameters, i);
        if (!checkpoint_read_values(store, p, xlm_parameters_values(parameters) + p->start, error))
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
    bool good = check_shapes(store, loaded->parameters, error);
    if (good) {
        xlm_parameters_seal(loaded->parameters);
        good = load_values(store, loaded->parameters, error);
    }
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
