/* xlm-mpi: the mean of models. SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/model_mean.h"

#include "base/log.h"
#include "model/model_adapters.h"
#include "model/model_attributes.h"

bool xlm_model_mean_of(const GPtrArray *stores, xlm_parameters *parameters, GError **error)
{
    bool good = true;
    for (int i = 0; i < xlm_parameters_count(parameters) && good; i++) {
        const xlm_parameter *p = xlm_parameters_get(parameters, i);
        const int64_t n = p->rows * p->cols;
        float *values = xlm_parameters_values(parameters) + p->start;
        g_autofree double *sum = g_new0(double, n);
        for (guint k = 0; k < stores->len && good; k++) {
            good = xlm_model_file_read_array(stores->pdata[k], "/model", p, false, values, error);
            for (int64_t e = 0; e < n && good; e++)
                sum[e] += values[e];
        }
        for (int64_t e = 0; e < n && good; e++)
            values[e] = (float)(sum[e] / (double)stores->len);
    }
    return good;
}

/* ---- of files ---- */

static bool same_vocabulary(const xlm_vocabulary *a, const xlm_vocabulary *b)
{
    return g_strv_equal(xlm_vocabulary_words(a), xlm_vocabulary_words(b)) &&
           g_strv_equal(xlm_vocabulary_language_names(a), xlm_vocabulary_language_names(b));
}

/* Can the model in the file `path` be averaged with `first`? If they were trained to translate different pairs of languages, or
 * with pairs of sentences in different forms, it is not known which the mean translates, or in which form it reads pairs. */
static bool check(const char *path, xlm_loaded_model *first, GError **error)
{
    xlm_loaded_model *m = xlm_model_file_read_header(path, error);
    GError *why = NULL;
    bool good = m != NULL;
    if (good && m->task != NULL)
        good = xlm_error_set(error, EX_DATAERR, "%s: it was fine-tuned for %s, and the mean is of models without heads of tasks; "
                             "average = N in [tune] makes it with its head", path, m->task->name);
    if (good && !xlm_model_same_function(&m->config, &first->config, "the first one's", &why)) {
        good = xlm_error_set(error, EX_DATAERR, "%s: %s", path, why->message);
        g_error_free(why);
    }
    if (good && !same_vocabulary(m->vocabulary, first->vocabulary))
        good = xlm_error_set(error, EX_DATAERR, "%s: it has another vocabulary than the first model", path);
    if (good && g_strcmp0(m->translations, first->translations) != 0)
        g_clear_pointer(&first->translations, g_free);
    if (good && g_strcmp0(m->pair_form, first->pair_form) != 0)
        g_clear_pointer(&first->pair_form, g_free);
    xlm_model_file_free(m);
    return good;
}

static void close_store(void *store) { xlm_store_close(store); }

static bool add_file(const char *path, GPtrArray *stores, xlm_loaded_model *first, GError **error)
{
    xlm_store *store = check(path, first, error) ? xlm_store_open(path, error) : NULL;
    if (store != NULL)
        g_ptr_array_add(stores, store);
    return store != NULL;
}

bool xlm_model_mean(const char *path, char *const *others, const char *output, GError **error)
{
    g_autoptr(GPtrArray) stores = g_ptr_array_new_with_free_func(close_store);
    xlm_adapted mean = {0};
    xlm_loaded_model *first = xlm_model_file_read_header(path, error);
    bool good = first != NULL && add_file(path, stores, first, error);
    for (char *const *other = others; good && *other != NULL; other++)
        good = add_file(*other, stores, first, error);
    good = good && xlm_adapted_open(&mean, path, &first->config.adapters, error) &&
           xlm_model_mean_of(stores, mean.parameters, error);
    if (good) {
        mean.translations = first->translations;
        mean.pair_form = first->pair_form;
    }
    good = good && xlm_adapted_write(&mean, output, error);
    if (good)
        xlm_log_info("%s: the mean of %u models", output, stores->len);
    xlm_adapted_close(&mean);
    xlm_model_file_free(first);
    return good;
}
