/* xlm-mpi: a model file of ours as a model of transformers. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "foreign/architecture.h"
#include "foreign/convert.h"
#include "foreign/foreign_vocabulary.h"
#include "foreign/model_card.h"
#include "foreign/new_directory.h"
#include "foreign/safetensors.h"
#include "foreign/task_heads.h"
#include "model/model_attributes.h"
#include "model/model_file.h"
#include "model/row_sources.h"

/* Where the values of a tensor come from. */
typedef enum { OF_PARAMETER, OF_ZEROS, OF_IDENTITY, OF_SINUSOIDS } origin;

typedef struct tensor {
    char *name;
    int dimensions;
    int64_t rows, cols; /* of a vector: 1, its elements */
    origin origin;
    const xlm_parameter *parameter[3]; /* below one another */
    int parts;     /* number of these, or 1 */
    int64_t first; /* row of the parameter, or position of the sinusoids, that is row 0 */
} tensor;

typedef struct exporter {
    const char *path;
    xlm_loaded_model *loaded;
    xlm_vocabulary *larger; /* with the subwords that transformers' tokenizer needs besides; NULL: it needs none */
    xlm_row_sources *sources; /* of the rows of these */
    xlm_foreign_config config;
    json_t *json;
    GArray *tensors; /* of tensor */
    char *class_name;
    const xlm_task_head *head; /* of the task that it was fine-tuned for; NULL: none, or it is left out */
    double null_threshold; /* of a head for answers */
    GString *notes; /* for the model card */
} exporter;

/* ---- which tensors ---- */

static void free_tensor(void *pointer) { g_free(((tensor *)pointer)->name); }

static tensor *find_tensor(const exporter *ex, const char *name)
{
    guint i = ex->tensors->len;
    while (i > 0 && strcmp(g_array_index(ex->tensors, tensor, i - 1).name, name) != 0)
        i--;
    g_assert(i > 0);
    return &g_array_index(ex->tensors, tensor, i - 1);
}

/* Add a tensor, or a parameter to a tensor that has several. name: of one of our parameters, which need not exist. */
static void add(exporter *ex, const char *name, bool matrix, int64_t rows, int64_t cols, origin from,
                const xlm_parameter *parameter, int64_t first)
{
    xlm_tensor_part part;
    char *theirs = xlm_architecture_tensor(ex->config.architecture, false, name, &part);
    if (theirs == NULL)
        theirs = xlm_task_head_tensor(ex->head, ex->config.architecture, false, name);
    if (part.number > 0) { /* the first part has been declared before it */
        find_tensor(ex, theirs)->parameter[part.number] = parameter;
        g_free(theirs);
        return;
    }
    const tensor t = {theirs, matrix ? 2 : 1, matrix ? rows * part.of : rows, matrix ? cols : cols * part.of, from, {parameter},
                      part.of, first};
    g_array_append_val(ex->tensors, t);
}

/* The number of our first rows of positions, which no token reads, that their table does not have. */
static int64_t rows_left_out(const exporter *ex)
{
    const xlm_model_config *m = &ex->config.model;
    return m->positions + m->position_offset - json_integer_value(json_object_get(ex->json, "max_position_embeddings"));
}

/* Has the head of the task the names of the head for words? Then that one is left out. */
static bool hides_words(const exporter *ex) { return ex->head != NULL && ex->head->norm != NULL; }

static bool is_of_words(const xlm_parameter *p) { return strcmp(p->name, "embeddings/word/weight") == 0; }
static bool is_bias_of_words(const xlm_parameter *p) { return strcmp(p->name, "lm_head/bias") == 0; }

static void add_parameter(exporter *ex, const xlm_parameter *p)
{
    const bool vector = g_str_has_suffix(p->name, "bias") || g_str_has_suffix(p->name, "layer_norm/weight") ||
                        g_str_has_suffix(p->name, "/norm_weight");
    const int64_t first = strcmp(p->name, "embeddings/position/weight") == 0 ? rows_left_out(ex) : 0;
    const int64_t rows = is_of_words(p) ? ex->config.model.vocabulary : p->rows - first;
    const bool row = is_bias_of_words(p) && ex->config.architecture->has_decoder; /* 1 x V there */
    add(ex, p->name, !vector || row, rows, is_bias_of_words(p) ? ex->config.model.vocabulary : p->cols, OF_PARAMETER, p, first);
}

/* Add tensors that their models have and ours do not. */
static void add_others(exporter *ex)
{
    const xlm_model_config *m = &ex->config.model;
    const int64_t d = m->hidden_size, e = m->embedding_size, first = rows_left_out(ex);
    if (m->position_type == XLM_POSITIONS_SINUSOIDAL)
        add(ex, "embeddings/position/weight", true, m->positions + m->position_offset - first, e, OF_SINUSOIDS, NULL, first);
    if (ex->config.token_types == 1)
        add(ex, "embeddings/token_type/weight", true, 1, e, OF_ZEROS, NULL, 0);
    if (ex->config.mapping && e == d) {
        add(ex, "embeddings/projection/weight", true, d, d, OF_IDENTITY, NULL, 0);
        add(ex, "embeddings/projection/bias", false, 1, d, OF_ZEROS, NULL, 0);
    }
    if (ex->head != NULL && !ex->head->bias)
        add(ex, "objectives/answering/bias", false, 1, 2, OF_ZEROS, NULL, 0);
}

static void list_tensors(exporter *ex)
{
    const xlm_parameters *p = ex->loaded->parameters;
    ex->tensors = g_array_new(FALSE, FALSE, sizeof(tensor));
    g_array_set_clear_func(ex->tensors, free_tensor);
    for (int i = 0; i < xlm_parameters_count(p); i++)
        if (!hides_words(ex) || !g_str_has_prefix(xlm_parameters_get(p, i)->name, "lm_head/"))
            add_parameter(ex, xlm_parameters_get(p, i));
    add_others(ex);
}

/* ---- values ---- */

/* The logits of subwords that the model does not have are lower by this than those of the subwords that they are made of: after
 * e^-30, nothing of them is left in float32, so all others are as probable as before. */
static const double NEVER_GUESSED = 30;

/* Read rows [row, row + n) of a parameter from the store; of a vector, n elements. */
static bool read_rows(const exporter *ex, const xlm_store *store, const xlm_parameter *p, int64_t row, int64_t n, float *values,
                      GError **error)
{
    g_autofree char *path = xlm_parameter_path("/model", p);
    const int64_t elements = n * (p->rows == 1 ? 1 : p->cols);
    bool good = xlm_store_read(store, path, xlm_model_file_array(p), (uint64_t)row, (uint64_t)n, values, error);
    for (int64_t i = 0; i < elements && good; i++)
        if (!isfinite(values[i]))
            good = xlm_error_set(error, EX_DATAERR, "%s: %s: an element of row %" G_GINT64_FORMAT " is not finite; the run had "
                                 "gone astray, or the file is damaged", ex->path, path, row + i * n / elements);
    return good;
}

/* The row, or the element of a vector, for a subword that the model does not have: the mean over the subwords that its text is
 * cut into, or that of the unknown token if there are none. */
static bool read_mean(const exporter *ex, const xlm_store *store, const xlm_parameter *p, int64_t row, int64_t width,
                      float *values, GError **error)
{
    const int64_t n = ex->sources->first[row + 1] - ex->sources->first[row];
    const int32_t unknown = xlm_vocabulary_special(ex->loaded->vocabulary, XLM_UNK);
    const int32_t *source = n > 0 ? ex->sources->source + ex->sources->first[row] : &unknown;
    g_autofree double *sum = g_new0(double, (gsize)width);
    bool good = true;
    for (int64_t k = 0; k < MAX(n, 1) && good; k++) {
        good = read_rows(ex, store, p, source[k], 1, values, error);
        for (int64_t c = 0; c < width && good; c++)
            sum[c] += (double)values[c];
    }
    for (int64_t c = 0; c < width; c++)
        values[c] = (float)(sum[c] / (double)MAX(n, 1) - (is_bias_of_words(p) ? NEVER_GUESSED : 0));
    return good;
}

/* Rows [row, row + n) of a parameter, whose own rows are followed by those of subwords that the model does not have. */
static bool read_parameter(const exporter *ex, const xlm_store *store, const xlm_parameter *p, int64_t first, int64_t row,
                           int64_t n, int64_t width, float *values, GError **error)
{
    const bool words = ex->larger != NULL && (is_of_words(p) || is_bias_of_words(p));
    const int64_t own = words ? CLAMP(xlm_vocabulary_size(ex->loaded->vocabulary) - row, 0, n) : n;
    bool good = own == 0 || read_rows(ex, store, p, first + row, own, values, error);
    for (int64_t i = own; i < n && good; i++)
        good = read_mean(ex, store, p, row + i, width, values + i * width, error);
    return good;
}

/* Rows [row, row + n) of a tensor that no parameter has. */
static void make_rows(const tensor *t, int64_t row, int64_t n, float *values)
{
    memset(values, 0, sizeof *values * (size_t)(n * t->cols));
    for (int64_t i = 0; i < n * t->cols && t->origin == OF_SINUSOIDS; i++)
        values[i] = (float)xlm_sinusoid(XLM_POSITIONS_SINUSOIDAL, t->first + row + i / t->cols, i % t->cols, t->cols);
    for (int64_t r = 0; r < n && t->origin == OF_IDENTITY; r++)
        values[r * t->cols + row + r] = 1;
}

/* One of the parameters of a tensor; NULL: all of a tensor that has none. */
static bool write_part(const exporter *ex, const xlm_store *store, const tensor *t, const xlm_parameter *p,
                       xlm_safetensors_writer *writer, float *block, GError **error)
{
    /* A parameter of one row is a vector in our files, whose elements are its rows. */
    const bool vector = p != NULL && p->rows == 1;
    const int64_t rows = (vector ? t->cols : t->rows) / t->parts, width = vector ? 1 : t->cols;
    const int64_t step = MAX(1, XLM_CONVERT_BLOCK / width);
    bool good = true;
    for (int64_t row = 0; row < rows && good; row += step) {
        const int64_t n = MIN(step, rows - row);
        if (p != NULL)
            good = read_parameter(ex, store, p, t->first, row, n, width, block, error);
        else
            make_rows(t, row, n, block);
        good = good && xlm_safetensors_write(writer, block, n * width, error);
    }
    return good;
}

static bool write_tensor(const exporter *ex, const xlm_store *store, const tensor *t, xlm_safetensors_writer *writer,
                         float *block, GError **error)
{
    bool good = true;
    for (int part = 0; part < t->parts && good; part++)
        good = write_part(ex, store, t, t->parameter[part], writer, block, error);
    return good;
}

static bool write_all(const exporter *ex, const xlm_store *store, xlm_safetensors_writer *writer, GError **error)
{
    int64_t widest = XLM_CONVERT_BLOCK;
    for (guint i = 0; i < ex->tensors->len; i++)
        widest = MAX(widest, g_array_index(ex->tensors, tensor, i).cols);
    g_autofree float *block = g_new(float, (gsize)widest);
    bool good = true;
    for (guint i = 0; i < ex->tensors->len && good; i++)
        good = write_tensor(ex, store, &g_array_index(ex->tensors, tensor, i), writer, block, error);
    return good;
}

static bool write_tensors(const exporter *ex, const char *directory, GError **error)
{
    g_autoptr(xlm_store) store = xlm_store_open(ex->path, error);
    if (store == NULL)
        return false;
    const guint n = ex->tensors->len;
    g_autofree xlm_safetensor *heads = g_new0(xlm_safetensor, n);
    for (guint i = 0; i < n; i++) {
        const tensor *t = &g_array_index(ex->tensors, tensor, i);
        heads[i] = (xlm_safetensor){.name = t->name, .dimensions = t->dimensions, .elements = t->rows * t->cols};
        heads[i].dims[0] = t->dimensions == 1 ? t->cols : t->rows;
        heads[i].dims[1] = t->cols;
    }
    g_autofree char *path = g_build_filename(directory, "model.safetensors", NULL);
    xlm_safetensors_writer writer;
    if (!xlm_safetensors_create(&writer, path, heads, n, error))
        return false;
    if (write_all(ex, store, &writer, error))
        return xlm_safetensors_commit(&writer, error);
    xlm_safetensors_discard(&writer);
    return false;
}

/* ---- what the model is ---- */

/* Does the head of the task have this parameter? */
static bool has_part(const xlm_store *store, const xlm_model_task *task, const char *name)
{
    g_autofree char *path = g_strdup_printf("/objectives/%s/%s", task->name, name);
    return xlm_store_has(store, path);
}

/* The state of a head for answers. */
static bool read_threshold(exporter *ex, const xlm_store *store, GError **error)
{
    static const char path[] = "/objectives/answering/null_threshold";
    return xlm_store_read(store, path, (xlm_array){XLM_F64, 1, 0}, 0, 1, &ex->null_threshold, error) &&
           (!isnan(ex->null_threshold) || xlm_error_set(error, EX_DATAERR, "%s: %s is not a number", ex->path, path));
}

/* Find the head of the task, if theirs computes the same, and declare its parameters. */
static bool declare_task(exporter *ex, GError **error)
{
    const xlm_model_task *task = ex->loaded->task;
    if (task == NULL)
        return true;
    g_autoptr(xlm_store) store = xlm_store_open(ex->path, error);
    if (store == NULL)
        return false;
    ex->head = xlm_task_head_of_task(ex->config.architecture, task, has_part(store, task, "dense_weight"),
                                     has_part(store, task, "norm_weight"));
    const bool labels = ex->head != NULL && ex->head->labels;
    if (labels && !xlm_model_task_check_labels(task, ex->path, error))
        return false;
    if (ex->head != NULL)
        xlm_task_head_declare(ex->head, ex->loaded->parameters, labels ? g_strv_length(task->labels) : 2, &ex->loaded->config);
    return !xlm_task_head_is_of_answers(ex->head) || read_threshold(ex, store, error);
}

/* As xlm_search decodes: a text of max_length tokens ends with </s>, and <pad> is never written. Without the first, Marian's
 * class would end it with the id 0, that of </s> in published models. Without the second, <pad>, which is no target in training
 * and may have a high logit, could be written. */
static void describe_decoding(const exporter *ex)
{
    const xlm_vocabulary *v = ex->loaded->vocabulary;
    json_object_set_new(ex->json, "decoder_start_token_id", json_integer(xlm_vocabulary_special(v, XLM_BOS)));
    json_object_set_new(ex->json, "forced_eos_token_id", json_integer(xlm_vocabulary_special(v, XLM_EOS)));
    json_object_set_new(ex->json, "bad_words_ids", json_pack("[[I]]", (json_int_t)xlm_vocabulary_special(v, XLM_PAD)));
}

static void describe_tokens(const exporter *ex)
{
    static const char *const keys[XLM_SPECIAL_TOKENS] = {"bos", "pad", "eos", "unk", "mask"};
    const bool xlm = strcmp(ex->config.architecture->model_type, "xlm") == 0;
    for (int i = 0; i < XLM_SPECIAL_TOKENS; i++) {
        g_autofree char *index = g_strconcat(keys[i], "_index", NULL), *id = g_strconcat(keys[i], "_token_id", NULL);
        const json_int_t token = xlm_vocabulary_special(ex->loaded->vocabulary, (xlm_special)i);
        if (xlm)
            json_object_set_new(ex->json, index, json_integer(token));
        if (i == XLM_BOS || i == XLM_PAD || i == XLM_EOS)
            json_object_set_new(ex->json, id, json_integer(token));
    }
    if (ex->config.architecture->has_decoder)
        describe_decoding(ex);
}

static void describe(exporter *ex)
{
    const xlm_architecture *a = ex->config.architecture;
    ex->json = xlm_foreign_config_print(&ex->config);
    ex->class_name = g_strconcat(a->class_name, ex->head != NULL                         ? ex->head->ending
                                                : ex->config.model.head == XLM_HEAD_NONE ? "Model"
                                                                                         : a->words_ending, NULL);
    json_object_set_new(ex->json, "architectures", json_pack("[s]", ex->class_name));
    json_object_set_new(ex->json, "torch_dtype", json_string("float32"));
    describe_tokens(ex);
    if (ex->head != NULL)
        xlm_task_head_write(ex->head, ex->loaded->task, ex->json);
    if (xlm_task_head_is_of_answers(ex->head))
        xlm_task_head_write_threshold(ex->null_threshold, ex->json);
}

/* Say what is lost, in the log and in the model card. */
static void note_losses(exporter *ex)
{
    const xlm_model_config *m = &ex->config.model;
    if (ex->loaded->task != NULL && ex->head == NULL) {
        xlm_log_warn("%s: the parameters of the task %s are left out: %s of transformers has no such head", ex->path,
                     ex->loaded->task->name, ex->config.architecture->class_name);
        g_string_append_printf(ex->notes, "The model was fine-tuned for %s; the parameters of that task are not here.\n",
                               ex->loaded->task->name);
    }
    if (hides_words(ex) && m->head != XLM_HEAD_NONE) {
        xlm_log_warn("%s: the head for words is left out: %s has its tensors for the head of the task", ex->path, ex->class_name);
        g_string_append(ex->notes, "The head for words, which the model has too, is not here.\n");
    }
    if (rows_left_out(ex) > 0 && m->position_type == XLM_POSITIONS_LEARNED)
        xlm_log_info("the first %" G_GINT64_FORMAT " rows of positions, which no token reads, are left out", rows_left_out(ex));
    if (m->position_type == XLM_POSITIONS_SINUSOIDAL && !json_is_true(json_object_get(ex->json, "sinusoidal_embeddings")))
        xlm_log_info("sinusoids are written as a table of positions, which training in transformers would change");
}

static bool open_model(exporter *ex, GError **error)
{
    if ((ex->loaded = xlm_model_file_read_header(ex->path, error)) == NULL)
        return false;
    const xlm_vocabulary *v = ex->loaded->vocabulary;
    const int64_t pad = xlm_vocabulary_special(v, XLM_PAD);
    ex->config = (xlm_foreign_config){.model = ex->loaded->config, .pad = pad};
    GError *why = NULL;
    if ((ex->config.architecture = xlm_architecture_choose(&ex->config.model, pad, &why)) == NULL) {
        g_prefix_error(&why, "%s: ", ex->path);
        g_propagate_error(error, why);
        return false;
    }
    ex->config.languages = g_strdupv((char **)xlm_vocabulary_language_names(v));
    ex->config.pair_form = g_strdup(ex->loaded->pair_form);
    ex->config.translations = g_strdup(ex->loaded->translations);
    if (!xlm_foreign_vocabulary_complete(v, &ex->larger, error)) {
        g_prefix_error(error, "%s: ", ex->path);
        return false;
    }
    if (ex->larger != NULL) {
        ex->config.model.vocabulary = xlm_vocabulary_size(ex->larger);
        ex->sources = xlm_row_sources_of_subwords(v, ex->larger, true);
    }
    if (!declare_task(ex, error))
        return false;
    describe(ex);
    list_tensors(ex);
    note_losses(ex);
    return true;
}

/* ---- the directory ---- */

static bool write_files(void *data, const char *directory, GError **error)
{
    exporter *ex = data;
    if (!write_tensors(ex, directory, error) ||
        !xlm_foreign_vocabulary_write(ex->loaded->vocabulary, ex->larger, &ex->config.model,
                                      xlm_task_head_separators(ex->loaded->task), directory, ex->notes, error))
        return false;
    g_autofree char *tokenizer = g_build_filename(directory, "tokenizer_config.json", NULL);
    g_autofree char *card = xlm_foreign_model_card(ex->loaded, ex->class_name, g_file_test(tokenizer, G_FILE_TEST_EXISTS),
                                                   ex->notes->str);
    return xlm_foreign_write_text(directory, "README.md", card, error) &&
           xlm_foreign_write_json(directory, "config.json", json_incref(ex->json), error);
}

bool xlm_convert_export(const char *model, const char *output, GError **error)
{
    exporter ex = {.path = model, .notes = g_string_new(NULL)};
    const bool good = open_model(&ex, error) && xlm_new_directory_write(output, write_files, &ex, error);
    if (ex.tensors != NULL)
        g_array_unref(ex.tensors);
    json_decref(ex.json);
    xlm_row_sources_free(ex.sources);
    xlm_vocabulary_free(ex.larger);
    xlm_foreign_config_clear(&ex.config);
    xlm_model_file_free(ex.loaded);
    g_free(ex.class_name);
    g_string_free(ex.notes, TRUE);
    return good;
}
