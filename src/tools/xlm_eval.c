/* xlm-mpi: xlm_eval, how well a fine-tuned model does its task. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/options.h"
#include "tasks/predict.h"
#include "tasks/tune.h"
#include "tensor/hardware.h"
#include "text/fields.h"
#include "tools/program.h"
#include "objective/host.h"

static const xlm_program program = {
    .name = "xlm_eval",
    .arguments = "CHECKPOINT",
    .progress = true,
    .purpose = "Score a model that xlm_tune has made on files with labels, in the language of its training or, zero-shot, in "
               "another",
    .notes =
        "Files are read as xlm_tune reads them. A tag that the training files did not have counts as wrong, in all measures;\n"
        "how many words have such tags is shown as unseen_tags, with a warning.\n"
        "\n"
        "Without --language the files are taken for text of the language of training. Which language was taken is logged and\n"
        "stands in the tables; there is a warning when a file's name (es_gsd-ud-test.conllu) names another of the model's.\n"
        "\n"
        "Of tags: accuracy; F1 of each, their micro and macro average (the latter over tags that stand in the files or were\n"
        "predicted); and for BIO tags (O, B-PER, I-PER) F1 of whole spans, as conlleval counts them, while O does not count for\n"
        "the averages. The result does not depend on the number of ranks.\n"
        "\n"
        "Examples:\n"
        "  xlm_eval pos/best --test en_ewt-ud-test.conllu.gz\n"
        "  mpiexec -n 4 xlm_eval pos/best --test de_gsd-ud-test.conllu.gz --language de --predictions de.tsv --csv de.csv\n"
        "\n",
    .files =
        "  CHECKPOINT  what xlm_tune wrote, OUTPUT/best for example\n",
};

static struct {
    char **test, **overrides;
    char *language, *predictions, *csv;
    gint64 threads;
} given;

static const GOptionEntry options[] = {
    {"test", 't', 0, G_OPTION_ARG_FILENAME_ARRAY, &given.test, "file with labels; may be repeated, and all count together",
     "FILE"},
    {"language", 'l', 0, G_OPTION_ARG_STRING, &given.language,
     "language of the files, as the model calls it (default: that of training)",
     "LANG"},
    {"predictions", 'p', 0, G_OPTION_ARG_FILENAME, &given.predictions, "write token<tab>gold<tab>predicted to this file",
     "OUT.tsv"},
    {"csv", 0, 0, G_OPTION_ARG_FILENAME, &given.csv, "write the tables to this file too", "FILE"},
    {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &given.overrides,
     "override an option of the task, as column=xpos (see xlm_tune --help-job)", "KEY=VALUE"},
    {"threads", 0, 0, G_OPTION_ARG_INT64, &given.threads,
     "threads of each rank (default: the node's cores divided among its ranks)", "N"},
    {.long_name = NULL}};

static const xlm_program_group option_groups[XLM_PROGRAM_GROUPS] = {{"Options", options}};

typedef struct work {
    xlm_loaded_model *loaded;
    const xlm_task *task;
    xlm_loss self;
    xlm_host *host; /* of the task */
    xlm_tokenizer *tokenizer;
    int language; /* id; -1: none in particular */
    xlm_task_source *sources;
    void *text;
    xlm_examples *examples;
} work;

static bool read_options(int *argc, char ***argv, GError **error)
{
    if (!xlm_program_parse(&program, option_groups, argc, argv, error) ||
        xlm_program_argument(&program, *argc, *argv, "checkpoint", error) == NULL)
        return false;
    if (given.test == NULL)
        return xlm_error_set(error, EX_USAGE, "say what to score the model on: --test FILE");
    if (given.threads < 0)
        return xlm_error_set(error, EX_USAGE, "--threads=%" G_GINT64_FORMAT ": at least 1", given.threads);
    return true;
}

/* The task of a checkpoint, its labels and options. */
static bool open_task(work *w, const char *path, GError **error)
{
    const xlm_model_task *task = w->loaded->task;
    if (task == NULL)
        return xlm_error_set(error, EX_DATAERR, "%s: is not fine-tuned; xlm_tune makes a model that can be scored of it", path);
    if ((w->task = xlm_task_find(task->name, error)) == NULL) {
        g_prefix_error(error, "%s: ", path);
        (*error)->code = EX_DATAERR; /* it is the file that says so, not a job */
        return false;
    }
    void *state = xlm_task_state_read(w->task, path, task->options, given.overrides, error);
    if (state == NULL)
        return false;
    ((xlm_task_state *)state)->labels = task->labels;
    ((xlm_task_state *)state)->classes = g_strv_length(task->labels);
    w->self = (xlm_loss){.cls = &w->task->loss, .name = w->task->loss.name, .state = state};
    return true;
}

/* What the tables call the language that was taken. */
static const char *language_name(const work *w)
{
    return w->language >= 0 ? xlm_vocabulary_language_names(w->loaded->vocabulary)[w->language] : "none";
}

/* The one language of the model that a part of the file's name is the name of ("es" of es_gsd-ud-test.conllu.gz); -1: none, or
 * several are. */
static int language_of_file(const work *w, const char *path)
{
    char *base = g_path_get_basename(path), **parts = g_strsplit_set(base, "_-.", -1);
    int found = -1;
    bool one = true;
    for (char **part = parts; *part != NULL; part++) {
        const int language = xlm_vocabulary_find_language(w->loaded->vocabulary, *part);
        one = one && (language < 0 || found < 0 || found == language);
        found = language >= 0 ? language : found;
    }
    g_strfreev(parts);
    g_free(base);
    return one ? found : -1;
}

static void report_language(const work *w)
{
    const char *name = language_name(w);
    if (given.language != NULL) {
        xlm_log_info("language: %s", name);
        return;
    }
    if (w->language >= 0)
        xlm_log_info("language: %s, that of training; --language names another", name);
    else
        xlm_log_info("language: none in particular, as in training; --language names one");
    for (char *const *path = given.test; *path != NULL; path++) {
        const int other = language_of_file(w, *path);
        if (other >= 0 && other != w->language) {
            const char *hint = xlm_vocabulary_language_names(w->loaded->vocabulary)[other];
            xlm_log_warn("%s: its name speaks of %s, but it is scored as text of %s language; if that is wrong, say --language "
                         "%s", *path, hint, w->language >= 0 ? "the training's" : "no particular", hint);
        }
    }
}

static bool open_text(work *w, GError **error)
{
    const xlm_model_task *task = w->loaded->task;
    const char *language = given.language != NULL ? given.language : *task->language != '\0' ? task->language : NULL;
    const guint n = g_strv_length(given.test);
    if (!xlm_task_language(w->loaded->vocabulary, language, w->loaded->config.language_embeddings, "--language NAME", EX_USAGE,
                           &w->language, error) ||
        (w->tokenizer = xlm_tokenizer_new(w->loaded->vocabulary, error)) == NULL)
        return false;
    w->sources = g_new(xlm_task_source, n);
    for (guint i = 0; i < n; i++)
        w->sources[i] = (xlm_task_source){w->language, language, given.test[i]};
    if ((w->text = w->task->read(&w->self, w->sources, n, error)) == NULL)
        return false;
    const xlm_task_encoder encoder = {.tokenizer = w->tokenizer, .length = task->length};
    GString *description = g_string_new(NULL);
    w->examples = xlm_examples_new(xlm_vocabulary_specials(w->loaded->vocabulary));
    const bool good = w->task->encode(&w->self, w->text, &encoder, w->examples, description, error);
    if (good) {
        report_language(w);
        xlm_log_info("test: %s", description->str);
    }
    g_string_free(description, TRUE);
    return good;
}

static bool open_work(work *w, const char *path, GError **error)
{
    if ((w->loaded = xlm_model_file_read_header(path, error)) == NULL || !open_task(w, path, error) || !open_text(w, error))
        return false;
    const xlm_loss_stream stream = {.name = "test"};
    const xlm_objective_spec objective = {.name = w->self.name, .cls = w->self.cls, .state = w->self.state, .weight = 1};
    const xlm_host_setup setup = {.model = w->loaded->model, .about = {.model = &w->loaded->config,
                                            .specials = xlm_vocabulary_specials(w->loaded->vocabulary)},
                                  .streams = 1, .stream = &stream, .objectives = 1, .objective = &objective};
    w->host = xlm_host_open(&setup, w->loaded->parameters, error);
    return w->host != NULL && xlm_model_file_read_values(path, w->loaded, error);
}

static void close_work(work *w)
{
    xlm_host_close(w->host);
    xlm_examples_free(w->examples);
    if (w->text != NULL)
        w->task->read_free(w->text);
    g_free(w->sources);
    xlm_tokenizer_free(w->tokenizer);
    if (w->self.state != NULL)
        xlm_options_free(w->task->loss.options, w->self.state);
    g_free(w->self.state);
    xlm_model_file_free(w->loaded);
}

/* ---- results ---- */

/* The table of a few classes; that of many is in the csv. */
static void print_confusion(const xlm_task_confusion *c)
{
    enum { MOST = 20 };
    const int64_t classes = c->names != NULL ? g_strv_length(c->names) : 0;
    if (classes == 0 || classes > MOST)
        return;
    printf("\n%-15s", "gold, predicted");
    for (int64_t p = 0; p < classes; p++)
        printf(" %9s", c->names[p]);
    for (int64_t g = 0; g < classes; g++) {
        printf("\n%-15s", c->names[g]);
        for (int64_t p = 0; p < classes; p++)
            printf(" %9" G_GINT64_FORMAT, c->counts[g * classes + p]);
    }
    putchar('\n');
}

static void print(const work *w, const xlm_task_scores *scores, double loss)
{
    const char *kind = NULL;
    for (guint i = 0; i < scores->rows->len; i++) {
        const xlm_task_row *r = &g_array_index(scores->rows, xlm_task_row, i);
        if (g_strcmp0(kind, r->kind) != 0)
            printf("%s%-15s %9s %9s %9s %9s %9s\n", kind != NULL ? "\n" : "", r->kind, "precision", "recall", "F1", "support",
                   "predicted");
        kind = r->kind;
        printf("%-15s %8.2f%% %8.2f%% %8.2f%% %9" G_GINT64_FORMAT " %9" G_GINT64_FORMAT "\n", r->name,
               100 * xlm_task_precision(r), 100 * xlm_task_recall(r), 100 * xlm_task_f1(r), r->gold, r->predicted);
    }
    print_confusion(&scores->confusion);
    putchar('\n');
    for (guint i = 0; i < scores->measures->len; i++) {
        const xlm_measure *m = &g_array_index(scores->measures, xlm_measure, i);
        printf("%-15s %8.2f%%\n", m->name, 100 * m->value);
    }
    printf("%-15s %9.4f\n%-15s %9s\n", "loss", loss, "language", language_name(w));
}

/* A name in a field of its own. */
static void append_name(GString *text, const char *name)
{
    if (strpbrk(name, ",\"") == NULL) {
        g_string_append(text, name);
        return;
    }
    g_string_append_c(text, '"');
    for (; *name != '\0'; name++) {
        if (*name == '"')
            g_string_append_c(text, '"');
        g_string_append_c(text, *name);
    }
    g_string_append_c(text, '"');
}

/* Rows `confusion,GOLD,,,,,PREDICTED,COUNT`. */
static void append_confusion(GString *text, const xlm_task_confusion *c)
{
    const int64_t classes = c->names != NULL ? g_strv_length(c->names) : 0;
    for (int64_t g = 0; g < classes; g++)
        for (int64_t p = 0; p < classes; p++) {
            g_string_append(text, "confusion,");
            append_name(text, c->names[g]);
            g_string_append(text, ",,,,,");
            append_name(text, c->names[p]);
            g_string_append_printf(text, ",%" G_GINT64_FORMAT "\n", c->counts[g * classes + p]);
        }
}

static bool write_csv(const work *w, const xlm_task_scores *scores, const xlm_measure *loss, GError **error)
{
    GString *text = g_string_new("kind,name,precision,recall,f1,support,predicted,value\n");
    for (guint i = 0; i < scores->rows->len; i++) {
        const xlm_task_row *r = &g_array_index(scores->rows, xlm_task_row, i);
        g_string_append_printf(text, "%s,", r->kind);
        append_name(text, r->name);
        g_string_append_printf(text, ",%.6f,%.6f,%.6f,%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",\n", xlm_task_precision(r),
                               xlm_task_recall(r), xlm_task_f1(r), r->gold, r->predicted);
    }
    append_confusion(text, &scores->confusion);
    for (guint i = 0; i < scores->measures->len; i++) {
        const xlm_measure *m = &g_array_index(scores->measures, xlm_measure, i);
        g_string_append_printf(text, "measure,%s,,,,%" G_GINT64_FORMAT ",,%.6f\n", m->name, m->terms, m->value);
    }
    g_string_append_printf(text, "measure,loss,,,,%" G_GINT64_FORMAT ",,%.6f\nlanguage,", loss->terms, loss->value);
    append_name(text, language_name(w));
    g_string_append(text, ",,,,,,\n");
    return xlm_fields_write(given.csv, text, error);
}

/* By rank 0. */
static bool write_results(const work *w, const double *predictions, const xlm_measure *loss, GError **error)
{
    xlm_task_scores *scores = xlm_task_scores_new();
    w->task->score(&w->self, w->text, predictions, scores);
    print(w, scores, loss->value);
    bool good = xlm_program_flush(error);
    if (good && given.csv != NULL)
        good = write_csv(w, scores, loss, error);
    if (good && given.predictions != NULL) {
        GString *text = g_string_new(NULL);
        w->task->print(&w->self, w->text, predictions, text);
        good = xlm_fields_write(given.predictions, text, error);
    }
    xlm_task_scores_free(scores);
    return good;
}

static bool evaluate(const xlm_comm *comm, work *w, GError **error)
{
    xlm_hardware hardware;
    xlm_hardware_open(&hardware, (int)given.threads, comm->local_ranks);
    const int64_t n = xlm_examples_predictions(w->examples, xlm_examples_count(w->examples));
    double *predictions = g_new(double, n * w->task->width(&w->self));
    xlm_tape *tape = xlm_tape_new(w->loaded->parameters);
    const xlm_predictor predictor = {.comm = comm, .host = w->host, .tape = tape, .task = w->task,
                                     .self = &w->self, .step = w->loaded->step};
    xlm_measure loss;
    bool good = xlm_predict(&predictor, w->examples, predictions, &loss, error);
    if (good) {
        if (comm->rank == 0)
            write_results(w, predictions, &loss, error);
        good = xlm_comm_agree(comm, error);
    }
    xlm_tape_free(tape);
    g_free(predictions);
    return good;
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    work w = {0};
    const bool good = read_options(&argc, &argv, &error);
    xlm_comm comm;
    xlm_comm_open(&comm, program.name, &argc, &argv);
    if (good)
        open_work(&w, argv[1], &error);
    if (xlm_comm_agree(&comm, &error))
        evaluate(&comm, &w, &error);
    close_work(&w);
    g_strfreev(given.test);
    g_strfreev(given.overrides);
    g_free(given.language);
    g_free(given.predictions);
    g_free(given.csv);
    return xlm_comm_close(&comm, error);
}
