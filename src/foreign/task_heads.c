/* xlm-mpi: heads of tasks, in models of other programs. SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreign/task_heads.h"

#include <math.h>
#include <string.h>

#include "base/log.h"

#define TAGS "ForTokenClassification"
#define CLASSES "ForSequenceClassification"
#define ANSWERS "ForQuestionAnswering"
static const char MEAN[] = "pooling = mean", TWO[] = "separators = 2"; /* among the options of a task */
#define HEADS(type, pooler, pooler_in_body, classes)                                       \
    {type, "tagging", TAGS, NULL, NULL, false, "classifier", true, true},                  \
    {type, "classification", CLASSES, pooler, NULL, pooler_in_body, classes, true, true}, \
    {type, "answering", ANSWERS, NULL, NULL, false, "qa_outputs", false, false}

static const xlm_task_head table[] = {
    HEADS("bert", "pooler.dense", true, "classifier"),
    HEADS("albert", "pooler", true, "classifier"),
    HEADS("roberta", "classifier.dense", false, "classifier.out_proj"),
    HEADS("xlm-roberta", "classifier.dense", false, "classifier.out_proj"),
    HEADS("xlm-roberta-xl", "classifier.dense", false, "classifier.out_proj"),
    HEADS("xlm", NULL, false, "sequence_summary.summary"),
    {"xlm", "answering", "ForQuestionAnsweringSimple", NULL, NULL, false, "qa_outputs", false, false},
    {"modernbert", "tagging", TAGS, "head.dense", "head.norm", false, "classifier", true, true},
    {"modernbert", "classification", CLASSES, "head.dense", "head.norm", false, "classifier", true, true},
    {"modernbert", "answering", ANSWERS, "head.dense", "head.norm", false, "classifier", false, false},
};

/* In XLM, ...ForQuestionAnswering is another head, which searches for the end of an answer by its beginning. */
static bool is_other(const xlm_task_head *head)
{
    return strcmp(head->model_type, "xlm") == 0 && strcmp(head->ending, ANSWERS) == 0;
}

const xlm_task_head *xlm_task_head_of_class(const xlm_architecture *a, const char *class_name)
{
    if (class_name == NULL || !g_str_has_prefix(class_name, a->class_name))
        return NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
        if (strcmp(table[i].model_type, a->model_type) == 0 && !is_other(&table[i]) &&
            strcmp(class_name + strlen(a->class_name), table[i].ending) == 0)
            return &table[i];
    return NULL;
}

static bool has_option(const char *options, const char *option)
{
    g_auto(GStrv) lines = g_strsplit(options, "\n", -1);
    return g_strv_contains((const char *const *)lines, option);
}

/* Does the task read the mean of all tokens? Only the heads of ModernBERT may. */
static bool is_of_mean(const char *options) { return has_option(options, MEAN); }

const xlm_task_head *xlm_task_head_of_task(const xlm_architecture *a, const xlm_model_task *task, bool dense, bool norm)
{
    if (is_of_mean(task->options) && !norm)
        return NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
        if (strcmp(table[i].model_type, a->model_type) == 0 && !is_other(&table[i]) && strcmp(table[i].task, task->name) == 0 &&
            (table[i].dense != NULL) == dense && (table[i].norm != NULL) == norm)
            return &table[i];
    return NULL;
}

char *xlm_task_head_tensor(const xlm_task_head *head, const xlm_architecture *a, bool bare, const char *parameter)
{
    const char *leaf = strrchr(parameter, '/') + 1, *name = strchr(leaf, '_');
    const bool dense = g_str_has_prefix(leaf, "dense_"), norm = g_str_has_prefix(leaf, "norm_");
    return g_strconcat(dense && head->in_body && !bare ? a->prefix : "", dense ? head->dense : norm ? head->norm : head->out,
                       ".", name != NULL ? name + 1 : leaf, NULL);
}

static void add(const xlm_task_head *head, const char *name, int64_t rows, int64_t cols, xlm_parameters *parameters)
{
    g_autofree char *whole = g_strdup_printf("objectives/%s/%s", head->task, name);
    xlm_parameters_add(parameters, whole, rows, cols, XLM_INIT_NORMAL, true);
}

void xlm_task_head_declare(const xlm_task_head *head, xlm_parameters *parameters, int64_t classes, const xlm_model_config *c)
{
    const int64_t d = c->hidden_size;
    if (head->dense != NULL)
        add(head, "dense_weight", d, d, parameters);
    if (head->dense != NULL && (head->norm == NULL || c->linear_biases))
        add(head, "dense_bias", 1, d, parameters);
    if (head->norm != NULL)
        add(head, "norm_weight", 1, d, parameters);
    if (head->norm != NULL && c->norm_biases)
        add(head, "norm_bias", 1, d, parameters);
    add(head, "weight", classes, d, parameters);
    if (head->bias)
        add(head, "bias", 1, classes, parameters);
}

/* ---- config.json ---- */

/* {"language": ..., "languages": [...], "length": ..., "options": ...}, of a model that was ours; "languages" only if they are
 * known; for answering also "null_threshold" */
static const char OURS[] = "xlm_mpi_task";
static const char THRESHOLD[] = "null_threshold"; /* a number; "inf" or "-inf", which JSON has no numbers for */

static const char POOLING[] = "classifier_pooling"; /* of ModernBERT's classifiers: "cls" or "mean" */

static bool may_pool(const xlm_task_head *head) { return head->norm != NULL && strcmp(head->task, "classification") == 0; }

/* The form of the head, and the separators of the tokenizer, for a task whose sequences may have two texts. */
static char *usual_options(const xlm_task_head *head, const json_t *json, int separators)
{
    const bool two = separators == 2 && strcmp(head->task, "tagging") != 0;
    const bool mean = may_pool(head) && g_strcmp0(json_string_value(json_object_get(json, POOLING)), "mean") == 0;
    return g_strconcat(head->norm != NULL    ? "head = dense_norm\n"
                       : head->dense != NULL ? "head = dense\n"
                                             : "", mean ? MEAN : "", mean ? "\n" : "", two ? TWO : "", two ? "\n" : "", NULL);
}

static bool read_labels(const xlm_task_head *head, const json_t *json, const char *path, int64_t classes, xlm_model_task *task,
                        GError **error)
{
    const json_t *names = json_object_get(json, "id2label");
    const size_t n = !head->labels ? 0 : json_is_object(names) ? json_object_size(names) : (size_t)classes;
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    bool good = !head->labels || n >= 2;
    task->labels = g_new0(char *, n + 1);
    for (size_t i = 0; i < n && good; i++) {
        g_autofree char *number = g_strdup_printf("%zu", i), *usual = g_strdup_printf("LABEL_%zu", i);
        const char *name = json_is_object(names) ? json_string_value(json_object_get(names, number)) : usual;
        task->labels[i] = g_strdup(name);
        good = name != NULL && *name != '\0' && g_hash_table_add(seen, task->labels[i]);
    }
    return good || xlm_config_refuse(path, "id2label", error, "does not name two classes or more from \"0\" on, each its own");
}

static bool check_pooling(const json_t *json, const char *path, GError **error)
{
    const char *pooling = xlm_config_text(json, path, POOLING, "cls", error);
    if (pooling == NULL || strcmp(pooling, "cls") == 0 || strcmp(pooling, "mean") == 0)
        return pooling != NULL;
    return xlm_config_refuse(path, POOLING, error, "is \"%s\"; known here are \"cls\" and \"mean\"", pooling);
}

/* Is the one vector of a sequence one that our heads read, and are their layers the only ones? */
static bool check_head(const xlm_task_head *head, const json_t *json, const char *path, GError **error)
{
    static const char one_label[] = "single_label_classification";
    const char *problem = xlm_config_text(json, path, "problem_type", one_label, error), *summary, *activation;
    if (problem == NULL)
        return false;
    if (strcmp(head->task, "classification") == 0 && strcmp(problem, one_label) != 0)
        return xlm_config_refuse(path, "problem_type", error, "is \"%s\"; known here is \"%s\"", problem, one_label);
    if (may_pool(head))
        return check_pooling(json, path, error);
    if (strcmp(head->model_type, "xlm") != 0 || strcmp(head->task, "classification") != 0)
        return true;
    if ((summary = xlm_config_text(json, path, "summary_type", "first", error)) == NULL ||
        (activation = xlm_config_text(json, path, "summary_activation", "none", error)) == NULL)
        return false;
    return (strcmp(summary, "first") == 0 && strcmp(activation, "none") == 0) ||
           xlm_config_refuse(path, "summary_type", error, "is \"%s\", with the activation \"%s\"; known here is \"first\" "
                             "without", summary, activation);
}

static char *own_text(const json_t *json, const char *key)
{
    return g_strdup(json_string_value(json_object_get(json_object_get(json, OURS), key)));
}

/* The texts of the array "languages". g_strfreev. NULL: there are none. */
static char **own_languages(const json_t *json)
{
    const json_t *names = json_object_get(json_object_get(json, OURS), "languages"), *name;
    GPtrArray *texts = g_ptr_array_new();
    size_t i;
    json_array_foreach (names, i, name)
        if (json_is_string(name))
            g_ptr_array_add(texts, g_strdup(json_string_value(name)));
    const bool any = texts->len > 0;
    if (any)
        g_ptr_array_add(texts, NULL);
    return (char **)g_ptr_array_free(texts, !any);
}

xlm_model_task *xlm_task_head_read(const xlm_task_head *head, const json_t *json, const char *path, int64_t classes,
                                   int64_t length, int separators, GError **error)
{
    const json_t *own = json_object_get(json_object_get(json, OURS), "length");
    xlm_model_task *task = g_new0(xlm_model_task, 1);
    task->name = g_strdup(head->task);
    task->length = json_is_integer(own) ? CLAMP(json_integer_value(own), 3, length) : length;
    if ((task->language = own_text(json, "language")) == NULL)
        task->language = g_strdup("");
    task->languages = own_languages(json);
    const json_t *sentences = json_object_get(json_object_get(json, OURS), "sentences");
    task->sentences = json_is_integer(sentences) ? CLAMP(json_integer_value(sentences), 0, 2) : 0;
    if ((task->options = own_text(json, "options")) == NULL)
        task->options = usual_options(head, json, separators);
    if (check_head(head, json, path, error) && read_labels(head, json, path, classes, task, error))
        return task;
    xlm_model_task_free(task);
    return NULL;
}

static json_t *array_of(char *const *texts)
{
    json_t *array = json_array();
    for (; *texts != NULL; texts++)
        json_array_append_new(array, json_string(*texts));
    return array;
}

void xlm_task_head_write(const xlm_task_head *head, const xlm_model_task *task, json_t *json)
{
    json_auto_t *names = json_object(), *ids = json_object();
    for (int i = 0; head->labels && task->labels[i] != NULL; i++) {
        char number[16];
        g_snprintf(number, sizeof number, "%d", i);
        json_object_set_new(names, number, json_string(task->labels[i]));
        json_object_set_new(ids, task->labels[i], json_integer(i));
    }
    if (head->labels) {
        json_object_set(json, "id2label", names);
        json_object_set(json, "label2id", ids);
    }
    if (strcmp(head->task, "classification") == 0)
        json_object_set_new(json, "problem_type", json_string("single_label_classification"));
    if (may_pool(head))
        json_object_set_new(json, POOLING, json_string(is_of_mean(task->options) ? "mean" : "cls"));
    if (strcmp(head->model_type, "xlm") == 0 && strcmp(head->task, "classification") == 0) {
        json_object_set_new(json, "summary_type", json_string("first"));
        json_object_set_new(json, "summary_use_proj", json_true());
        json_object_set_new(json, "summary_activation", json_null());
        json_object_set_new(json, "summary_proj_to_labels", json_true());
    }
    json_object_set_new(json, OURS, json_pack("{s:s, s:I, s:s}", "language", task->language, "length", (json_int_t)task->length,
                                              "options", task->options));
    if (task->sentences > 0)
        json_object_set_new(json_object_get(json, OURS), "sentences", json_integer(task->sentences));
    if (task->languages != NULL)
        json_object_set_new(json_object_get(json, OURS), "languages", array_of(task->languages));
}

bool xlm_task_head_is_ours(const json_t *json) { return json_object_get(json, OURS) != NULL; }

int xlm_task_head_separators(const xlm_model_task *task)
{
    return task == NULL || strcmp(task->name, "tagging") == 0 ? 0 : has_option(task->options, TWO) ? 2 : 1;
}

bool xlm_task_head_is_of_answers(const xlm_task_head *head) { return head != NULL && strcmp(head->task, "answering") == 0; }

void xlm_task_head_write_threshold(double threshold, json_t *json)
{
    json_object_set_new(json_object_get(json, OURS), THRESHOLD, isfinite(threshold) ? json_real(threshold)
                                                                : json_string(threshold > 0 ? "inf" : "-inf"));
}

bool xlm_task_head_read_threshold(const json_t *json, const char *path, double *threshold, GError **error)
{
    const json_t *found = json_object_get(json_object_get(json, OURS), THRESHOLD);
    const char *text = json_string_value(found);
    *threshold = json_is_number(found) ? json_number_value(found) : g_strcmp0(text, "-inf") == 0 ? -INFINITY : INFINITY;
    if (found == NULL)
        xlm_log_warn("%s: has no threshold for questions without an answer: every question gets an answer", path);
    return found == NULL || isfinite(*threshold) || g_strcmp0(text, "inf") == 0 || g_strcmp0(text, "-inf") == 0 ||
           xlm_config_refuse(path, THRESHOLD, error, "is neither a number nor \"inf\" or \"-inf\"");
}
