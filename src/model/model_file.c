/* xlm-mpi: a model in a file: configuration, vocabulary, parameters. SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/model_file.h"

#include <math.h>
#include <string.h>

#include "gemm/gemm.h"
#include "gemm/packed.h"
#include "model/model_attributes.h"
#include "model/model_pair_form.h"
#include "tensor/parameters.h"

static const char GROUP[] = "/model";

/* Sets an error about a damaged file. format: a string literal. The result is false. */
#define REFUSE(store, error, format, ...) \
    xlm_error_set(error, EX_DATAERR, "%s: " format "; the file is damaged", xlm_store_path(store), __VA_ARGS__)

/* ---- writing ---- */

bool xlm_model_file_write_origin(xlm_store *store, const xlm_comm *comm, const char *format, const xlm_parameters *parameters,
                                 GError **error)
{
    /* All ranks write the same attributes; BLIS names the kernels that it has chosen for the processor of this one. */
    g_autofree char *blis = g_strdup(xlm_gemm_library());
    if (comm != NULL)
        xlm_comm_broadcast_text(comm, &blis);
    return xlm_store_set_format(store, format, XLM_MODEL_FILE_VERSION, NULL, error) &&
           xlm_store_set_text(store, "/", "mpi_version", xlm_comm_library(), error) &&
           xlm_store_set_text(store, "/", "hdf5_version", xlm_store_library(), error) &&
           xlm_store_set_text(store, "/", "blis_version", blis, error) &&
           xlm_store_set_int(store, "/", "ranks", comm != NULL ? comm->ranks : 1, error) &&
           xlm_store_set_int(store, "/", "parameters", xlm_parameters_elements(parameters), error);
}

static bool write_strings(xlm_store *store, const char *path, char *const *strings, GError **error)
{
    return xlm_store_write_strings(store, path, g_strv_length((char **)strings), (const char *const *)strings, error);
}

bool xlm_model_file_write_task(xlm_store *store, const xlm_model_task *task, GError **error)
{
    return task == NULL || (xlm_store_set_text(store, "/task", "name", task->name, error) &&
                            xlm_store_set_text(store, "/task", "language", task->language, error) &&
                            xlm_store_set_int(store, "/task", "length", task->length, error) &&
                            xlm_store_set_text(store, "/task", "options", task->options, error) &&
                            (task->sentences == 0 || xlm_store_set_int(store, "/task", "sentences", task->sentences, error)) &&
                            write_strings(store, "/task/labels", task->labels, error) &&
                            (task->languages == NULL || write_strings(store, "/task/languages", task->languages, error)));
}

bool xlm_model_file_write_translations(xlm_store *store, const char *translations, GError **error)
{
    return translations == NULL || xlm_store_set_text(store, "/job", "translations", translations, error);
}

bool xlm_model_file_write_content(xlm_store *store, const xlm_comm *comm, const xlm_model_config *config,
                                  const xlm_parameters *parameters, const xlm_vocabulary *vocabulary, const xlm_model_task *task,
                                  GError **error)
{
    return xlm_model_attributes_write(store, config, error) &&
           xlm_parameter_arrays_write(store, GROUP, parameters, xlm_parameters_values(parameters), error) &&
           xlm_model_file_write_task(store, task, error) &&
           xlm_vocabulary_save(vocabulary, store, "/vocabulary", comm->rank, error);
}

/* ---- checks ---- */

/* The maximum that the option `steps` allows, so that the steps of a run can number the draws of its streams. */
static const int64_t MAX_STEPS = 1000000000000;

/* Checks format and version of the file. [out] of_run: it has the state of a run. */
static xlm_file_condition check_version(const xlm_store *store, bool needs_run, bool *of_run, GError **error)
{
    g_autofree char *format = xlm_store_get_text(store, "/", "format", error);
    int64_t version = 0;
    if (format == NULL)
        return XLM_FILE_DAMAGED;
    *of_run = strcmp(format, XLM_CHECKPOINT_FORMAT) == 0;
    if (!*of_run && (needs_run || strcmp(format, XLM_MODEL_FILE_FORMAT) != 0)) {
        xlm_error_set(error, EX_DATAERR, "%s: is \"%s\", not a checkpoint%s", xlm_store_path(store), format,
                      needs_run ? "" : " or model");
        return XLM_FILE_UNFIT;
    }
    if (!xlm_store_get_int(store, "/", "format_version", &version, error))
        return XLM_FILE_DAMAGED;
    if (version == XLM_MODEL_FILE_VERSION)
        return XLM_FILE_GOOD;
    if (xlm_store_is_newer(store, NULL, version, XLM_MODEL_FILE_VERSION, error))
        return XLM_FILE_NEWER;
    xlm_error_set(error, EX_DATAERR, "%s: has format version %" G_GINT64_FORMAT ", this program reads %d", xlm_store_path(store),
                  version, XLM_MODEL_FILE_VERSION);
    return XLM_FILE_UNFIT;
}

xlm_file_condition xlm_model_file_check_format(const xlm_store *store, bool needs_run, int64_t *step, GError **error)
{
    bool of_run;
    const xlm_file_condition condition = check_version(store, needs_run, &of_run, error);
    *step = 0;
    if (condition != XLM_FILE_GOOD || !of_run)
        return condition;
    if (!xlm_store_get_int(store, "/", "step", step, error))
        return XLM_FILE_DAMAGED;
    if (*step >= 0 && *step <= MAX_STEPS)
        return XLM_FILE_GOOD;
    REFUSE(store, error, "step = %" G_GINT64_FORMAT ": must be from 0 to %" G_GINT64_FORMAT, *step, MAX_STEPS);
    return XLM_FILE_DAMAGED;
}

xlm_array xlm_model_file_array(const xlm_parameter *p)
{
    return p->rows == 1 ? (xlm_array){XLM_F32, (uint64_t)p->cols, 0} : (xlm_array){XLM_F32, (uint64_t)p->rows, (uint64_t)p->cols};
}

xlm_file_condition xlm_model_file_check_shape(const xlm_store *store, const char *path, const xlm_parameter *p, GError **error)
{
    xlm_array array = {XLM_F32, XLM_ANY, XLM_ANY};
    if (!xlm_store_has(store, path)) {
        xlm_error_set(error, EX_DATAERR, "it has no %s", path);
        return XLM_FILE_UNFIT;
    }
    if (!xlm_store_shape(store, path, &array, error))
        return XLM_FILE_DAMAGED;
    const xlm_array here = xlm_model_file_array(p);
    if (array.rows == here.rows && array.columns == here.columns)
        return XLM_FILE_GOOD;
    const bool vector = array.columns == 0;
    const uint64_t rows = vector ? 1 : array.rows, cols = vector ? array.rows : array.columns;
    xlm_error_set(error, EX_DATAERR, "%s is %" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT " there, %" G_GINT64_FORMAT
                  " x %" G_GINT64_FORMAT " here", path, rows, cols, p->rows, p->cols);
    return XLM_FILE_UNFIT;
}

/* Refuses numbers that training never leaves in a file unless it diverged, or that come from damage. */
static bool check_numbers(const xlm_store *store, const char *path, int64_t n, const float *values, bool positive, GError **error)
{
    int64_t i = 0;
    while (i < n && isfinite(values[i]) && !(positive && values[i] < 0))
        i++;
    return i == n || xlm_error_set(error, EX_DATAERR, "%s: %s: element %" G_GINT64_FORMAT " is %g, where %s belongs; the run had "
                                   "gone astray, or the file is damaged", xlm_store_path(store), path, i, (double)values[i],
                                   positive ? "a mean of squares" : "a finite number");
}

bool xlm_model_file_read_array(const xlm_store *store, const char *group, const xlm_parameter *p, bool positive, float *values,
                               GError **error)
{
    g_autofree char *path = xlm_parameter_path(group, p);
    const xlm_array array = xlm_model_file_array(p);
    return xlm_store_read(store, path, array, 0, array.rows, values, error) &&
           check_numbers(store, path, p->rows * p->cols, values, positive, error);
}

/* ---- reading ---- */

/* <s>, a token, </s>. */
enum { MIN_LENGTH = 3 };

/* Every class has a name, which no other class has. */
static bool check_labels(const xlm_store *store, char **labels, uint64_t n, GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    bool good = true;
    for (uint64_t i = 0; i < n && good; i++)
        if (*labels[i] == '\0' || !g_utf8_validate(labels[i], -1, NULL) || !g_hash_table_add(seen, labels[i]))
            good = REFUSE(store, error, "/task/labels: label %" G_GUINT64_FORMAT " is empty, not UTF-8, or the same as another",
                          i);
    return good;
}

/* Reads /task/languages, which must be different and in the vocabulary. Older files have one language, or none in particular. */
static bool load_task_languages(xlm_loaded_model *m, const xlm_store *store, GError **error)
{
    xlm_model_task *task = m->task;
    uint64_t n;
    if (!xlm_store_has(store, "/task/languages")) {
        if (*task->language != '\0')
            task->languages = g_strdupv((char *[]){task->language, NULL});
        return true;
    }
    if ((task->languages = xlm_store_read_strings(store, "/task/languages", INT32_MAX, &n, error)) == NULL)
        return false;
    for (uint64_t i = 0; i < n; i++) {
        if (xlm_vocabulary_find_language(m->vocabulary, task->languages[i]) < 0)
            return REFUSE(store, error, "/task/languages: %s, which is not one of /languages", task->languages[i]);
        for (uint64_t k = 0; k < i; k++)
            if (strcmp(task->languages[k], task->languages[i]) == 0)
                return REFUSE(store, error, "/task/languages: %s occurs there twice", task->languages[i]);
    }
    return true;
}

/* Reads /task, if there is one. */
static bool load_task(xlm_loaded_model *m, const xlm_store *store, GError **error)
{
    if (!xlm_store_has(store, "/task"))
        return true;
    xlm_model_task *task = m->task = g_new0(xlm_model_task, 1);
    uint64_t n;
    if ((task->name = xlm_store_get_text(store, "/task", "name", error)) == NULL ||
        (task->language = xlm_store_get_text(store, "/task", "language", error)) == NULL ||
        !xlm_store_get_int(store, "/task", "length", &task->length, error) ||
        (task->options = xlm_store_get_text(store, "/task", "options", error)) == NULL ||
        (task->labels = xlm_store_read_strings(store, "/task/labels", INT32_MAX, &n, error)) == NULL ||
        !check_labels(store, task->labels, n, error))
        return false;
    if (!xlm_store_get_int(store, "/task", "sentences", &task->sentences, NULL))
        task->sentences = 0;
    if (task->sentences < 0 || task->sentences > 2)
        return REFUSE(store, error, "/task: sentences = %" G_GINT64_FORMAT ": must be 1 or 2", task->sentences);
    if (task->length < MIN_LENGTH || task->length > m->config.positions)
        return REFUSE(store, error, "/task: length = %" G_GINT64_FORMAT ": must be from %d to the model's "
                      "%" G_GINT64_FORMAT " positions", task->length, MIN_LENGTH, m->config.positions);
    if (*task->language != '\0' && xlm_vocabulary_find_language(m->vocabulary, task->language) < 0)
        return REFUSE(store, error, "/task: language = %s, which is not one of /languages", task->language);
    return load_task_languages(m, store, error);
}

/* Checks that the vocabulary has as many words and languages as the model has rows for. */
static bool check_vocabulary(const xlm_loaded_model *m, const xlm_store *store, GError **error)
{
    const int64_t words = xlm_vocabulary_size(m->vocabulary), languages = xlm_vocabulary_languages(m->vocabulary);
    if (m->config.vocabulary != words)
        return REFUSE(store, error, "/model: vocabulary = %" G_GINT64_FORMAT ", but there are %" G_GINT64_FORMAT
                      " words in /vocabulary", m->config.vocabulary, words);
    if (m->config.languages != languages)
        return REFUSE(store, error, "/model: languages = %" G_GINT64_FORMAT ", but there are %" G_GINT64_FORMAT " in /languages",
                      m->config.languages, languages);
    return true;
}

/* Checks that the file has all declared parameters in their shapes. Then their memory is bounded by the size of the file. */
static bool check_shapes(const xlm_store *store, const xlm_parameters *parameters, GError **error)
{
    bool good = true;
    for (int i = 0; i < xlm_parameters_count(parameters) && good; i++) {
        const xlm_parameter *p = xlm_parameters_get(parameters, i);
        g_autofree char *path = xlm_parameter_path(GROUP, p);
        const xlm_file_condition condition = xlm_model_file_check_shape(store, path, p, error);
        good = condition == XLM_FILE_GOOD;
        if (condition == XLM_FILE_UNFIT)
            g_prefix_error(error, "%s: ", xlm_store_path(store));
    }
    return good;
}

static bool load_header(xlm_loaded_model *m, const xlm_store *store, GError **error)
{
    if (xlm_model_file_check_format(store, false, &m->step, error) != XLM_FILE_GOOD ||
        !xlm_model_attributes_read(store, &m->config, error) ||
        (m->vocabulary = xlm_vocabulary_load(store, "/vocabulary", error)) == NULL || !check_vocabulary(m, store, error) ||
        !load_task(m, store, error))
        return false;
    m->translations = xlm_store_get_text(store, "/job", "translations", NULL);
    if (!xlm_model_pair_form_read(store, &m->pair_form, error))
        return false;
    m->parameters = xlm_parameters_new();
    m->model = xlm_model_new(&m->config, m->parameters);
    return check_shapes(store, m->parameters, error);
}

/* Their shapes have been checked. */
static bool load_values(const xlm_store *store, xlm_parameters *parameters, GError **error)
{
    xlm_parameters_seal(parameters);
    for (int i = 0; i < xlm_parameters_count(parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(parameters, i);
        if (!xlm_model_file_read_array(store, GROUP, p, false, xlm_parameters_values(parameters) + p->start, error))
            return false;
    }
    return true;
}

xlm_loaded_model *xlm_model_file_read_header(const char *path, GError **error)
{
    g_autoptr(xlm_store) store = xlm_store_open(path, error);
    g_autoptr(xlm_loaded_model) loaded = g_new0(xlm_loaded_model, 1);
    return store != NULL && load_header(loaded, store, error) ? g_steal_pointer(&loaded) : NULL;
}

bool xlm_model_file_read_values(const char *path, xlm_loaded_model *loaded, GError **error)
{
    g_autoptr(xlm_store) store = xlm_store_open(path, error);
    return store != NULL && check_shapes(store, loaded->parameters, error) && load_values(store, loaded->parameters, error);
}

bool xlm_model_file_has_layer(const xlm_loaded_model *loaded, const char *path, int64_t layer, GError **error)
{
    return layer <= loaded->config.layers ||
           xlm_error_set(error, EX_USAGE, "--layer=%" G_GINT64_FORMAT ": the model of %s has %" G_GINT64_FORMAT
                         " layers; 0 are the embeddings", layer, path, loaded->config.layers);
}

xlm_loaded_model *xlm_model_file_read(const char *path, GError **error)
{
    /* Opened once: most of the time that a small model takes is HDF5's for its hundreds of datasets. */
    g_autoptr(xlm_store) store = xlm_store_open(path, error);
    g_autoptr(xlm_loaded_model) loaded = g_new0(xlm_loaded_model, 1);
    return store != NULL && load_header(loaded, store, error) && load_values(store, loaded->parameters, error)
               ? g_steal_pointer(&loaded) : NULL;
}

static xlm_precision precision = XLM_FLOAT32;

static bool packs_float32;

void xlm_model_file_set_precision(xlm_precision of_tapes) { precision = of_tapes; }

void xlm_model_file_pack_float32(bool packs) { packs_float32 = packs; }

static bool packs_parameters(void) { return precision != XLM_FLOAT32 || packs_float32; }

uint64_t xlm_model_file_packed_bytes(const xlm_loaded_model *loaded)
{
    return packs_parameters() ? xlm_packed_bytes(precision, xlm_parameters_size(loaded->parameters), 1) : 0;
}

xlm_tape *xlm_model_file_tape(const xlm_loaded_model *loaded)
{
    xlm_tape *tape = xlm_tape_new(loaded->parameters);
    xlm_tape_multiply_by(tape, packs_parameters(), precision);
    xlm_tape_hold_parameters(tape, true);
    return tape;
}

void xlm_model_task_free(xlm_model_task *task)
{
    if (task == NULL)
        return;
    g_free(task->name);
    g_free(task->language);
    g_free(task->options);
    g_strfreev(task->labels);
    g_strfreev(task->languages);
    g_free(task);
}

bool xlm_model_task_check_labels(const xlm_model_task *task, const char *path, GError **error)
{
    return task->labels[0] != NULL ||
           xlm_error_set(error, EX_DATAERR, "%s: /task/labels: has no names of classes, which the task %s needs; the file is "
                         "damaged", path, task->name);
}

bool xlm_loaded_model_reads_language(const xlm_loaded_model *loaded)
{
    return loaded->config.language_embeddings || xlm_vocabulary_language_form(loaded->vocabulary) != NULL;
}

void xlm_model_file_free(xlm_loaded_model *loaded)
{
    if (loaded == NULL)
        return;
    xlm_model_free(loaded->model);
    xlm_parameters_free(loaded->parameters);
    xlm_vocabulary_free(loaded->vocabulary);
    xlm_model_task_free(loaded->task);
    g_free(loaded->translations);
    g_free(loaded->pair_form);
    g_free(loaded);
}
