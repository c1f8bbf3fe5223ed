/* xlm-mpi: a model file with other rows of subwords and languages. SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/model_rows.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "model/model_attributes.h"
#include "model/model_pair_form.h"
#include "model/row_sources.h"
#include "nn/layer.h"

enum { BLOCK = 1 << 22 }; /* elements of a block; up to three blocks are in memory at a time, and an array that means are of */

/* ---- models ---- */

/* A model that rows are read from. */
typedef struct old_model {
    xlm_loaded_model *loaded; /* without values */
    xlm_store *store;
    xlm_row_sources *subwords, *languages;
    float *block; /* [max(BLOCK, a row)] */
} old_model;

typedef struct changed_model {
    const xlm_vocabulary *vocabulary;
    const xlm_model_rows *rows;
    old_model first, others; /* others.loaded NULL: none */
    xlm_parameters *parameters;
    xlm_model *model;
    GPtrArray *states; /* paths of the task's arrays that are no parameters */
    float *block;
} changed_model;

static void close_old(old_model *old)
{
    xlm_model_file_free(old->loaded);
    xlm_store_close(old->store);
    xlm_row_sources_free(old->subwords);
    xlm_row_sources_free(old->languages);
    g_free(old->block);
}

static bool open_old(old_model *old, const char *path, const xlm_vocabulary *vocabulary, bool average, GError **error)
{
    if ((old->loaded = xlm_model_file_read_header(path, error)) == NULL || (old->store = xlm_store_open(path, error)) == NULL)
        return false;
    old->subwords = xlm_row_sources_of_subwords(old->loaded->vocabulary, vocabulary, average);
    old->languages = xlm_row_sources_of_languages(old->loaded->vocabulary, vocabulary, average);
    return true;
}

static const xlm_parameter *find_old(const old_model *old, const xlm_parameter *p)
{
    const int at = old->loaded != NULL ? xlm_parameters_find(old->loaded->parameters, p->name) : -1;
    return at >= 0 ? xlm_parameters_get(old->loaded->parameters, at) : NULL;
}

/* The sources of the rows of a parameter that has a row for each subword or language; NULL: it has others. */
static const xlm_row_sources *rows_of(const old_model *old, const xlm_parameter *p)
{
    const char *part = xlm_part_of(p->name);
    if (xlm_part_is_of_languages(part))
        return old->languages;
    const bool words = strcmp(part, "embeddings/word/weight") == 0 || strcmp(part, "lm_head/bias") == 0;
    return words ? old->subwords : NULL;
}

/* Refuses a second model of which the first cannot have been made, because shapes differ or few subwords are in both. */
static bool check_others(const changed_model *c, const char *path, GError **error)
{
    const old_model *others = &c->others;
    for (int i = 0; i < xlm_parameters_count(c->parameters); i++) {
        const xlm_parameter *here = xlm_parameters_get(c->parameters, i), *there = find_old(others, here);
        const bool rows = rows_of(others, here) != NULL, vector = here->rows == 1;
        if (there != NULL && ((there->rows != here->rows && !rows) || (there->cols != here->cols && !(rows && vector))))
            return xlm_error_set(error, EX_DATAERR, "%s: %s is %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " there, %"
                                 G_GINT64_FORMAT " x %" G_GINT64_FORMAT " in %s, which was not made from it", c->rows->others,
                                 here->name, there->rows, there->cols, here->rows, here->cols, path);
    }
    const int64_t known = c->others.subwords->taken, all = xlm_vocabulary_size(c->first.loaded->vocabulary);
    const int64_t common = c->first.subwords->taken + known - xlm_vocabulary_size(c->vocabulary);
    return 2 * common >= all ||
           xlm_error_set(error, EX_DATAERR, "%s: has %" G_GINT64_FORMAT " of the %" G_GINT64_FORMAT " subwords of %s, which was "
                         "not made from it", c->rows->others, common, all, path);
}

/* ---- rows ---- */

/* Number of rows of the file that a row of `width` numbers is there: a parameter of one row is stored as a vector. */
static int64_t unit_of(const xlm_parameter *p, int64_t width) { return p->rows == 1 ? width : 1; }

/* Reads rows [first, first + n) of a parameter, each of `width` numbers; for a vector elements, with a width of 1. */
static bool read_rows(const old_model *old, const xlm_parameter *p, int64_t first, int64_t n, int64_t width, float *values,
                      GError **error)
{
    g_autofree char *path = xlm_parameter_path("/model", p);
    const int64_t unit = unit_of(p, width);
    bool good = xlm_store_read(old->store, path, xlm_model_file_array(p), (uint64_t)(first * unit), (uint64_t)(n * unit), values,
                               error);
    for (int64_t i = 0; i < n * width && good; i++)
        good = isfinite(values[i]) ||
               xlm_error_set(error, EX_DATAERR, "%s: %s: an element of row %" G_GINT64_FORMAT " is not finite; the run had gone "
                             "astray, or the file is damaged", xlm_store_path(old->store), path, first + i / width);
    return good;
}

static bool write_block(const changed_model *c, xlm_store *store, const char *path, const xlm_parameter *p, int64_t row,
                        int64_t n, int64_t width, GError **error)
{
    const int64_t unit = unit_of(p, width);
    return xlm_store_write(store, path, (uint64_t)(row * unit), (uint64_t)(n * unit), c->block, error);
}

/* The row of the old array that row i of the new one is a copy of; -1: it is not a copy of one row. */
static int64_t single(const xlm_row_sources *s, int64_t i)
{
    return s != NULL && s->first[i + 1] - s->first[i] == 1 ? s->source[s->first[i]] : -1;
}

/* How many new rows from `row` on, at most `max_rows`, have their single sources within `range` consecutive old rows.
 * [out] low, n: these sources are in [*low, *low + *n); *n is 0 if there are none. */
static int64_t reach(const xlm_row_sources *s, int64_t row, int64_t max_rows, int64_t range, int64_t *low, int64_t *n)
{
    int64_t high = -1, rows = 0;
    *low = 0;
    for (; rows < max_rows; rows++) {
        const int64_t at = single(s, row + rows);
        if (at < 0)
            continue;
        const int64_t lowest = high < 0 ? at : MIN(*low, at), highest = MAX(high, at);
        if (highest - lowest + 1 > range)
            break;
        *low = lowest;
        high = highest;
    }
    *n = high < 0 ? 0 : high - *low + 1;
    return rows;
}

/* Computes row i of the new array as the mean of several rows of the old one, added up in double precision in their order. */
static void average_rows(const xlm_row_sources *s, const float *old, int64_t i, int64_t width, float *values)
{
    const int64_t n = s->first[i + 1] - s->first[i];
    g_autofree double *sum = g_new0(double, width);
    for (int64_t k = s->first[i]; k < s->first[i + 1]; k++)
        for (int64_t c = 0; c < width; c++)
            sum[c] += (double)old[s->source[k] * width + c];
    for (int64_t c = 0; c < width; c++)
        values[c] = (float)(sum[c] / (double)n);
}

/* Fills in rows [row, row + n) of the new array. old: the parameter in the first model and in the other one, NULL if a model does
 * not have it. low: the first of the old rows that are in the block of each model. all: all rows of the first model, if some of
 * the new ones are means of them. */
static void fill_rows(const changed_model *c, const xlm_parameter *p, const xlm_parameter *const old[2], const float *all,
                      int64_t row, int64_t n, const int64_t low[2], int64_t width)
{
    const old_model *models[2] = {&c->first, &c->others};
    for (int64_t i = row; i < row + n; i++) {
        float *values = c->block + (i - row) * width;
        const xlm_row_sources *own = rows_of(&c->first, p);
        int from = 0;
        int64_t at = -1;
        while (from < 2 && (old[from] == NULL || (at = single(rows_of(models[from], p), i)) < 0))
            from++;
        if (from < 2)
            memcpy(values, models[from]->block + (at - low[from]) * width, sizeof *values * (size_t)width);
        else if (old[0] != NULL && own->first[i + 1] - own->first[i] > 1)
            average_rows(own, all, i, width, values);
        else
            xlm_parameter_draw(p, c->rows->seed, i * width, width, values);
    }
}

static bool write_rows(const changed_model *c, xlm_store *store, const char *path, const xlm_parameter *p, int64_t rows,
                       int64_t width, GError **error)
{
    const xlm_parameter *const old[2] = {find_old(&c->first, p), find_old(&c->others, p)};
    const old_model *models[2] = {&c->first, &c->others};
    const int64_t range = MAX(1, BLOCK / width), old_rows = old[0] != NULL ? old[0]->rows * old[0]->cols / width : 0;
    /* Means are of rows from all over the array. Each alone would be read with some hundred others, its chunk of the file. */
    g_autofree float *all = old[0] != NULL && rows_of(&c->first, p)->averaged > 0 ? g_new(float, old_rows * width) : NULL;
    bool good = all == NULL || read_rows(&c->first, old[0], 0, old_rows, width, all, error);
    for (int64_t row = 0, n; row < rows && good; row += n) {
        int64_t low[2] = {0}, there[2] = {0};
        n = MIN(range, rows - row);
        for (int from = 0; from < 2; from++)
            if (old[from] != NULL)
                n = reach(rows_of(models[from], p), row, n, range, &low[from], &there[from]);
        for (int from = 0; from < 2 && good; from++) {
            if (old[from] != NULL)
                reach(rows_of(models[from], p), row, n, range, &low[from], &there[from]);
            good = there[from] == 0 ||
                   read_rows(models[from], old[from], low[from], there[from], width, models[from]->block, error);
        }
        if (good)
            fill_rows(c, p, old, all, row, n, low, width);
        good = good && write_block(c, store, path, p, row, n, width, error);
    }
    return good;
}

/* Copies a parameter that has the same shape in both files. */
static bool copy_rows(const changed_model *c, xlm_store *store, const char *path, const xlm_parameter *p, int64_t rows,
                      int64_t width, GError **error)
{
    const int64_t step = MAX(1, BLOCK / width);
    bool good = true;
    for (int64_t row = 0; row < rows && good; row += step) {
        const int64_t n = MIN(step, rows - row);
        good = read_rows(&c->first, p, row, n, width, c->block, error) && write_block(c, store, path, p, row, n, width, error);
    }
    return good;
}

static bool write_parameter(const changed_model *c, xlm_store *store, const xlm_parameter *p, GError **error)
{
    const bool languages = xlm_part_is_of_languages(p->name), vector = p->rows == 1 && !languages;
    const int64_t rows = vector ? p->cols : p->rows, width = vector ? 1 : p->cols;
    const uint64_t dims[2] = {(uint64_t)(p->rows == 1 ? p->cols : p->rows), (uint64_t)p->cols};
    g_autofree char *path = xlm_parameter_path("/model", p);
    const bool good =
        xlm_store_dataset(store, path, XLM_F32, p->rows == 1 ? 1 : 2, dims, XLM_STORE_CHECKED, error) &&
        (rows_of(&c->first, p) != NULL ? write_rows : copy_rows)(c, store, path, p, rows, width, error);
    return good;
}

/* ---- the file ---- */

/* Parameters of tasks are float32. Their states have other types: the threshold of question answering is float64. */
static bool declare_array(changed_model *c, const char *path, GError **error)
{
    xlm_type type;
    if (!xlm_store_type(c->first.store, path, &type, error))
        return false;
    if (type != XLM_F32) {
        g_ptr_array_add(c->states, g_strdup(path));
        return true;
    }
    xlm_array array = {XLM_F32, XLM_ANY, XLM_ANY};
    if (!xlm_store_shape(c->first.store, path, &array, error))
        return false;
    if (array.rows == 0)
        return xlm_error_set(error, EX_DATAERR, "%s: %s: has no elements", xlm_store_path(c->first.store), path);
    const bool vector = array.columns == 0;
    xlm_parameters_add(c->parameters, path + 1, vector ? 1 : (int64_t)array.rows, (int64_t)(vector ? array.rows : array.columns),
                       XLM_INIT_ZERO, false);
    return true;
}

/* Declares the arrays of a task as they are in the file: path is an array, or a group of them. */
static bool declare_task(changed_model *c, const char *path, GError **error)
{
    g_auto(GStrv) names = xlm_store_list(c->first.store, path, NULL);
    if (names == NULL)
        return declare_array(c, path, error);
    bool good = true;
    for (char **name = names; good && *name != NULL; name++) {
        g_autofree char *member = g_strconcat(path, "/", *name, NULL);
        good = declare_task(c, member, error);
    }
    return good;
}

static bool declare(changed_model *c, GError **error)
{
    xlm_model_config config = c->first.loaded->config;
    config.vocabulary = xlm_vocabulary_size(c->vocabulary);
    config.languages = xlm_vocabulary_languages(c->vocabulary);
    if (!xlm_model_check(&config, error))
        return false;
    c->parameters = xlm_parameters_new();
    c->states = g_ptr_array_new_with_free_func(g_free);
    c->model = xlm_model_new(&config, c->parameters);
    return c->first.loaded->task == NULL || !xlm_store_has(c->first.store, "/objectives") ||
           declare_task(c, "/objectives", error);
}

static void take_memory(changed_model *c)
{
    int64_t widest = BLOCK;
    for (int i = 0; i < xlm_parameters_count(c->parameters); i++)
        if (xlm_parameters_get(c->parameters, i)->rows > 1)
            widest = MAX(widest, xlm_parameters_get(c->parameters, i)->cols);
    c->block = g_new(float, widest);
    c->first.block = g_new(float, widest);
    if (c->others.loaded != NULL)
        c->others.block = g_new(float, widest);
}

static bool write_content(const changed_model *c, xlm_store *store, GError **error)
{
    bool good = xlm_model_file_write_origin(store, NULL, XLM_MODEL_FILE_FORMAT, c->parameters, error) &&
                xlm_model_attributes_write(store, xlm_model_get_config(c->model), error);
    for (int i = 0; i < xlm_parameters_count(c->parameters) && good; i++)
        good = write_parameter(c, store, xlm_parameters_get(c->parameters, i), error);
    for (guint i = 0; i < c->states->len && good; i++)
        good = xlm_store_copy(c->first.store, c->states->pdata[i], store, error); /* a threshold may be infinite */
    return good && xlm_model_file_write_task(store, c->first.loaded->task, error) &&
           xlm_model_file_write_translations(store, c->first.loaded->translations, error) &&
           xlm_model_pair_form_write(store, c->first.loaded->pair_form, error) &&
           xlm_vocabulary_save(c->vocabulary, store, "/vocabulary", 0, error);
}

static bool write_file(const changed_model *c, const char *output, GError **error)
{
    xlm_store *store = xlm_store_create(NULL, output, error);
    return xlm_store_end(store, store != NULL && write_content(c, store, error), error);
}

static void log_rows(const changed_model *c, const char *what, const xlm_row_sources *first, const xlm_row_sources *others)
{
    int64_t restored = 0;
    for (int64_t i = 0; others != NULL && i < first->rows; i++)
        restored += single(first, i) < 0 && single(others, i) >= 0;
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_printf(text, "%s: %" G_GINT64_FORMAT ", of which %" G_GINT64_FORMAT " rows as they were", what, first->rows,
                    first->taken);
    if (restored > 0)
        g_string_append_printf(text, ", %" G_GINT64_FORMAT " of %s", restored, c->rows->others);
    if (first->averaged > 0)
        g_string_append_printf(text, ", %" G_GINT64_FORMAT " means of others", first->averaged);
    if (first->drawn > restored)
        g_string_append_printf(text, ", %" G_GINT64_FORMAT " drawn", first->drawn - restored);
    xlm_log_info("%s; %" G_GINT64_FORMAT " left out", text->str, first->left);
}

static void log_change(const changed_model *c)
{
    const double before = 4e-6 * (double)xlm_parameters_elements(c->first.loaded->parameters);
    double after = 0;
    for (int i = 0; i < xlm_parameters_count(c->parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(c->parameters, i);
        if (find_old(&c->first, p) != NULL)
            after += 4e-6 * (double)(p->rows * p->cols);
    }
    log_rows(c, "subwords", c->first.subwords, c->others.subwords);
    if (c->first.loaded->config.language_embeddings || c->first.loaded->config.language_tokens)
        log_rows(c, "languages", c->first.languages, c->others.languages);
    xlm_log_info("parameters of the model: %.1f MB, and were %.1f MB: %.1f MB %s", after, before, fabs(after - before),
                 after <= before ? "saved" : "more");
}

bool xlm_model_rows_write(const char *path, const xlm_vocabulary *vocabulary, const xlm_model_rows *rows,
                                const char *output, GError **error)
{
    changed_model c = {.vocabulary = vocabulary, .rows = rows};
    bool good = open_old(&c.first, path, vocabulary, rows->average, error) &&
                (rows->others == NULL || open_old(&c.others, rows->others, vocabulary, false, error)) && declare(&c, error) &&
                (rows->others == NULL || check_others(&c, path, error));
    if (good) {
        take_memory(&c);
        good = write_file(&c, output, error);
    }
    if (good)
        log_change(&c);
    close_old(&c.first);
    close_old(&c.others);
    xlm_model_free(c.model);
    xlm_parameters_free(c.parameters);
    g_clear_pointer(&c.states, g_ptr_array_unref);
    g_free(c.block);
    return good;
}
