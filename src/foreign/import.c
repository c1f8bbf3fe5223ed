/* xlm-mpi: a model of transformers as a model file of ours. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/names.h"
#include "foreign/architecture.h"
#include "foreign/convert.h"
#include "foreign/foreign_vocabulary.h"
#include "foreign/safetensors.h"
#include "foreign/task_heads.h"
#include "model/model_attributes.h"
#include "model/model_file.h"
#include "model/model_pair_form.h"
#include "subwords/published.h"
#include "text/fields.h"

/* Where the values of a parameter are: in all of a tensor, or in one of its parts, which are below one another. */
typedef struct source {
    const xlm_safetensor *tensor;
    xlm_tensor_part part;
} source;

typedef struct importer {
    const char *directory;
    xlm_foreign_config config;
    xlm_safetensors *tensors;
    GHashTable *used; /* set of the tensors that have been found */
    bool bare;        /* names have no prefix */
    const xlm_safetensor *types; /* its first row is the single type of tokens, which is added to all positions; NULL: none */
    int64_t type_rows;           /* of it */
    xlm_vocabulary *vocabulary;
    xlm_parameters *parameters; /* declared, without values */
    xlm_model *model;
    source *sources;               /* of each parameter */
    json_t *json;                  /* config.json */
    const xlm_task_head *head;     /* of a task; NULL: none, or it is left out */
    xlm_model_task *task;
    double null_threshold;         /* of a head for answers */
} importer;

/* ---- finding tensors ---- */

static const xlm_safetensor *find(importer *im, const char *name)
{
    const xlm_safetensor *t = xlm_safetensors_find(im->tensors, name);
    if (t != NULL)
        g_hash_table_add(im->used, (void *)(uintptr_t)t);
    return t;
}

static const xlm_safetensor *find_ending(importer *im, const char *stem, const char *ending)
{
    g_autofree char *name = g_strconcat(stem, ending, NULL);
    return find(im, name);
}

/* Their name of a parameter. NULL: none. g_free. part: NULL, or gets what part of the tensor it is. */
static char *name_of(const importer *im, const char *parameter, xlm_tensor_part *part)
{
    if (part != NULL)
        *part = (xlm_tensor_part){0, 1};
    return im->head != NULL && g_str_has_prefix(parameter, "objectives/")
               ? xlm_task_head_tensor(im->head, im->config.architecture, im->bare, parameter)
               : xlm_architecture_tensor(im->config.architecture, im->bare, parameter, part);
}

/* Tensor i of those that are the word embeddings again. [out] tensor: NULL if the model does not have it. Returns false if there
 * are not so many. */
static bool find_tied(importer *im, int i, const xlm_safetensor **tensor)
{
    const xlm_architecture *a = im->config.architecture;
    if (a->tied == NULL || a->tied[i] == NULL)
        return false;
    g_autofree char *name = g_strconcat(im->bare ? "" : a->prefix, a->tied[i], ".weight", NULL);
    *tensor = find(im, name);
    return true;
}

/* The tensor of a parameter: by its name; for LayerNorm, also by the names in old models; for tied parameters, also by those of
 * the decoder. */
static const xlm_safetensor *find_parameter(importer *im, const char *parameter)
{
    g_autofree char *name = name_of(im, parameter, NULL);
    if (name == NULL)
        return NULL;
    const xlm_safetensor *t = find(im, name);
    char *dot = strrchr(name, '.');
    const bool weight = g_str_has_suffix(name, ".weight");
    if (dot == NULL)
        return t;
    *dot = '\0';
    if (t == NULL && g_str_has_suffix(name, "LayerNorm"))
        t = find_ending(im, name, weight ? ".gamma" : ".beta");
    if (t == NULL && (strcmp(parameter, "embeddings/word/weight") == 0 || strcmp(parameter, "lm_head/bias") == 0))
        t = find_ending(im, im->config.architecture->decoder, weight ? ".weight" : ".bias");
    for (int i = 0; t == NULL && strcmp(parameter, "embeddings/word/weight") == 0 && find_tied(im, i, &t); i++)
        continue;
    return t;
}

static bool lacks(importer *im, const char *parameter, GError **error)
{
    g_autofree char *name = name_of(im, parameter, NULL);
    return xlm_error_set(error, EX_DATAERR, "%s: there is no tensor \"%s\", which a %s model as in config.json has",
                         im->directory, name, im->config.architecture->model_type);
}

/* "[3, 4]" */
static char *shape_text(int dimensions, const int64_t *dims)
{
    GString *text = g_string_new("[");
    for (int i = 0; i < dimensions; i++)
        g_string_append_printf(text, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "", dims[i]);
    return g_string_free(g_string_append_c(text, ']'), FALSE);
}

/* A vector has one dimension, or two of which the first is 1. */
static bool check_shape(const xlm_safetensor *t, int64_t rows, int64_t cols, GError **error)
{
    if ((t->dimensions == 2 && t->dims[0] == rows && t->dims[1] == cols) ||
        (t->dimensions == 1 && rows == 1 && t->dims[0] == cols))
        return true;
    g_autofree char *there = shape_text(t->dimensions, t->dims), *wanted = shape_text(rows == 1 ? 1 : 2,
                                                                                      (int64_t[]){rows == 1 ? cols : rows, cols});
    return xlm_error_set(error, EX_DATAERR, "%s: tensor \"%s\" is %s, and config.json makes it %s",
                         t->file, t->name, there, wanted);
}

/* ---- what the model is ---- */

static bool read_config(importer *im, GError **error)
{
    g_autofree char *path = g_build_filename(im->directory, "config.json", NULL), *bytes = NULL;
    size_t size;
    if ((bytes = xlm_fields_load(path, &size, error)) == NULL)
        return false;
    const bool good = xlm_foreign_config_parse(path, bytes, size, &im->config, error);
    im->json = good ? json_loadb(bytes, size, 0, NULL) : NULL;
    return good;
}

/* Are there names with the prefix, or without? */
static bool find_prefix(importer *im, GError **error)
{
    const char *word = "embeddings/word/weight";
    g_autofree char *name = xlm_architecture_tensor(im->config.architecture, true, word, NULL);
    im->bare = xlm_safetensors_find(im->tensors, name) != NULL;
    return find_parameter(im, word) != NULL || lacks(im, word, error);
}

/* Is it a model of a task, whose head may have tensors of the names that those of the head for words have? */
static bool is_of_task(const importer *im)
{
    const char *name = json_string_value(json_array_get(json_object_get(im->json, "architectures"), 0));
    return name != NULL && strstr(name, "For") != NULL && !g_str_has_suffix(name, im->config.architecture->words_ending);
}

/* A model without any tensor of the head for words has no head; nor has one of a task that has no bias of words. */
static void find_head(importer *im)
{
    const xlm_architecture *a = im->config.architecture;
    bool found = xlm_safetensors_find(im->tensors, a->decoder) != NULL;
    if (a->has_decoder) {
        im->config.model.output_bias = find_parameter(im, "lm_head/bias") != NULL;
        return;
    }
    for (const xlm_tensor_name *n = a->head; n->ours != NULL && !found; n++) {
        g_autofree char *weight = g_strconcat(n->theirs, ".weight", NULL), *bias = g_strconcat(n->theirs, ".bias", NULL);
        found = xlm_safetensors_find(im->tensors, weight) != NULL || xlm_safetensors_find(im->tensors, bias) != NULL;
    }
    if (!found || (is_of_task(im) && find_parameter(im, "lm_head/bias") == NULL))
        im->config.model.head = XLM_HEAD_NONE;
}

/* Leave only languages that the vocabulary has, and of those of training each once. */
static void keep_known_languages(const xlm_vocabulary *vocabulary, xlm_model_task *task)
{
    GPtrArray *known = g_ptr_array_new();
    if (xlm_vocabulary_find_language(vocabulary, task->language) < 0)
        *task->language = '\0';
    for (char **name = task->languages; name != NULL && *name != NULL; name++)
        if (xlm_vocabulary_find_language(vocabulary, *name) >= 0 &&
            !g_ptr_array_find_with_equal_func(known, *name, g_str_equal, NULL))
            g_ptr_array_add(known, g_strdup(*name));
    const bool any = known->len > 0;
    if (any)
        g_ptr_array_add(known, NULL);
    g_strfreev(task->languages);
    task->languages = (char **)g_ptr_array_free(known, !any);
}

/* Find the head of a task, if ours computes the same; otherwise it is left out, and the log says so. tokenizer: its directory, or
 * file. */
static void find_task(importer *im, const char *tokenizer)
{
    const char *name = json_string_value(json_array_get(json_object_get(im->json, "architectures"), 0));
    const xlm_task_head *head = xlm_task_head_of_class(im->config.architecture, name);
    if (head == NULL)
        return;
    g_autofree char *out = g_strconcat(head->out, ".weight", NULL);
    const xlm_safetensor *t = xlm_safetensors_find(im->tensors, out);
    const int64_t classes = t != NULL && t->dimensions == 2 ? CLAMP(t->dims[0], 0, G_MAXINT32 / 4) : 0;
    g_autoptr(GError) why = NULL;
    if (classes > 0)
        im->task = xlm_task_head_read(head, im->json, im->directory, classes, im->config.model.positions,
                                      xlm_published_pair_form(tokenizer, im->vocabulary).separators, &why);
    if (im->task != NULL) {
        im->head = head;
        keep_known_languages(im->vocabulary, im->task);
        if (!head->bias && find_ending(im, head->out, ".bias") != NULL)
            xlm_log_info("%s: %s.bias is left out: it changes no answer", im->directory, head->out);
    } else {
        xlm_log_warn("%s: the head of %s is left out: %s", im->directory, name,
                     why != NULL ? why->message : "it has no weights");
    }
}

static bool find_threshold(importer *im, GError **error)
{
    g_autofree char *path = g_build_filename(im->directory, "config.json", NULL);
    return !xlm_task_head_is_of_answers(im->head) || xlm_task_head_read_threshold(im->json, path, &im->null_threshold, error);
}

static bool check_config(importer *im, const xlm_convert_options *options, GError **error)
{
    g_autoptr(GError) why = NULL;
    if (!xlm_model_check(&im->config.model, &why))
        return xlm_error_set(error, EX_DATAERR, "%s%sconfig.json: %s", im->directory, G_DIR_SEPARATOR_S, why->message);
    const int64_t n = options->languages != NULL ? g_strv_length(options->languages) : im->config.model.languages;
    return !im->config.model.language_embeddings || n == im->config.model.languages ||
           xlm_error_set(error, EX_USAGE, "--languages: %" G_GINT64_FORMAT " names; the model has embeddings of %"
                         G_GINT64_FORMAT " languages", n, im->config.model.languages);
}

/* Do config.json and the tokenizer mean the same by the tokens around texts? */
static bool check_ids(const importer *im, GError **error)
{
    static const struct {
        const char *key;
        xlm_special special;
    } keys[] = {{"pad_token_id", XLM_PAD}, {"eos_token_id", XLM_EOS}, {"decoder_start_token_id", XLM_BOS}};
    g_autofree char *path = g_build_filename(im->directory, "config.json", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        const int32_t own = xlm_vocabulary_special(im->vocabulary, keys[i].special);
        int64_t id;
        if (!xlm_config_int(im->json, path, keys[i].key, own, &id, error))
            return false;
        if (id != own)
            return xlm_config_refuse(path, keys[i].key, error, "is %" G_GINT64_FORMAT ", and the tokenizer has %s for it, of id %d",
                                     id, xlm_vocabulary_words(im->vocabulary)[own], own);
    }
    return true;
}

static bool take_vocabulary(importer *im, const xlm_convert_options *options, GError **error)
{
    const xlm_model_config *m = &im->config.model;
    im->vocabulary = xlm_foreign_vocabulary_read(im->directory, options, m->vocabulary, m->language_embeddings ? m->languages : 0,
                                                 im->config.languages, error);
    if (im->vocabulary == NULL)
        return false;
    im->config.model.languages = xlm_vocabulary_languages(im->vocabulary);
    if (im->config.architecture->has_decoder && strcmp(im->config.architecture->model_type, "m2m_100") == 0 &&
        xlm_vocabulary_language_form(im->vocabulary) == NULL)
        xlm_log_warn("%s: the tokenizer names no tokens of languages, by which published models of this kind are told into which "
                     "one to translate", im->directory);
    return !im->config.architecture->has_decoder || check_ids(im, error);
}

/* A tokenizer as that of XLM-R gives all tokens of two texts the type 0, whatever types the model has (multilingual MiniLM and E5);
 * here the second text has type 1. So the type that is used is added to all positions, as that of models with one. Models that were
 * trained or fine-tuned here have learned both. */
static void choose_types(importer *im, const char *tokenizer)
{
    g_autofree char *own = g_build_filename(tokenizer, XLM_CONVERT_VOCABULARY, NULL);
    im->type_rows = im->config.token_types;
    if (im->config.token_types != 2 || g_file_test(own, G_FILE_TEST_EXISTS) || xlm_task_head_is_ours(im->json) ||
        xlm_published_pair_form(tokenizer, im->vocabulary).second_type != 0)
        return;
    xlm_log_info("%s: the tokenizer gives all tokens the type 0; the other type is left out", im->directory);
    im->config.token_types = 1;
    im->config.model.token_types = false;
}

/* ---- every tensor has its place ---- */

/* The number of rows that a parameter has there: for subwords, there may be fewer than ours. */
static int64_t rows_there(const importer *im, const xlm_parameter *p)
{
    return strcmp(p->name, "embeddings/word/weight") == 0 ? im->config.model.vocabulary : p->rows;
}

static int64_t cols_there(const importer *im, const xlm_parameter *p)
{
    return strcmp(p->name, "lm_head/bias") == 0 ? im->config.model.vocabulary : p->cols;
}

static bool find_all(importer *im, GError **error)
{
    const int n = xlm_parameters_count(im->parameters);
    im->sources = g_new0(source, n);
    for (int i = 0; i < n; i++) {
        const xlm_parameter *p = xlm_parameters_get(im->parameters, i);
        source *s = &im->sources[i];
        g_free(name_of(im, p->name, &s->part));
        if ((s->tensor = find_parameter(im, p->name)) == NULL)
            return lacks(im, p->name, error);
        const int64_t rows = rows_there(im, p) * (p->rows > 1 ? s->part.of : 1);
        if (!check_shape(s->tensor, rows, cols_there(im, p) * (p->rows > 1 ? 1 : s->part.of), error))
            return false;
    }
    return true;
}

/* Do two tensors of one model have the same values? */
static bool compare(const importer *im, const xlm_safetensor *a, const xlm_safetensor *b, GError **error)
{
    g_autofree float *values = g_new(float, 2 * XLM_CONVERT_BLOCK);
    bool good = true, same = a->elements == b->elements;
    for (int64_t at = 0; at < a->elements && same && good; at += XLM_CONVERT_BLOCK) {
        const int64_t n = MIN(XLM_CONVERT_BLOCK, a->elements - at);
        good = xlm_safetensors_read(a, at, n, values, error) &&
               xlm_safetensors_read(b, at, n, values + XLM_CONVERT_BLOCK, error);
        for (int64_t i = 0; i < n && good && same; i++)
            same = values[i] == values[XLM_CONVERT_BLOCK + i];
    }
    if (good && !same)
        good = xlm_error_set(error, EX_DATAERR, "%s: tensors \"%s\" and \"%s\" differ; a decoder that is not tied to the word "
                             "embeddings is not known here", im->directory, a->name, b->name);
    return good;
}

static bool check_copies(importer *im, GError **error)
{
    const xlm_safetensor *own = find_parameter(im, "embeddings/word/weight"), *there;
    bool good = true;
    for (int i = 0; good && find_tied(im, i, &there); i++)
        good = there == NULL || there == own || compare(im, own, there, error);
    return good;
}

static bool check_tied(importer *im, const char *parameter, const char *ending, GError **error)
{
    const xlm_safetensor *own = find_parameter(im, parameter), *there = find_ending(im, im->config.architecture->decoder, ending);
    if (im->config.model.head == XLM_HEAD_NONE || there == NULL || own == there)
        return true;
    return own != NULL ? compare(im, own, there, error)
                       : xlm_error_set(error, EX_DATAERR, "%s: tensor \"%s\" is not one of a %s model", im->directory, there->name,
                                       im->config.architecture->model_type);
}

/* All values of a required tensor of rows x cols. g_free. */
static float *read_whole(importer *im, const char *parameter, int64_t rows, int64_t cols, GError **error)
{
    const xlm_safetensor *t = find_parameter(im, parameter);
    if (t == NULL)
        lacks(im, parameter, error);
    if (t == NULL || !check_shape(t, rows, cols, error))
        return NULL;
    float *values = g_new(float, (gsize)(rows * cols));
    if (!xlm_safetensors_read(t, 0, rows * cols, values, error))
        g_clear_pointer(&values, g_free);
    return values;
}

/* Our models have no mapping from embeddings to hidden states of the same width, so such a mapping must change nothing. */
static bool check_mapping(importer *im, GError **error)
{
    const int64_t d = im->config.model.hidden_size;
    if (!im->config.mapping || im->config.model.embedding_size != d)
        return true;
    g_autofree float *weight = read_whole(im, "embeddings/projection/weight", d, d, error);
    g_autofree float *bias = weight != NULL ? read_whole(im, "embeddings/projection/bias", 1, d, error) : NULL;
    const bool read = bias != NULL;
    bool good = read;
    for (int64_t i = 0; i < d * d && good; i++)
        good = weight[i] == (i % (d + 1) == 0) && bias[i / d] == 0;
    if (read && !good)
        xlm_error_set(error, EX_DATAERR, "%s: embedding_size = hidden_size = %" G_GINT64_FORMAT ", and embeddings are projected "
                      "all the same, which is not known here", im->directory, d);
    return good;
}

/* How far the numbers of a type can be from sines: by rounding in ours, which may be of another library, and in theirs. */
static double tolerance_of(const xlm_safetensor *t)
{
    return strcmp(t->type, "BF16") == 0 ? 4e-3 : strcmp(t->type, "F16") == 0 ? 5e-4 : 1e-4;
}

/* If positions are sinusoids, a table of them must have these values. */
static bool check_sinusoids(importer *im, GError **error)
{
    static const char parameter[] = "embeddings/position/weight";
    const xlm_model_config *m = &im->config.model;
    const int64_t rows = m->positions, d = m->embedding_size;
    const xlm_safetensor *t = find_parameter(im, parameter);
    if (!xlm_model_has_sinusoids(m) || t == NULL)
        return true;
    g_autofree float *values = read_whole(im, parameter, rows, d, error);
    bool good = values != NULL, same = true;
    for (int64_t i = 0; i < rows * d && good && same; i++)
        same = fabs(values[i] - xlm_sinusoid(m->position_type, i / d, i % d, d)) < tolerance_of(t);
    return good && (same || xlm_error_set(error, EX_DATAERR, "%s: config.json says that positions are sinusoids, and the tensor "
                                          "has others", im->directory));
}

static bool check_types(importer *im, GError **error)
{
    static const char parameter[] = "embeddings/token_type/weight";
    if (im->config.token_types != 1)
        return true;
    im->types = find_parameter(im, parameter);
    return im->types != NULL ? check_shape(im->types, im->type_rows, im->config.model.embedding_size, error)
                             : lacks(im, parameter, error);
}

/* The part after the prefix of a name that the encoder of the model could have. NULL: it could not. */
static const char *rest_of(const importer *im, const char *name)
{
    const xlm_architecture *a = im->config.architecture;
    if (!im->bare)
        return g_str_has_prefix(name, a->prefix) ? name + strlen(a->prefix) : NULL;
    if (xlm_architecture_is_unused(a, name))
        return name;
    for (const xlm_tensor_name *n = a->body; n->ours != NULL; n++) /* in a bare model, if the first part is the same */
        if (strncmp(name, n->theirs, strcspn(n->theirs, ".#")) == 0)
            return name;
    return NULL;
}

/* Check the tensors that become none of our parameters: buffers, heads of tasks and poolers are left out; anything else would be
 * lost. */
static bool check_others(const importer *im, GError **error)
{
    g_autoptr(GPtrArray) left = g_ptr_array_new();
    bool good = true;
    for (int64_t i = 0; i < xlm_safetensors_count(im->tensors) && good; i++) {
        const xlm_safetensor *t = xlm_safetensors_get(im->tensors, i);
        if (g_hash_table_contains(im->used, t) || g_str_has_suffix(t->name, "_ids"))
            continue;
        const char *rest = rest_of(im, t->name);
        good = rest == NULL || xlm_architecture_is_unused(im->config.architecture, rest) ||
               xlm_error_set(error, EX_DATAERR, "%s: tensor \"%s\" is not one of a %s model of %" G_GINT64_FORMAT " layers as in "
                             "config.json", t->file, t->name, im->config.architecture->model_type,
                             im->config.model.layers);
        g_ptr_array_add(left, (char *)(uintptr_t)t->name);
    }
    g_ptr_array_add(left, NULL);
    g_autofree char *names = xlm_names_some((char *const *)left->pdata);
    if (good && left->len > 1)
        xlm_log_info("%s: left out, since our models have no such parameters: %s", im->directory, names);
    return good;
}

/* Declare our parameters, which takes no memory for values. */
static void declare(importer *im)
{
    xlm_model_config config = im->config.model;
    config.vocabulary = xlm_vocabulary_size(im->vocabulary);
    im->parameters = xlm_parameters_new();
    im->model = xlm_model_new(&config, im->parameters);
    if (im->head != NULL)
        xlm_task_head_declare(im->head, im->parameters, im->head->labels ? g_strv_length(im->task->labels) : 2, &config);
}

/* ---- writing ---- */

/* The bias of a subword that the model has no row for, so that nothing of the probability goes to it in float32. */
static const float NEVER = -30;

/* Elements [first, first + n) of a parameter; those of subwords that the model has no rows for are `missing`. types: the row of
 * the one type of tokens, which is added to each row of positions; or NULL. */
static bool read_block(const source *s, float missing, const float *types, int64_t width, int64_t first, int64_t n, float *values,
                       GError **error)
{
    const int64_t elements = s->tensor->elements / s->part.of, there = CLAMP(elements - first, 0, n);
    if (!xlm_safetensors_read(s->tensor, s->part.number * elements + first, there, values, error))
        return false;
    for (int64_t i = there; i < n; i++)
        values[i] = missing;
    for (int64_t i = 0; i < n && types != NULL; i++)
        if (types[(first + i) % width] != 0)
            values[i] += types[(first + i) % width];
    return true;
}

static bool write_parameter(const importer *im, xlm_store *store, int index, const float *types, float *block, GError **error)
{
    const xlm_parameter *p = xlm_parameters_get(im->parameters, index);
    const bool vector = p->rows == 1;
    const int64_t rows = vector ? p->cols : p->rows, width = vector ? 1 : p->cols, step = MAX(1, XLM_CONVERT_BLOCK / width);
    const uint64_t dims[2] = {(uint64_t)rows, (uint64_t)width};
    const float *added = strcmp(p->name, "embeddings/position/weight") == 0 ? types : NULL;
    const float missing = strcmp(p->name, "lm_head/bias") == 0 ? NEVER : 0;
    g_autofree char *path = xlm_parameter_path("/model", p);
    bool good = xlm_store_dataset(store, path, XLM_F32, vector ? 1 : 2, dims, XLM_STORE_CHECKED, error);
    for (int64_t row = 0; row < rows && good; row += step) {
        const int64_t n = MIN(step, rows - row);
        good = read_block(&im->sources[index], missing, added, p->cols, row * width, n * width, block, error) &&
               xlm_store_write(store, path, (uint64_t)row, (uint64_t)n, block, error);
    }
    return good;
}

/* Of the pairs that config.json names, those of languages that the vocabulary has; NULL: it names pairs, but none of these.
 * g_free. */
static char *known_translations(const char *translations, const xlm_vocabulary *vocabulary)
{
    g_auto(GStrv) names = g_strsplit(translations, ",", -1);
    g_autoptr(GString) known = g_string_new(NULL);
    for (char **name = names; *name != NULL; name++) {
        g_auto(GStrv) pair = g_strsplit(*name, "-", 2);
        if (xlm_vocabulary_find_language(vocabulary, pair[0]) >= 0 && xlm_vocabulary_find_language(vocabulary, pair[1]) >= 0)
            g_string_append_printf(known, "%s%s", known->len > 0 ? "," : "", *name);
    }
    return known->len > 0 || names[0] == NULL ? g_strdup(known->str) : NULL;
}

/* Models that were ours say what they translate, and tokenizers with a segmenter for each side (Marian); NULL: the others do not.
 * g_free. */
static char *translations_of(const importer *im)
{
    int target;
    const xlm_vocabulary *vocabulary = im->vocabulary;
    char *own = im->config.translations != NULL ? known_translations(im->config.translations, vocabulary) : NULL;
    if (own != NULL)
        return own;
    const char *const *names = xlm_vocabulary_language_names(vocabulary);
    return xlm_vocabulary_second_segmenter(vocabulary, &target) != NULL && xlm_vocabulary_languages(vocabulary) == 2
               ? g_strdup_printf("%s-%s", names[1 - target], names[target]) : NULL;
}

static bool write_content(const importer *im, xlm_store *store, GError **error)
{
    const int64_t width = im->config.model.embedding_size;
    g_autofree float *types = im->types != NULL ? g_new(float, (gsize)width) : NULL;
    if (types != NULL && !xlm_safetensors_read(im->types, 0, width, types, error))
        return false;
    int64_t widest = 1;
    for (int i = 0; i < xlm_parameters_count(im->parameters); i++)
        if (xlm_parameters_get(im->parameters, i)->rows > 1)
            widest = MAX(widest, xlm_parameters_get(im->parameters, i)->cols);
    g_autofree float *block = g_new(float, (gsize)MAX(XLM_CONVERT_BLOCK, widest));
    bool good = xlm_model_file_write_origin(store, NULL, XLM_MODEL_FILE_FORMAT, im->parameters, error) &&
                xlm_model_attributes_write(store, xlm_model_get_config(im->model), error);
    for (int i = 0; i < xlm_parameters_count(im->parameters) && good; i++)
        good = write_parameter(im, store, i, types, block, error);
    if (xlm_task_head_is_of_answers(im->head))
        good = good && xlm_store_write_array(store, "/objectives/answering", "null_threshold", XLM_F64, 1, &im->null_threshold,
                                             error);
    g_autofree char *translations = translations_of(im);
    return good && xlm_model_file_write_task(store, im->task, error) &&
           xlm_model_file_write_translations(store, translations, error) &&
           xlm_model_pair_form_write(store, im->config.pair_form, error) &&
           xlm_vocabulary_save(im->vocabulary, store, "/vocabulary", 0, error);
}

static bool write_file(const importer *im, const char *output, GError **error)
{
    xlm_store *store = xlm_store_create(NULL, output, error);
    return xlm_store_end(store, store != NULL && write_content(im, store, error), error);
}

/* ---- all of it ---- */

static bool open_model(importer *im, const xlm_convert_options *options, GError **error)
{
    if ((im->tensors = xlm_safetensors_open(im->directory, error)) == NULL || !read_config(im, error) || !find_prefix(im, error))
        return false;
    find_head(im);
    /* The vocabulary gets a subword for each row of the word embeddings, so there must be as many. */
    if (!check_config(im, options, error) ||
        !check_shape(find_parameter(im, "embeddings/word/weight"), im->config.model.vocabulary, im->config.model.embedding_size,
                     error) ||
        !take_vocabulary(im, options, error))
        return false;
    const char *tokenizer = options->tokenizer != NULL ? options->tokenizer : im->directory;
    choose_types(im, tokenizer);
    find_task(im, tokenizer);
    declare(im);
    return find_threshold(im, error) && find_all(im, error) && check_tied(im, "embeddings/word/weight", ".weight", error) &&
           check_tied(im, "lm_head/bias", ".bias", error) && check_copies(im, error) && check_types(im, error) &&
           check_mapping(im, error) && check_sinusoids(im, error) && check_others(im, error);
}

static bool ends_in(const char *path, const char *const *endings)
{
    while (*endings != NULL && !g_str_has_suffix(path, *endings))
        endings++;
    return *endings != NULL;
}

static const char *const pickled[] = {".bin", ".pth", ".pt", ".ckpt", ".pkl", NULL};
static const char *const parts[] = {".safetensors", ".json", "/", NULL};

bool xlm_convert_is_theirs(const char *path)
{
    return g_file_test(path, G_FILE_TEST_IS_DIR) || ends_in(path, pickled) || ends_in(path, parts);
}

static bool check_directory(const char *path, GError **error)
{
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
        return true;
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return xlm_error_set(error, EX_NOINPUT, "%s: there is no such directory", path);
    if (ends_in(path, pickled))
        return xlm_error_set(error, EX_DATAERR, "%s: a pickled file, which can run any program and is not read; convert it to a "
                             "directory with model.safetensors first (save_pretrained of transformers does)", path);
    return xlm_error_set(error, EX_DATAERR, "%s: a published model is a directory; give that, not a file of it", path);
}

bool xlm_convert_import(const char *directory, const xlm_convert_options *options, const char *output, GError **error)
{
    if (!check_directory(directory, error))
        return false;
    importer im = {.directory = directory, .used = g_hash_table_new(NULL, NULL)};
    const bool good = open_model(&im, options, error) && write_file(&im, output, error);
    g_free(im.sources);
    json_decref(im.json);
    xlm_model_task_free(im.task);
    xlm_model_free(im.model);
    xlm_parameters_free(im.parameters);
    xlm_vocabulary_free(im.vocabulary);
    g_hash_table_unref(im.used);
    xlm_safetensors_close(im.tensors);
    xlm_foreign_config_clear(&im.config);
    return good;
}
